"""Which work is whose: from stages, and from what was measured inside operators that share one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from penstock.spark.chains import Chain, Exchange, Partitioning
from penstock.spark.measure.operator_meter import Inside
from penstock.spark.measure.stages import Stage, TaskWork
from penstock.spark.microbatch.attribution import Metering, OperatorWork, Timing, attribute

READ = Stage(2, 0.5, 100, 100)


def stage(useful_seconds: float, tasks: int = 2, records_in: int = 100, records_out: int = 100) -> Stage:
    return Stage(tasks, useful_seconds, records_in, records_out)


def chain(*operators: str, exchange: Exchange = Exchange.SHUFFLE, key: tuple[str, ...] = ()) -> Chain:
    return Chain(operators, 2, exchange, key, Partitioning(2))


def metering(records_out: int, timed: int, seconds: float, timing: Timing = Timing.SOME) -> Metering:
    return Metering(Inside(records_out, timed, seconds), timing)


def work_of(
    chains: Sequence[Chain], jobs: Sequence[Sequence[Stage]], records: int = 100, **known: object
) -> Mapping[str, OperatorWork]:
    work = attribute(chains, jobs, records, **known)  # type: ignore[arg-type]
    assert work is not None
    return work


def test_each_chain_has_its_stage() -> None:
    work = work_of([chain("a"), chain("b")], [[READ, stage(1.0, records_out=90), stage(4.0, 4, 90, 0)]])
    assert (work["a"].useful_seconds, work["a"].records_out) == (1.0, 90)
    assert (work["b"].useful_seconds, work["b"].stage_seconds, work["b"].records_in) == (4.0, 1.0, 90)
    assert work["b"].records_out is None  # what a sink took is not in the stages


def test_a_chain_without_a_shuffle_reads_the_input_itself() -> None:
    work = work_of([chain("a", exchange=Exchange.NONE), chain("b")], [[stage(1.0, records_in=1), stage(4.0)]])
    assert (work["a"].useful_seconds, work["a"].records_in) == (1.0, 100)  # a kept frame counts blocks of records
    assert work["b"].useful_seconds == 4.0


def test_instances_are_told_apart_where_their_tasks_were_looked_at() -> None:
    """The example of AuTraScale+ against AuTraScale: 100 records in 1 s and 100 in 4 s."""
    uneven = Stage(3, 5.0, 200, 200, by_task=(TaskWork(100, 1.0), TaskWork(100, 4.0), TaskWork(0, 0.0)))
    work = work_of([chain("a")], [[READ, uneven]], records=200)
    assert work["a"].instance_rates == (100.0, 25.0)  # the third had nothing to do
    assert work["a"].lasting(10.0, 3).instance_rates == (50.0, 12.5)  # by its own clock it took twice as long
    assert work_of([chain("a")], [[READ, stage(5.0)]])["a"].instance_rates is None


def test_operators_of_a_chain_share_the_time_of_each_task() -> None:
    """Of 5 s of the stage, a quarter is a's and three quarters are b's, which gets half of the records."""
    inside = {"a": metering(100, 10, 0.01), "b": metering(100, 10, 0.06)}
    uneven = Stage(2, 5.0, 200, 100, by_task=(TaskWork(100, 1.0), TaskWork(100, 4.0)))
    work = work_of([chain("a", "b")], [[READ, uneven]], records=200, metered=inside)
    assert work["a"].instance_rates == pytest.approx((400.0, 100.0))
    assert work["b"].instance_rates == pytest.approx((50 / 0.75, 12.5 / 0.75))


def test_tasks_in_which_spark_counts_no_records_say_nothing_of_instances() -> None:
    """Of a kept frame Spark counts blocks of records."""
    kept = Stage(2, 5.0, 2, 100, by_task=(TaskWork(1, 1.0), TaskWork(1, 4.0)))
    assert work_of([chain("a", exchange=Exchange.NONE)], [[kept]])["a"].instance_rates is None


def test_operators_that_share_a_stage_share_its_time_as_measured_inside() -> None:
    """a: 100 records of 2 ms; b: 40 of 5 ms, the waits of all of them added up; all in all 0.4 of 1.2 seconds."""
    inside = {"a": metering(40, 10, 0.02), "b": metering(30, 3, 0.2, Timing.WAITS)}
    work = work_of([chain("a", "b", exchange=Exchange.COALESCE)], [[stage(1.2)]], metered=inside)
    assert work["a"].useful_seconds == pytest.approx(0.6)
    assert work["b"].useful_seconds == pytest.approx(0.6)
    assert work["b"].stage_seconds == pytest.approx(0.3)
    assert [(each.records_in, each.records_out) for each in work.values()] == [(100, 40), (40, 100)]


def test_what_left_the_last_of_a_chain_is_what_was_measured_if_no_stage_says_it() -> None:
    inside = {"a": metering(40, 10, 0.02), "b": metering(30, 10, 0.02)}
    work = work_of([chain("a", "b")], [[READ, stage(1.0, records_out=0)]], metered=inside)
    assert work["b"].records_out == 30


def test_an_operator_that_shuffles_inside_takes_what_the_others_leave() -> None:
    inside = {"a": metering(100, 10, 0.02), "b": metering(5, 0, 0.0, Timing.NONE)}
    jobs = [[stage(1.0), stage(3.0, records_out=5), stage(0.5)]]
    made = [chain("a", "b", exchange=Exchange.NONE), chain("c")]
    work = work_of(made, jobs, metered=inside, exchanges={"b": 1})
    assert work["a"].useful_seconds == pytest.approx(0.2)
    assert work["b"].useful_seconds == pytest.approx(3.8)
    assert (work["b"].records_in, work["b"].records_out) == (100, 5)
    assert work["c"].useful_seconds == 0.5


def test_a_batch_in_which_no_chosen_record_left_an_operator_tells_nothing() -> None:
    inside = {"a": metering(40, 10, 0.02), "b": metering(30, 0, 0.0)}
    assert attribute([chain("a", "b")], [[READ, stage(1.0)]], 100, metered=inside) is None


def test_an_operator_that_lets_nothing_pass_is_measured_by_what_the_others_leave() -> None:
    inside = {"a": metering(100, 10, 0.02), "b": metering(0, 0, 0.0), "c": metering(0, 0, 0.0)}
    work = work_of([chain("a", "b", "c")], [[READ, stage(1.0)]], metered=inside)
    assert [work[name].useful_seconds for name in "abc"] == pytest.approx([0.2, 0.8, 0.0])


def test_a_shuffle_inside_an_operator_is_its_own() -> None:
    jobs = [[READ, stage(1.0), stage(2.0, records_out=7), stage(4.0)]]
    work = work_of([chain("a"), chain("b")], jobs, exchanges={"a": 1})
    assert (work["a"].useful_seconds, work["a"].records_out) == (3.0, 7)
    assert work["b"].useful_seconds == 4.0


def test_counting_and_further_sinks_are_the_last_operators_work() -> None:
    work = work_of([chain("a")], [[READ, stage(1.0), stage(0.25, 1)], [stage(0.5)]], counted=90)
    assert (work["a"].useful_seconds, work["a"].records_out) == (1.75, 90)


def test_spark_may_leave_out_a_shuffle_behind_one_inside_an_operator() -> None:
    made = [chain("a"), chain("b", key=("user",)), chain("c")]
    work = work_of(made, [[READ, stage(1.0), stage(2.0), stage(4.0)]], exchanges={"a": 1})
    assert work["a"].useful_seconds == 3.0
    assert (work["b"].useful_seconds, work["b"].records_in) == (None, None)
    assert work["c"].useful_seconds == 4.0


def test_too_few_stages_tell_nothing() -> None:
    assert attribute([chain("a"), chain("b")], [[READ, stage(1.0)]], 100) is None
    assert attribute([chain("a")], [], 100) is None


@pytest.mark.parametrize(("timing", "seconds"), [(Timing.SOME, 6.0), (Timing.WAITS, 4.0), (Timing.NONE, None)])
def test_what_was_measured_inside_one_batch_holds_for_one_with_twice_the_records(
    timing: Timing, seconds: float | None
) -> None:
    """A hundred records were timed, and took two seconds; three hundred came in."""
    metering = Metering(Inside(50, 100 if timing is not Timing.NONE else 0, 2.0), timing).scaled(2.0)
    assert metering.inside.records_out == 100
    assert metering.seconds(300) == seconds
