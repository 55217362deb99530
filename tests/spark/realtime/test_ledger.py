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


def test_two_batches_that_end_at_one_moment_are_one_window(growth: Growth) -> None:
    """Those of two queries, while one hands over to the other."""
    ledger = Ledger(wiring("count", ("in",), "out"), {"in": 0}, started=0.0)
    windows = Windows([ledger], growth, batch_seconds=5, started=0)
    ledger.divided({"in": 300})
    ledger.add([batch(0, 0, 5, 300, 120, consumed=300)], 0)
    ledger.add([batch(0, 2, 5 + 2e-7, 200, 80, consumed=500)], 1)
    assert [sample.seconds for sample in windows.read(5.1, Plan({"count": 2}))] == [5]


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


def test_a_long_batch_has_several_windows_of_which_the_last_has_its_latency() -> None:
    """100 records a second come, and 200 from 40 s on; each becomes 0.4, without delay."""
    growth, plan = Growth(), Plan({"count": 2})
    for t in range(71):
        came = 100 * t + 100 * max(0, t - 40)
        growth.add(float(t), {"in": came, "out": round(0.4 * came)})
    ledger = Ledger(wiring("count", ("in",), "out"), {"in": 0}, started=0.0)
    windows = Windows([ledger], growth, batch_seconds=30, started=0)
    assert windows.read(20.0, plan) == [], "what a record costs is not known yet"
    ledger.add([batch(0, 0, 30, 3000, 1200, consumed=3000, inside=0.002)])
    assert [sample.seconds for sample in windows.read(30.0, plan)] == [30]
    assert windows.read(39.0, plan) == []
    [second] = windows.read(40.0, plan)
    [third] = windows.read(50.0, plan)
    assert windows.read(59.0, plan) == [], "the batch is about to end"
    ledger.add([batch(1, 30, 60, 5000, 2000, consumed=8000, inside=0.002)])
    [fourth] = windows.read(60.0, plan)
    for sample, rate in ((second, 100), (third, 200), (fourth, 200)):
        assert (sample.seconds, sample.input_rate, sample.backlog) == (10, rate, 0)
        assert sample.throughput == pytest.approx(rate)
        assert sample.operators["count"].useful_seconds == pytest.approx(10 * rate * 0.002)
    assert [sample.event_latency_ms for sample in (second, third, fourth)] == [None, None, Latency(30.0)]


def surge(out: int) -> Growth:
    """10 records a second come and go; from 10 s on 100 come, and as many as `out` go."""
    growth = Growth()
    for tick in range(41):
        t = tick / 2
        surging = max(0.0, t - 10)
        growth.add(t, {"in": round(10 * t + surging * 90), "out": round(10 * t + surging * (out - 10))})
    return growth


def two_batches() -> list[SegmentBatch]:
    return [
        batch(0, 0, 5, 50, 50, consumed=50, inside=0.4),
        batch(1, 5, 10, 50, 50, consumed=100, inside=0.04),
    ]


def test_a_surge_that_the_job_cannot_take_is_seen_before_its_batch_is_late() -> None:
    growth, ledger, plan = surge(out=25), Ledger(wiring("count", ("in",), "out"), {"in": 0}, 0.0), Plan({"count": 1})
    windows = Windows([ledger], growth, batch_seconds=5, started=0)
    ledger.add(two_batches())
    assert len(windows.read(10.1, plan)) == 2
    assert windows.read(12.4, plan) == []  # half a batch has not passed
    [early] = windows.read(13.0, plan)
    assert (early.seconds, early.input_rate, early.throughput, early.backlog) == (3, 100, 25, 225)
    assert early.operators["count"].useful_seconds == pytest.approx(75 * 0.04)
    assert early.event_latency_ms is None


def test_the_last_moments_of_a_surge_that_came_in_the_middle_of_a_window_are_one_of_their_own() -> None:
    """What came on average before and after it is less than what comes now."""
    growth, ledger, plan = surge(out=25), Ledger(wiring("count", ("in",), "out"), {"in": 0}, 0.0), Plan({"count": 1})
    windows = Windows([ledger], growth, batch_seconds=5, started=0)
    ledger.add([two_batches()[0], batch(1, 5, 9, 40, 40, consumed=90, inside=0.04)])
    assert len(windows.read(9.1, plan)) == 2
    before, since = windows.read(12.0, plan)
    assert (before.t, before.seconds, before.input_rate) == (9, 2, 55)
    assert (since.seconds, since.input_rate, since.throughput, since.backlog) == (1, 100, 25, 150)
    assert [(each.seconds, each.input_rate) for each in windows.read(15.0, plan)] == [(3, 100)]


def test_a_surge_that_the_job_takes_is_seen_when_its_batch_ends() -> None:
    growth, ledger, plan = surge(out=100), Ledger(wiring("count", ("in",), "out"), {"in": 0}, 0.0), Plan({"count": 1})
    windows = Windows([ledger], growth, batch_seconds=5, started=0)
    ledger.add(two_batches())
    assert len(windows.read(10.1, plan)) == 2
    assert windows.read(15.0, plan) == []


def test_what_the_first_batch_cost_is_not_what_records_cost() -> None:
    """Records that came before the job wait for it; Spark compiled in the only batch that there was."""
    growth, ledger = surge(out=25), Ledger(wiring("count", ("in",), "out"), {"in": 0}, 0.0)
    windows = Windows([ledger], growth, batch_seconds=5, started=0)
    ledger.add([batch(0, 0, 10, 50, 50, consumed=50, inside=0.4)])
    assert len(windows.read(10.1, Plan({"count": 1}))) == 1
    assert windows.read(13.0, Plan({"count": 1})) == []


@pytest.mark.parametrize("out", [0, 1])
def test_output_that_is_too_rare_to_show_what_waits_ends_no_window(out: int) -> None:
    """Nothing has been written since the last batch, and nothing need have been."""
    growth, ledger, plan = Growth(), Ledger(wiring("count", ("in",), "out"), {"in": 0}, 0.0), Plan({"count": 1})
    for t in range(21):
        growth.add(float(t), {"in": 100 * t, "out": out})
    windows = Windows([ledger], growth, batch_seconds=5, started=0)
    ledger.add([batch(0, 0, 5, 500, 0, consumed=500), batch(1, 5, 10, 500, out, consumed=1000)])
    assert len(windows.read(10.1, plan)) == 2
    assert windows.read(14.0, plan) == []


def test_a_change_that_has_just_been_made_ends_no_window_early() -> None:
    growth, ledger, plan = surge(out=25), Ledger(wiring("count", ("in",), "out"), {"in": 0}, 0.0), Plan({"count": 1})
    windows = Windows([ledger], growth, batch_seconds=5, started=0)
    ledger.add(two_batches())
    windows.settle_until(17.0)
    assert len(windows.read(10.1, plan)) == 2
    assert windows.read(15.0, plan) == []


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
    duplicates.count(first, {"between": 102}, {"between": 2})
    assert duplicates.at_sinks == 4
    duplicates.count(second, {"out": 10 + 204 + 3}, {"out": 3})
    assert duplicates.at_sinks == 7


def test_records_of_two_segments_in_one_topic_are_no_duplicates_of_each_other() -> None:
    """Each has finished a hundred; the first had written two more when both were stopped, and the second three."""
    both = [Ledger(wiring(name, ("in",), "out"), {}, started=0.0) for name in ("left", "right")]
    duplicates = Duplicates(both, {"in": 0, "out": 0})
    for ledger in both:
        ledger.add([batch(0, 0, 5, 100, 100, consumed=100, name=ledger.wiring.segment.name)])
    duplicates.count(both[0], {"out": 202}, {"out": 2})
    duplicates.count(both[1], {"out": 205}, {"out": 5})
    assert (duplicates.at_sinks, duplicates.newest_at_sinks) == (5, 5)


def test_while_two_queries_run_what_happens_is_read_from_the_topics_and_then_the_new_one_tells_all() -> None:
    """100 a second come and go, one for one; cut at 1,000, which comes at 10. The batch of the old query ends at 12."""
    growth, ledger = Growth(), Ledger(wiring("count", ("in",), "out"), {"in": 0}, started=0.0)
    for t in range(31):
        growth.add(float(t), {"in": 100 * t, "out": 100 * t})
    ledger.add([batch(0, 0, 6, 600, 600, consumed=600)])
    ledger.divided({"in": 1000})
    ledger.add([batch(0, 7, 11, 100, 100, consumed=1100)], 1)
    assert (ledger.records_in, ledger.waiting(11.0, growth)) == (700, 0)
    assert ledger.flow(7, 11, growth).records_in == pytest.approx(400)  # the batch alone shows 100
    ledger.add([batch(1, 6, 12, 400, 400, consumed=1000)])
    ledger.handed_over(12.0)
    assert (ledger.records_in, ledger.waiting(12.0, growth)) == (1100, 0)
    ledger.add([batch(1, 11, 15, 400, 400, consumed=1500)])  # began while there were two: all of it is shared
    assert ledger.batches[-1].shared
    assert (ledger.records_in, ledger.waiting(15.0, growth), ledger.waiting(20.0, growth)) == (1500, 0, 0)
    ledger.add([batch(2, 15, 19, 400, 400, consumed=1900)])
    assert not ledger.batches[-1].shared
    assert ledger.flow(15, 19, growth).records_in == 400


def test_a_batch_of_the_old_query_that_was_never_reported_is_known_from_the_cut() -> None:
    ledger = Ledger(wiring("count", ("in",), "out"), {"in": 0}, started=0.0)
    ledger.add([batch(0, 0, 6, 600, 300, consumed=600)])
    ledger.divided({"in": 1000})
    ledger.handed_over(12.0)
    assert (ledger.records_in, ledger.records_out) == (1000, 500)


def test_a_hand_over_that_was_stopped_half_way_is_undone_as_far_as_it_comes_again() -> None:
    """The old query had come to 800 of 1,000 and the new one to 1,100: what it did comes again."""
    growth, ledger = Growth(), Ledger(wiring("count", ("in",), "out"), {"in": 0}, started=0.0)
    for t in range(31):
        growth.add(float(t), {"in": 100 * t, "out": 100 * t})
    ledger.add([batch(0, 0, 8, 800, 800, consumed=800)])
    ledger.divided({"in": 1000})
    ledger.add([batch(0, 7, 11, 100, 100, consumed=1100)], 1)
    ledger.stopped({"in": 800}, 11.0, growth)
    assert (ledger.records_in, ledger.records_out) == (800, 800)
    ledger.add([batch(0, 12, 15, 700, 700, consumed=1500)])
    assert (ledger.records_in, ledger.waiting(15.0, growth)) == (1500, 0)
    assert not ledger.batches[-1].shared


def test_three_queries_of_one_segment_are_added_up_until_one_is_left() -> None:
    """100 a second come and go; cut at 1,000 and again at 1,200. The oldest ends at 14 and the second at 15."""
    growth, ledger = Growth(), Ledger(wiring("count", ("in",), "out"), {"in": 0}, started=0.0)
    for t in range(31):
        growth.add(float(t), {"in": 100 * t, "out": 100 * t})
    ledger.add([batch(0, 0, 6, 600, 600, consumed=600)])
    ledger.divided({"in": 1000})
    ledger.divided({"in": 1200})
    ledger.add([batch(0, 10, 13, 200, 200, consumed=1200)], 1)
    ledger.add([batch(0, 12, 14, 200, 200, consumed=1400)], 2)
    assert (ledger.records_in, ledger.waiting(14.0, growth)) == (1000, 0)
    ledger.handed_over(14.0)
    assert (ledger.records_in, ledger.waiting(14.0, growth)) == (1400, 0)
    ledger.handed_over(15.0)
    ledger.add([batch(1, 14, 18, 400, 400, consumed=1800)])
    assert ledger.batches[-1].shared
    assert (ledger.records_in, ledger.waiting(20.0, growth)) == (1800, 0)


def test_three_queries_that_were_stopped_are_undone_as_far_as_they_come_again() -> None:
    """The oldest had come to 800 of 1,000, the second to 1,150 of 1,200 and the newest to 1,300."""
    growth, ledger = Growth(), Ledger(wiring("count", ("in",), "out"), {"in": 0}, started=0.0)
    for t in range(31):
        growth.add(float(t), {"in": 100 * t, "out": 100 * t})
    ledger.add([batch(0, 0, 8, 800, 800, consumed=800)])
    ledger.divided({"in": 1000})
    ledger.divided({"in": 1200})
    ledger.add([batch(0, 10, 11.5, 150, 150, consumed=1150)], 1)
    ledger.add([batch(0, 12, 13, 100, 100, consumed=1300)], 2)
    ledger.stopped({"in": 800}, 13.0, growth)
    assert (ledger.records_in, ledger.records_out) == (800, 800)
    ledger.divided({"in": 1500})
    ledger.stopped({"in": 1000}, 15.0, growth)
    assert (ledger.records_in, ledger.records_out) == (1000, 1000)


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


def test_the_late_records_of_an_old_query_are_in_the_latency_of_the_window(growth: Growth) -> None:
    """While a segment is handed over, batches of two queries end in one window."""
    ledger = Ledger(wiring("count", ("in",), "out"), {"in": 0}, started=0.0)
    windows = Windows([ledger], growth, batch_seconds=5, started=0)
    old = replace(batch(3, 0, 5.0, 300, 120, consumed=300), event=Latency(9_000.0, 9_000.0, 9_900.0, 9_990.0))
    first, second = (replace(batch(n, 5 * n, 5 * n + 4.9, 200, 80, 500 + 200 * n), event=Latency(30.0)) for n in (0, 1))
    ledger.add([first, old, second])
    before, since = windows.read(10.0, Plan({"count": 2}))
    assert before.event_latency_ms == Latency(30.0)
    assert since.event_latency_ms == Latency((300 * 9_000.0 + 200 * 30.0) / 500, 9_000.0, 9_900.0, 9_990.0)
