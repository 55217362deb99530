"""Which work is whose: from stages, and from what was measured inside operators that share one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.spark.chains import Chain, Exchange, Partitioning
from penstock.spark.measure.operator_meter import Inside
from penstock.spark.measure.stages import Stage
from penstock.spark.microbatch.attribution import Metering, OperatorWork, Timing, attribute, split

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


names = st.sampled_from("abcde")
seconds = st.floats(0.0, 1e3)


@given(seconds, st.dictionaries(names, st.none() | seconds, min_size=1), st.dictionaries(names, st.integers(0, 1000)))
def test_the_time_of_a_stage_is_split_without_a_rest(
    stage_seconds: float, known: dict[str, float | None], records: dict[str, int]
) -> None:
    shares = split(stage_seconds, known, records)
    assert shares.keys() == known.keys()
    assert all(share >= 0 for share in shares.values())
    assert sum(shares.values()) == pytest.approx(stage_seconds, abs=1e-9)


@given(seconds, st.dictionaries(names, st.floats(0.01, 1e3), min_size=2))
def test_it_is_split_as_measured_inside(stage_seconds: float, known: dict[str, float]) -> None:
    shares = split(stage_seconds, known, {})
    for name, inside in known.items():
        assert shares[name] * sum(known.values()) == pytest.approx(inside * stage_seconds)


def test_nothing_shared_by_nobody_in_particular_is_split_evenly() -> None:
    """No record came, but the tasks took their time."""
    assert split(1.0, {"a": 0.0, "b": 0.0}, {"a": 0, "b": 0}) == {"a": 0.5, "b": 0.5}
