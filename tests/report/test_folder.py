"""A report folder has every file in full, or what went wrong in one sentence and nothing half-written."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.model import PenstockError, Plan
from penstock.report.folder import ReportFolder
from penstock.report.journal import Journal
from penstock.report.story import Rival, Story


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def write_all(folder: ReportFolder, story: Story) -> None:
    with folder.decisions() as file:
        journal = Journal(file)
        for change in story.recorder.changes:
            journal(change)
    folder.write(story)


def test_a_report_has_the_result_the_decisions_a_picture_and_a_page(tmp_path: Path, story: Story) -> None:
    folder = tmp_path / "out" / "run"
    write_all(ReportFolder(folder), story)

    assert names(folder) == {"result.json", "decisions.jsonl", "picture.png", "report.md"}
    assert json.loads((folder / "result.json").read_text()) == story.result.to_json()
    assert (folder / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_each_line_of_the_journal_says_what_was_in_force_and_what_was_decided(tmp_path: Path, story: Story) -> None:
    write_all(ReportFolder(tmp_path), story)

    first, second = [json.loads(line) for line in (tmp_path / "decisions.jsonl").read_text().splitlines()]
    assert (first["t"], first["before"], first["parallelism"]) == (
        240.0,
        {"split": 1, "count": 2},
        {"split": 3, "count": 2},
    )
    assert first["changed"] is True
    assert first["guards"] == [{"name": "max_step", "code": "max_step", "text": "one step at a time"}]
    assert second["parallelism"] == {"split": 1, "count": 2}


def test_a_second_report_replaces_the_first(tmp_path: Path, story: Story) -> None:
    write_all(ReportFolder(tmp_path), story)
    write_all(ReportFolder(tmp_path), replace(story, result=replace(story.result, seed=8)))

    assert json.loads((tmp_path / "result.json").read_text())["seed"] == 8
    assert len(names(tmp_path)) == 4


def test_the_page_shows_figures_changes_and_the_rival(tmp_path: Path, story: Story) -> None:
    rival = Rival(Plan({"split": 3, "count": 4}), replace(story.result, policy="static", core_seconds=4200.0))
    write_all(ReportFolder(tmp_path), replace(story, rival=rival, stopped_early=True))

    page = (tmp_path / "report.md").read_text()
    assert page.startswith("# ds2 on clicks, trace surge\n")
    assert "| slots held, nominal | 2,280 slot-seconds | 4,200 slot-seconds |" in page
    assert "| 0:04:00 | split 1 → 3 | scale_up: split \\| count are busy | max_step: one step at a time |" in page
    assert "stopped before the trace ended" in page
    assert "fixed plan (split 3, count 4)" in page
    assert json.loads((tmp_path / "result.json").read_text())["fixed_plan"]["core_seconds"] == 4200.0


def test_a_folder_below_a_file_is_refused_before_anything_is_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(PenstockError, match=r"file/deep/report cannot be created: .*file is not a folder"):
        ReportFolder(tmp_path / "file" / "deep" / "report")


def test_asking_for_a_folder_makes_none_yet(tmp_path: Path) -> None:
    ReportFolder(tmp_path / "later")

    assert names(tmp_path) == set()


def test_a_run_that_fails_leaves_no_journal(tmp_path: Path) -> None:
    folder = ReportFolder(tmp_path)

    def fail() -> None:
        with folder.decisions() as file:
            file.write("half a line")
            raise RuntimeError("the run failed")

    with pytest.raises(RuntimeError):
        fail()

    assert names(tmp_path) == set()


def test_a_file_that_cannot_take_its_name_is_one_sentence_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "decisions.jsonl").mkdir()
    folder = ReportFolder(tmp_path)

    with pytest.raises(PenstockError, match=r"decisions\.jsonl cannot be written: Is a directory"):  # noqa: SIM117
        with folder.decisions() as file:
            file.write("{}\n")

    assert names(tmp_path) == {"decisions.jsonl"}
