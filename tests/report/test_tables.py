"""What a person sees at the end of a run, and during the demo."""

from __future__ import annotations

from dataclasses import replace

from rich.console import Console, RenderableType

from penstock.model import Plan, Slo
from penstock.report.live import LiveView
from penstock.report.recorder import Recorder
from penstock.report.story import Rival, Story
from penstock.report.tables import changes_table, figures_table, reasons_line


def text(shown: RenderableType, width: int = 120) -> str:
    console = Console(width=width, color_system=None)
    with console.capture() as capture:
        console.print(shown)
    return capture.get()


def lines_with(words: str, shown: str) -> list[str]:
    return [" ".join(line.split()) for line in shown.splitlines() if words in line]


def test_figures_have_units_and_stand_beside_those_of_the_fixed_plan(story: Story) -> None:
    rival = Rival(Plan({"split": 3, "count": 4}), replace(story.result, core_seconds=4200.0, violation_ratio=0.0))
    shown = text(figures_table(replace(story, rival=rival)))

    assert "ds2 on clicks, trace surge: 10 min, seed 7" in shown
    assert lines_with("held", shown) == ["slots held, nominal 2,280 slot-seconds 4,200 slot-seconds"]
    assert lines_with("outside", shown) == ["time outside the targets 10.0 % 0.0 %"]
    assert lines_with("event latency", shown)[0] == ("event latency 100 ms mean, 9 s p99 100 ms mean, 9 s p99")
    assert "Targets: keep up, event latency (mean) below 500 ms" in shown


def test_a_live_run_says_whether_its_cores_were_paid_for_and_shows_nothing_that_nobody_counted(story: Story) -> None:
    paid = text(figures_table(replace(story, live=True, result=replace(story.result, unit="core"))))
    held = text(figures_table(replace(story, live=True)))

    assert lines_with("2,280", paid) == ["cores, by Spark's executor events 2,280 core-seconds"]
    assert lines_with("2,280", held) == ["slots held, nominal 2,280 slot-seconds"]
    for shown in (paid, held):
        assert not lines_with("saved", shown)
        assert not lines_with("records processed", shown)


def test_the_table_fits_a_narrow_terminal_without_breaking_a_figure(story: Story) -> None:
    rival = Rival(Plan({"split": 3}), story.result)

    assert lines_with("time to decide", text(figures_table(replace(story, rival=rival)), width=80)) == [
        "time to decide 0.1 ms p50, 0.4 ms p99 0.1 ms p50, 0.4 ms p99"
    ]


def test_changes_show_only_what_changed_and_who_stepped_in(story: Story) -> None:
    shown = text(changes_table(story.recorder))

    assert lines_with("0:04:00", shown) == ["0:04:00 split 1 → 3 scale_up: split | count are busy"]
    assert lines_with("max_step", shown) == ["max_step: one step at a time"] * 2
    assert "count 2 →" not in shown


def test_a_long_list_of_changes_is_cut_in_the_middle_and_says_by_how_many(story: Story) -> None:
    many = Recorder(story.slo, most_changes=10)
    for _ in range(20):
        for change in story.recorder.changes:
            many(change)

    shown = text(changes_table(many, most=4))

    assert lines_with("more", shown) == ["… 36 more"]
    assert len(lines_with(" → ", shown)) == 4


def test_every_reason_is_counted(story: Story) -> None:
    assert reasons_line(story.recorder).startswith("Decisions: steady 8×, ")
    assert reasons_line(story.recorder).endswith("Guards that stepped in: max_step 2×.")
    assert reasons_line(Recorder(Slo())) == "Decisions: none."


def test_the_live_view_fits_a_small_terminal_and_shows_the_state_of_the_job(story: Story) -> None:
    view = LiveView("ds2 steers clicks", story.recorder, 1200.0, Plan({"split": 5, "count": 5}))

    shown = text(view.render(), width=80)

    assert len(shown.splitlines()) <= 24
    assert "0:10:00 of 0:20:00 simulated" in shown
    assert lines_with("event latency ", shown)[0].endswith("100 ms (target 500 ms) │")
    assert "3 instances; a fixed plan for the peak has 10" in shown
    assert lines_with("0:08:00", shown)[0].startswith("│ 0:08:00 split 3 → 1")


def test_the_live_view_waits_for_the_first_measurement() -> None:
    view = LiveView("ds2", Recorder(Slo()), 60.0, Plan({"split": 1}))

    assert "waiting for the first measurement" in text(view.render())
