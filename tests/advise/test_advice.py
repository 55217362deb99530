"""What policies would have made of a recorded load: the twin, the outcomes, the sentence."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from advise_logs import LOGS, named
from made_up_log import MadeUpJob, daily
from penstock.advise.advice import LogAdvice, QueryAdvice, ranked
from penstock.advise.ask import Ask, advise_log, interval_of
from penstock.advise.log_files import EventLog
from penstock.advise.page import page
from penstock.advise.query_history import QueryHistory
from penstock.advise.words import headline
from penstock.model import Slo

SLO = Slo(event_latency="30 s")
QUICK = Ask(SLO, (("ds2 utilisation=0.8", "ds2", {"utilisation": 0.8}), ("threshold", "threshold", {})))
LARGE = MadeUpJob(rate=daily(8000), seconds=6 * 3600, executors=8, cores=4)


def advised(job: MadeUpJob, folder: Path, ask: Ask = QUICK) -> QueryAdvice:
    (advice,) = advise_log(ask, EventLog(job.write(folder / "log"))).queries
    return advice


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> QueryAdvice:
    return advised(LARGE, tmp_path_factory.mktemp("large"))


def test_the_twin_is_as_late_as_the_job_was(large: QueryAdvice) -> None:
    assert large.twin is not None
    assert large.ran.latency_ms is not None
    assert large.twin.latency_ms == pytest.approx(large.ran.latency_ms, rel=0.02)
    assert large.twin.latency_p95_ms == pytest.approx(large.ran.latency_p95_ms, rel=0.1)
    assert large.twin.core_hours == pytest.approx(large.ran.core_hours, rel=0.02)


def test_an_idle_job_needs_fewer_executors(large: QueryAdvice) -> None:
    assert large.ran.core_hours == pytest.approx(32 * large.hours, rel=1e-3)
    assert large.recommended is not None
    name, outcome = large.recommended
    assert name == "ds2 utilisation=0.8"
    assert 0.5 < large.saving(outcome) < 0.95
    assert outcome.violation_ratio < 0.01
    assert large.cores_saved == pytest.approx((large.ran.core_hours - outcome.core_hours) / large.hours)
    # The load never needs less than its records alone take: 1 ms of a core each.
    assert outcome.core_hours > large.rate * 0.001 * large.hours


def test_nobody_is_cheaper_than_who_knows_the_load(large: QueryAdvice) -> None:
    assert large.oracle is not None
    assert large.policies is not None
    kept = [outcome for outcome in large.policies.values() if outcome.violation_ratio <= 0.005]
    assert kept
    assert all(outcome.core_hours > 0.97 * large.oracle.core_hours for outcome in kept)


def test_plans_are_whole_executors(large: QueryAdvice) -> None:
    assert large.unit == "executor"
    assert large.unit_cores == 4
    assert large.policies is not None
    assert all(cores % 4 == 0 for outcome in large.policies.values() for cores in outcome.cores.values)


def test_the_sentence_says_what_ran_and_what_would_have_done(large: QueryAdvice) -> None:
    assert large.recommended is not None
    units, saved = large.units(large.recommended[1]), 100 * large.saving(large.recommended[1])
    assert headline(large) == (
        f"clicks ran 8 executors for 6 h; with a target of 30 s, {units:.1f} on average would have done: {saved:.0f} % "
        "fewer core-hours; 0.0 % of the time outside"
    )


def test_a_job_that_falls_behind_is_told_to_grow(tmp_path: Path) -> None:
    """4,000 records/s keep 4 cores busy at the least, and it has 2."""
    advice = advised(MadeUpJob(rate=lambda t: 4000.0, seconds=3600, executors=1, cores=2), tmp_path)
    assert advice.ran.violation_ratio > 0.5
    assert "it needs" in headline(advice)
    assert "more core-hours" in headline(advice)


def test_a_job_of_the_right_size_is_told_so(large: QueryAdvice) -> None:
    assert large.recommended is not None
    name, outcome = large.recommended
    right = replace(large, ran=outcome, policies={name: replace(outcome, core_hours=1.2 * outcome.core_hours)})
    assert "would have saved nothing" in headline(right)


def test_more_executors_than_tasks_are_of_no_use(tmp_path: Path) -> None:
    """Four tasks on 32 slots: one executor of four has room for all of them, whatever the load."""
    job = MadeUpJob(rate=lambda t: 2000.0, seconds=6 * 3600, executors=8, cores=4, tasks=4)
    advice = advised(job, tmp_path)
    assert advice.recommended is not None
    assert advice.units(advice.recommended[1]) == pytest.approx(1, abs=0.3)  # it begins with eight
    assert advice.recommended[1].violation_ratio < 0.01


def test_what_a_log_cannot_show_is_said(tmp_path: Path) -> None:
    short = advised(MadeUpJob(trigger=2.0), tmp_path)
    assert any("tells of 10 min only" in note for note in short.notes)
    assert any("too much alike" in note for note in short.notes)
    late = advised(MadeUpJob(trigger=60.0, seconds=7200), tmp_path)
    assert any("begins every 60 s" in note for note in late.notes)
    (local,) = advise_log(QUICK, EventLog(named("4.3", "narrow"))).queries
    assert local.unit == "slot"
    assert "in which no policy gets to act" in headline(local)
    assert any("nominal" in note for note in local.notes)


def test_what_cannot_be_simulated_is_told_as_it_ran(tmp_path: Path) -> None:
    log = EventLog(MadeUpJob().write(tmp_path / "log"))
    scan = json.dumps({"Scope": '{"id":"spark_plan_2","name":"RealTimeStreamScan"}'}, separators=(",", ":"))
    text = log.path.read_text(encoding="utf-8").replace(
        '"Stage Name":"start"', f'"Stage Name":"start","RDD Info":[{scan}]'
    )
    real_time = tmp_path / "real time"
    real_time.write_text(text, encoding="utf-8")
    (advice,) = advise_log(QUICK, EventLog(real_time)).queries
    assert "runs in real-time mode" in headline(advice)
    without_stages = [
        line for line in log.path.read_text(encoding="utf-8").splitlines() if "SparkListenerStage" not in line
    ]
    log.path.write_text("\n".join(without_stages) + "\n", encoding="utf-8")
    (advice,) = advise_log(QUICK, log).queries
    assert not advice.policies
    assert "has no stages in the log" in headline(advice)
    assert advice.rate == pytest.approx(1000, rel=0.05)


def test_a_log_without_a_streaming_query_is_a_failure(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text('{"Event":"SparkListenerLogStart","Spark Version":"4.3.0"}\n', encoding="utf-8")
    answer = advise_log(QUICK, EventLog(log))
    assert answer.failure is not None
    assert "streaming query" in str(answer.failure)


def test_jobs_are_ranked_by_cores_not_by_the_length_of_their_logs(large: QueryAdvice) -> None:
    longer = replace(large, query="longer", seconds=10 * large.seconds)  # as many core-hours in ten times the time
    none = replace(large, query="none", policies={})
    assert [query.query for query in ranked([none, longer, large])] == ["clicks", "longer", "none"]


@pytest.mark.parametrize(("hours", "seconds"), [(0.5, 10), (6, 30), (24, 90), (7 * 24, 300), (60 * 24, 1290)])
def test_a_long_log_has_longer_intervals(hours: float, seconds: float) -> None:
    query = SimpleNamespace(seconds=3600 * hours, trigger_seconds=1.0)
    assert interval_of(cast("QueryHistory", query)) == seconds


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
def test_every_real_log_is_advised_on(log: Path) -> None:
    answer: LogAdvice = advise_log(replace(QUICK, oracle=False), EventLog(log))
    assert answer.failure is None
    for query in answer.queries:
        assert query.query in headline(query)
        json.dumps(query.to_json(), allow_nan=False)
    assert page(answer.queries, ()).count("<section") == len(answer.queries)


def test_progress_goes_forward_to_the_end(tmp_path: Path) -> None:
    seen: list[float] = []
    advise_log(QUICK, EventLog(MadeUpJob(seconds=7200).write(tmp_path / "log")), seen.append)
    assert seen == sorted(seen)
    assert seen[0] >= 0
    assert 0.6 < seen[-1] <= 1


def test_names_cannot_break_the_page(large: QueryAdvice) -> None:
    text = page([replace(large, query="<script>alert(1)</script>", application="a & b")], ())
    assert "<script>" not in text
    assert "a &amp; b" in text
