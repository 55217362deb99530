"""From finished micro-batches to samples."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model import Batch, Plan, Topology
from penstock.spark.microbatch.attribution import OperatorWork
from penstock.spark.microbatch.batches import QUANTILES, MicroBatch, samples

CHAIN = Topology.chain("a", "b")
SMALL, LARGE = Plan({"a": 1, "b": 1}), Plan({"a": 4, "b": 4})


def batch(began: float, ended: float, plan: Plan = SMALL, *, records: int = 100, warm_up: bool = False) -> MicroBatch:
    """Half of its time goes to `a`, a quarter to `b`, the rest to what a batch costs besides."""
    seconds = ended - began
    work = {
        "a": OperatorWork(plan["a"] * seconds / 2, seconds / 2, records, records),
        "b": OperatorWork(plan["b"] * seconds / 4, seconds / 4, records, None),
    }
    created = tuple(began - 1 + q for q in QUANTILES)  # evenly within the second before it began
    return MicroBatch(
        began, ended, plan, records, warm_up, created=created, mean_created=began - 0.5, work=work
    )  # fmt: skip


def test_batches_under_one_plan_are_one_sample() -> None:
    (sample,) = samples(CHAIN, [batch(1, 2), batch(2, 3)], since=1.0, input_rate=100.0, backlog=7)
    assert (sample.t, sample.seconds, sample.throughput, sample.backlog) == (1.0, 2.0, 100.0, 7)
    assert (sample.operators["a"].records_in, sample.operators["b"].records_out) == (200, None)


def test_a_change_begins_a_new_sample_and_the_first_batches_warm_up() -> None:
    ran = [batch(1, 2), batch(2, 3, LARGE, warm_up=True), batch(3, 4, LARGE)]
    made = samples(CHAIN, ran, since=1.0, input_rate=None, backlog=None)
    assert [(s.t, s.end, s.operators["a"].parallelism, s.warm_up) for s in made] == [
        (1.0, 2.0, 1, False),
        (2.0, 3.0, 4, True),
        (3.0, 4.0, 4, False),
    ]


def test_each_operator_shows_its_own_time_and_a_batch_shows_that_of_all() -> None:
    """Of two seconds one was spent in a batch: 0.5 on a, 0.25 on b, 0.25 on neither."""
    (sample,) = samples(CHAIN, [batch(1, 2)], since=0.0, input_rate=50.0, backlog=0)
    assert {name: operator.useful_seconds for name, operator in sample.operators.items()} == {"a": 0.5, "b": 0.25}
    assert sample.batches == (Batch(100, 1.0, 0.75, 0.75),)


def test_instances_share_the_useful_time_of_a_batch() -> None:
    (sample,) = samples(CHAIN, [batch(1, 2, LARGE)], since=1.0, input_rate=None, backlog=None)
    assert sample.batches == (Batch(100, 1.0, useful_seconds=4 * 0.75, stage_seconds=0.75),)


def test_a_batch_takes_from_its_trigger_to_its_commit() -> None:
    (sample,) = samples(CHAIN, [replace(batch(1, 2), trigger_seconds=1.5)], 1.0, None, None)
    assert [each.seconds for each in sample.batches or ()] == [1.5]


def test_the_batches_of_a_job_that_warms_up_show_nothing_about_others() -> None:
    (sample,) = samples(CHAIN, [batch(1, 2, warm_up=True)], since=1.0, input_rate=None, backlog=None)
    assert sample.batches == ()


def test_the_executors_are_those_that_the_cluster_reports() -> None:
    (sample,) = samples(CHAIN, [batch(1, 2)], since=1.0, input_rate=None, backlog=None, executors=3)
    assert sample.executors == 3


def test_records_are_as_late_as_they_are_old_when_their_batch_ends() -> None:
    (sample,) = samples(CHAIN, [batch(10, 12)], since=10.0, input_rate=None, backlog=None)
    assert sample.event_latency_ms is not None
    assert sample.event_latency_ms.mean == pytest.approx(2_500)
    assert sample.event_latency_ms.p50 == pytest.approx(2_500)
    assert sample.event_latency_ms.p95 == pytest.approx(2_950)
    assert sample.event_latency_ms.p99 == pytest.approx(2_990)
    assert sample.processing_latency_ms is not None
    assert sample.processing_latency_ms.p50 == pytest.approx(2_000)


def test_batches_that_were_not_measured_count_all_the_same() -> None:
    unseen = MicroBatch(2, 3, SMALL, records=300)
    (sample,) = samples(CHAIN, [batch(1, 2), unseen], since=1.0, input_rate=None, backlog=None)
    assert sample.throughput == 200.0
    assert sample.operators["a"].records_in == 400
    assert sample.operators["a"].useful_seconds == 4 * 0.5
    assert len(sample.batches or ()) == 1


def test_what_was_not_measured_is_none() -> None:
    (sample,) = samples(CHAIN, [MicroBatch(2, 3, SMALL, records=300)], since=1.0, input_rate=None, backlog=None)
    assert sample.operators["a"].useful_seconds is None
    assert sample.operators["a"].records_in is None
    assert sample.event_latency_ms is None
    assert sample.batches == ()


@given(st.lists(st.tuples(st.floats(0.1, 5.0), st.integers(1, 1000), st.booleans()), min_size=1, max_size=20))
def test_no_record_and_no_second_is_lost(pieces: list[tuple[float, int, bool]]) -> None:
    ran, at = [], 100.0
    for seconds, records, large in pieces:
        ran.append(batch(at, at + seconds, LARGE if large else SMALL, records=records))
        at += seconds
    made = samples(CHAIN, ran, since=99.0, input_rate=None, backlog=None)
    assert sum(s.seconds for s in made) == pytest.approx(at - 99.0)
    assert sum((s.throughput or 0) * s.seconds for s in made) == pytest.approx(sum(p[1] for p in pieces))
