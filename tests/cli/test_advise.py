"""`penstock advise`: what it prints, what it writes, and one sentence for each log that is broken."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from advise_logs import named
from command_line import Command
from made_up_log import MadeUpJob, daily

QUICK = ("-p", "ds2 utilisation=0.8", "--no-oracle")
JOB = MadeUpJob(rate=daily(4000), seconds=3600)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return JOB.write(tmp_path / "app-1")


def test_it_begins_with_one_sentence(penstock: Command, log: Path) -> None:
    done = penstock("advise", log, *QUICK)
    assert done.code == 0
    first = " ".join(done.out.split("\n\n")[0].split())
    assert re.fullmatch(
        r"clicks ran 4 executors for (59|60) min.*; with a target of 30 s, [\d.]+ on average would have done: \d+ % "
        r"fewer core-hours; 0\.0 % of the time outside\.",
        first,
    )
    assert "as it ran" in done.out
    assert "ds2 utilisation=0.8" in done.out


def test_the_json_has_the_fields_that_programs_rely_on(penstock: Command, log: Path) -> None:
    done = penstock("advise", log, "--slo-event", "20 s", "-p", "static", "-p", "ds2", "--json")
    assert done.code == 0
    assert list(done.json) == ["queries", "failures"]
    (query,) = done.json["queries"]
    assert query["application"] == "app-1"
    assert query["query"] == "clicks"
    assert query["seconds"] == pytest.approx(3600, abs=20)
    assert query["core_hours"] == pytest.approx(8, rel=0.02)
    assert list(query["policies"]) == ["static", "ds2"]
    for outcome in (*query["policies"].values(), query["oracle"]):
        assert {"core_hours", "violation_ratio", "changes"} <= outcome.keys()
    assert query["target_ms"] == 20_000
    assert done.json["failures"] == []


def test_policies_are_the_usual_ones_unless_others_are_named(penstock: Command, log: Path) -> None:
    done = penstock("advise", log, "--no-oracle", "--json")
    (query,) = done.json["queries"]
    assert list(query["policies"]) == ["predictive", "ds2 utilisation=0.8", "threshold", "spark_dynamic_allocation"]


def test_a_broken_log_is_a_sentence_and_the_others_are_read(penstock: Command, log: Path) -> None:
    broken = log.with_name("app-2")
    lines = log.read_text(encoding="utf-8").splitlines()
    broken.write_text("\n".join([*lines[:10], "garbage", *lines[11:]]), encoding="utf-8")
    done = penstock("advise", log.parent, *QUICK, "--json")
    assert done.code == 3
    assert [query["application"] for query in done.json["queries"]] == ["app-1"]
    (failure,) = done.json["failures"]
    assert (failure["file"], failure["line"]) == (str(broken), 11)
    assert "not JSON" in failure["why"]
    assert done.err == f"penstock: {broken}, line 11: {failure['why']}\n"


def test_several_jobs_are_ranked_by_what_they_would_save(penstock: Command, log: Path) -> None:
    MadeUpJob(rate=daily(4000), seconds=3600, executors=16, application="app-2", name="wasteful").write(
        log.with_name("b")
    )
    done = penstock("advise", log.parent, *QUICK)
    assert re.match(r"2 queries ran [\d.]+ core-hours; [\d.]+ would have done: \d+ % fewer\.", done.out)
    ranking = done.out[: done.out.index("ran 16 executors")]
    assert ranking.index("wasteful") < ranking.index("app-1")


def test_a_page_is_written(penstock: Command, log: Path) -> None:
    out = log.with_name("pages") / "advice.html"
    done = penstock("advise", log, *QUICK, "--out", out)
    text = out.read_text(encoding="utf-8")
    assert f"Page: {out}" in done.out
    assert text.startswith("<!doctype html>")
    assert text.count("<svg") == 3
    assert not re.findall(r'(?:src|href)="(?!#)', text)  # it needs nothing else


def test_what_is_learnt_is_kept(penstock: Command, log: Path) -> None:
    done = penstock("advise", log, *QUICK, "--store", f"sqlite:///{log.parent}/learnt.db")
    assert "Kept for predictive: clicks" in done.out
    assert (log.parent / "learnt.db").exists()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["nothing"], "there is no event log nothing"),
        ([".", "--slo-event", "30"], "slo: event_latency must be a time with its unit, such as \"500 ms\", not '30'"),
        ([".", "--out", "page.txt"], "--out must be an HTML file, such as advice.html, not page.txt"),
        ([".", "-p", "ds3"], "ds3"),
        (["."], "the folder . has no event logs in it"),
    ],
)
def test_what_is_wrong_is_one_sentence(penstock: Command, arguments: list[str], complaint: str) -> None:
    assert complaint in penstock("advise", *arguments).complaint


def test_on_spark_it_says_the_same(penstock: Command, log: Path) -> None:
    shutil.copy(named("4.3", "two"), log.parent)
    (log.parent / "broken").write_text("garbage\n", encoding="utf-8")
    here = penstock("advise", log.parent, *QUICK, "--json")
    there = penstock("advise", log.parent, *QUICK, "--json", "--master", "local[2]")
    assert there.json == here.json
    assert there.code == here.code == 3
