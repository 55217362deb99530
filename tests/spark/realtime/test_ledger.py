"""What is known of a segment, from finished batches and from the growth of topics. Numbers only: no Spark runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.model import Latency, Plan
from penstock.spark.io.kafka_topic import Kafka
from penstock.spark.job_note import Place
from penstock.spark.realtime.duplicates import Duplicates
from penstock.spark.realtime.ledger import Ledger
from penstock.spark.realtime.segment_batch import OperatorBatch, SegmentBatch
from penstock.spark.realtime.segment_query import Wiring
from penstock.spark.realtime.windows import Windows
from penstock.spark.segments import Segment
from penstock.spark.topics.growth import Growth

OUT = Kafka("out", "here:9092")


def wiring(name: str, reads: tuple[str, ...], writes: str, after: tuple[str, ...] = (), ends: bool = True) -> Wiring:
    return Wiring(
        segment=Segment((name,), after, () if ends else ("more",), (OUT,) if ends else ()),
        place=Place((name,), reads, name, None if ends else writes), source=Kafka(reads[0], "here:9092"), schema=None,
        internal_sink=None if ends else Kafka(writes, "here:9092"), latency_at=name, metered=(name,),
        checkpoint=f"there/{name}",
    )  # fmt: skip


def batch(
    number: int, start: float, end: float, records: int, out: int, consumed: int, name: str = "count",
    inside: float | None = None, cpu: float | None = None, topic: str = "in",
) -> SegmentBatch:  # fmt: skip
    return SegmentBatch(
        number, False, start, end, records, {topic: consumed - records}, {topic: consumed},
        {name: OperatorBatch(out, inside, cpu)}, Latency(20.0), Latency(30.0),
    )  # fmt: skip


@pytest.fixture
def growth() -> Growth:
    """100 records a second come in, 40 a second go out."""
    growth = Growth()
    for t in range(31):
        growth.add(float(t), {"in": 100 * t, "out": 40 * t})
    return growth


def test_a_finished_batch_shows_all(growth: Growth) -> None:
    ledger = Ledger(wiring("count", ("in",), "out"), {"in": 0}, started=0.0)
    windows = Windows([ledger], growth, batch_seconds=5, started=0)
    ledger.add([batch(0, 0, 5, 500, 200, consumed=500, inside=0.002, cpu=0.4)])
    [sample] = windows.read(5.1, Plan({"count": 2}))
    assert (sample.t, sample.seconds, sample.input_rate, sample.throughput, sample.backlog) == (0, 5, 100, 100, 0)
    operator = sample.operators["count"]
    assert (operator.records_in, operator.records_out, operator.useful_seconds) == (500, 200, 1.0)
    assert sample.event_latency_ms == Latency(30.0)
    assert windows.read(6.0, Plan({"count": 2})) == []


def test_the_cpu_counts_where_moving_records_costs_more_than_the_operator_itself(growth: Growth) -> None:
    ledger = Ledger(wiring("count", ("in",), "out"), {"in": 0}, started=0.0)
    ledger.add([batch(0, 0, 5, 500, 200, consumed=500, inside=0.0001, cpu=0.4)])
    assert ledger.flow(0, 5, growth).operators["count"].useful_seconds == 0.4


def test_a_late_batch_is_measured_by_the_topics(growth: Growth) -> None:
    """40 a second come out of 100 that come in: 60 a second wait."""
    ledger = Ledger(wiring("count", ("in",), "out"), {"in": 0}, started=0.0)
    windows = Windows([ledger], growth, batch_seconds=5, started=0)
    assert windows.read(8.0, Plan({"count": 2})) == []
    [sample] = windows.read(10.0, Plan({"count": 2}))
    assert (sample.input_rate, sample.throughput, sample.backlog) == (100, 40, 600)
    assert sample.operators["count"].useful_seconds is None  # nobody has measured it
    assert sample.event_latency_ms is None


def test_a_late_batch_costs_what_the_last_one_did(growth: Growth) -> None:
    ledger = Ledger(wiring("count", ("in",), "out"), {"in": 0}, started=0.0)
    windows = Windows([ledger], growth, batch_seconds=5, started=0)
    ledger.add([batch(0, 0, 5, 400, 200, consumed=400, inside=0.002)])
    assert len(windows.read(5.1, Plan({"count": 2}))) == 1
    [late] = windows.read(15.0, Plan({"count": 2}))
    # Two records in make one out: 40 out a second are 80 in; 1500 came, 400 + 800 are done.
    assert (late.throughput, late.backlog) == (80, 300)
    assert late.operators["count"].useful_seconds == pytest.approx(800 * 0.002)


def test_what_comes_again_after_a_stop_is_work_and_gets_nobody_further() -> None:
    """50 a second come out, one for one; stopped at 15, in a batch that began at 5, it takes 10 s to be there again."""
    growth, ledger = Growth(), Ledger(wiring("count", ("in",), "out"), {"in": 0}, started=0.0)
    for t in range(41):
        growth.add(float(t), {"in": 100 * t, "out": 50 * t})
    ledger.add([batch(0, 0, 5, 250, 250, consumed=250, inside=0.002)])
    assert ledger.flow(5, 15, growth).records_in == 500
    ledger.stopped({"in": 250}, 15.0, growth)
    again, beyond = ledger.flow(15, 20, growth), ledger.flow(20, 30, growth)
    assert (again.records_in, again.operators["count"].records_in, again.waiting) == (0, 250, 2000 - 250 - 250)
    assert (beyond.records_in, beyond.operators["count"].records_in, beyond.waiting) == (250, 500, 3000 - 250 - 750)
    ledger.stopped({"in": 250}, 32.0, growth)  # it had come to 1100, and to 750 the time before
    assert [ledger.flow(t, t + 4, growth).records_in for t in (28, 32, 46)] == [200, 0, 0]
    assert ledger.flow(36, 40, growth).waiting == 4000 - 250 - 400


def test_what_waits_for_a_segment_waits_for_its_slowest_operator(growth: Growth) -> None:
    """Each instance of the last one takes 3 ms, of the middle one 4 ms, but of that there are two."""
    names, plan = ("read", "split", "count"), Plan({"read": 1, "split": 2, "count": 1})
    segment = Segment(names, (), (), (OUT,))
    ledger = Ledger(replace(wiring("count", ("in",), "out"), segment=segment), {"in": 0}, started=0.0)
    one = batch(0, 0, 5, 200, 200, consumed=200)
    spent = {
        name: OperatorBatch(200, seconds, None) for name, seconds in zip(names, (0.001, 0.004, 0.003), strict=True)
    }
    ledger.add([replace(one, operators=spent)])
    [sample] = Windows([ledger], growth, batch_seconds=5, started=0).read(5.1, plan)
    assert sample.backlog == 300
    assert {name: operator.queue for name, operator in sample.operators.items()} == {
        "read": 0,
        "split": 0,
        "count": 300,
    }


def test_what_waits_for_a_root_is_the_backlog_and_counted_once(growth: Growth) -> None:
    ledger = Ledger(wiring("count", ("in",), "out"), {"in": 0}, started=0.0)
    ledger.add([batch(0, 0, 5, 200, 200, consumed=200, inside=0.02)])
    [sample] = Windows([ledger], growth, batch_seconds=5, started=0).read(5.1, Plan({"count": 1}))
    assert (sample.backlog, sample.operators["count"].queue) == (300, 0)


def test_windows_that_began_before_a_change_was_over_are_warm_up(growth: Growth) -> None:
    ledger = Ledger(wiring("count", ("in",), "out"), {"in": 0}, started=0.0)
    windows = Windows([ledger], growth, batch_seconds=5, started=0)
    windows.settle_until(5.5)
    ledger.add([batch(n, 5 * n, 5 * n + 5, 500, 200, consumed=500 * n + 500) for n in range(3)])
    assert [sample.warm_up for sample in windows.read(15.1, Plan({"count": 2}))] == [True, True, False]


def test_duplicates_are_what_a_topic_holds_beyond_finished_batches() -> None:
    """Two written twice by the first segment become four, since the second makes two of each; and three of its own."""
    first = Ledger(wiring("read", ("in",), "between", ends=False), {}, started=0.0)
    second = Ledger(wiring("count", ("between",), "out", after=("read",)), {}, started=0.0)
    duplicates = Duplicates([first, second], {"in": 0, "between": 0, "out": 10})
    first.add([batch(0, 0, 5, 100, 100, consumed=100, name="read")])
    second.add([batch(0, 0, 5, 102, 204, consumed=102, topic="between")])
    duplicates.count(first, {"between": 102}, {"between": 2.0})
    assert duplicates.at_sinks == 4
    duplicates.count(second, {"out": 10 + 204 + 3}, {"out": 3.0})
    assert duplicates.at_sinks == 7


def test_records_that_a_producer_sent_after_a_stop_are_not_those_of_the_last_batch() -> None:
    """Five were still to be sent when the first stop was counted; the last batch had written two itself."""
    growth = Growth()
    for t, length in ((0, 0), (5, 100), (5.1, 100), (6, 205), (10, 205), (11, 207)):
        growth.add(t, {"out": length})
    ledger = Ledger(wiring("count", ("in",), "out"), {"in": 0}, started=0.0)
    duplicates = Duplicates([ledger], {"in": 0, "out": 0})
    ledger.add([batch(0, 0, 5, 100, 100, consumed=100)])
    duplicates.count(ledger, {"out": 100}, ledger.written(5.1, growth))
    ledger.stopped({"in": 100}, 5.1, growth)
    assert (duplicates.at_sinks, duplicates.newest_at_sinks) == (0, 0)
    ledger.add([batch(1, 5.5, 10, 100, 100, consumed=200)])
    duplicates.count(ledger, {"out": 207}, ledger.written(11, growth))
    assert (duplicates.at_sinks, duplicates.newest_at_sinks) == (7, 2)


def test_the_checkpoint_has_the_last_word_on_what_a_stopped_query_has_done() -> None:
    """Each record becomes two. A batch was reported and not committed; then one was committed and not reported."""
    ledger = Ledger(wiring("count", ("in",), "out"), {"in": 0}, started=0.0)
    ledger.add([batch(0, 0, 5, 100, 200, consumed=100), batch(1, 5, 10, 50, 100, consumed=150)])
    ledger.settle({"in": 100})
    assert (ledger.records_in, ledger.records_out) == (100, 200)
    ledger.settle({"in": 130})
    assert (ledger.records_in, ledger.records_out) == (130, 260)


def test_a_batch_whose_end_was_never_reported_is_seen_from_where_the_next_one_begins() -> None:
    ledger = Ledger(wiring("count", ("in",), "out"), {"in": 0}, started=0.0)
    ledger.add([batch(0, 0, 5, 100, 50, consumed=100), batch(2, 10, 15, 100, 50, consumed=300)])
    assert (ledger.records_in, ledger.records_out) == (300, 150)
