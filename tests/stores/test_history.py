"""The history of a database: charts are summed up, runs told apart, and stores of an earlier Penstock read."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from live_simulation import STEP_SECONDS, controller
from penstock.model import Cycle
from penstock.stores.history import History
from penstock.stores.sql import SqlStore


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'penstock.db'}"


def recorded(url: str, count: int, job: str = "clicks") -> list[Cycle]:
    store = SqlStore(url, job)
    steered = controller(store=store, name=job)
    cycles = [steered._run_once() for _ in range(count)]
    store.close()
    return cycles


def test_a_chart_has_every_window_or_sums_of_them(url: str) -> None:
    cycles = recorded(url, 80)
    history = History(url)
    span = history.span("clicks")
    assert span is not None
    assert (span.first, span.last, span.began, span.ended) == (1, 80, cycles[0].t, cycles[-1].t)
    assert span.simulated
    fine, coarse = history.chart(span, STEP_SECONDS), history.chart(span, 20 * STEP_SECONDS)
    samples = [cycle.samples[0] for cycle in cycles]
    assert fine["t"] == [cycle.t for cycle in cycles]
    assert fine["input_rate"] == pytest.approx([sample.job_input_rate for sample in samples])
    assert len(coarse["t"]) == 4
    assert max(coarse["backlog"]) == max(sample.backlog or 0 for sample in samples)  # the worst is not averaged away
    for name in ("measured_seconds", "missed_seconds", "slot_seconds", "held_seconds"):
        assert sum(filter(None, coarse[name])) == pytest.approx(sum(filter(None, fine[name])))
    held = sum(STEP_SECONDS * cycle.before.total for cycle in cycles[1:])
    assert sum(filter(None, fine["slot_seconds"])) == pytest.approx(held)


def test_what_is_new_is_what_is_added(url: str) -> None:
    recorded(url, 60)
    history = History(url)
    span = history.span("clicks")
    assert span is not None
    whole = history.chart(span, 7 * STEP_SECONDS)
    later = history.chart(span, 7 * STEP_SECONDS, since=whole["number"][4])
    assert {name: values[4:] for name, values in whole.items()} == later


def test_the_plans_in_force_are_those_of_the_cycles(url: str) -> None:
    cycles = recorded(url, 80)
    history = History(url)
    span = history.span("clicks")
    assert span is not None
    plans = history.plans(span)
    assert [plan["number"] for plan in plans if plan["changed"]] == [
        number for number, cycle in enumerate(cycles, 1) if cycle.changed
    ]
    assert plans[-1]["in_force"]["parallelism"] == dict(cycles[-1].decision.plan.parallelism)


def test_of_a_simulation_the_last_run_is_shown(url: str) -> None:
    recorded(url, 10)
    recorded(url, 4)
    span = History(url).span("clicks")
    assert span is not None
    assert (span.first, span.last, span.began) == (11, 14, STEP_SECONDS)


def test_decisions_come_newest_first_by_the_page(url: str) -> None:
    cycles = recorded(url, 80)
    history = History(url)
    span = history.span("clicks")
    assert span is not None
    assert [each.number for each in history.decisions(span, 3)] == [80, 79, 78]
    assert [each.number for each in history.decisions(span, 2, before=78)] == [77, 76]
    assert [each.number for each in history.decisions(span, 50, after=77)] == [80, 79, 78]
    changes = history.decisions(span, 100, changes=True)
    assert [each.cycle for each in changes] == [cycle for cycle in reversed(cycles) if cycle.changed]


def test_several_jobs_are_listed_the_newest_first(url: str) -> None:
    recorded(url, 5, "short")
    recorded(url, 9, "long")
    assert History(url).jobs() == ["long", "short"]
    assert History(url).span("other") is None


def test_a_store_of_an_earlier_penstock_is_read(url: str, tmp_path: Path) -> None:
    recorded(url, 40, "clicks")
    recorded(url, 10, "views")
    before = [History(url).chart(span, 60.0) for job in ("clicks", "views") if (span := History(url).span(job))]
    with sqlite3.connect(tmp_path / "penstock.db") as database:  # as version 1 was
        database.executescript(
            "DROP TABLE penstock_points; DROP TABLE penstock_jobs; UPDATE penstock_schema SET version = 1;"
        )
    database.close()
    history = History(url)
    after = [history.chart(span, 60.0) for job in ("clicks", "views") if (span := history.span(job))]
    for old, new in zip(before, after, strict=True):
        assert new.pop("missed_seconds") is not old.pop("missed_seconds")  # targets were not kept
        assert new == old
    assert history.description("clicks") is None
    recorded(url, 3, "clicks")  # and written on
    assert History(url).description("clicks") is not None


def test_a_store_without_the_column_of_executors_that_leave_gets_it(url: str, tmp_path: Path) -> None:
    recorded(url, 40, "clicks")
    with sqlite3.connect(tmp_path / "penstock.db") as database:  # as version 2 was
        database.executescript(
            "ALTER TABLE penstock_points DROP COLUMN leaving; UPDATE penstock_schema SET version = 2;"
        )
    database.close()
    history = History(url)
    span = history.span("clicks")
    assert span is not None
    assert history.chart(span, 60.0)["leaving"] == [None] * len(history.chart(span, 60.0)["t"])
    assert History(url).span("clicks") == span  # only once
