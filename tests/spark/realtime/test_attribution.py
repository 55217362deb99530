"""Which work is whose in a batch in real time."""

from __future__ import annotations

import pytest

from penstock.spark.chains import Chain, Exchange, Partitioning
from penstock.spark.measure.operator_meter import Inside
from penstock.spark.measure.stages import Stage
from penstock.spark.realtime.attribution import attribute
from penstock.spark.realtime.segment_batch import OperatorBatch


def chain(*operators: str, exchange: Exchange = Exchange.SHUFFLE) -> Chain:
    return Chain(operators, 1, exchange, (), Partitioning(1))


def stage(cpu_seconds: float) -> Stage:
    return Stage(1, 5.0, 0, 0, cpu_seconds=cpu_seconds)


def counted(chains: list[Chain], stages: list[Stage], inside: dict[str, Inside]) -> dict[str, OperatorBatch]:
    """Of a batch of a hundred records, which were counted wherever they were timed."""
    return attribute(chains, stages, 100, inside, inside)


FUSED = chain("a", "b", exchange=Exchange.NONE)


def cpu(batch: dict[str, OperatorBatch]) -> list[float | None]:
    return [each.cpu_seconds for each in batch.values()]


def test_each_operator_has_the_stage_of_its_own_behind_the_one_that_reads() -> None:
    batch = counted([chain("a"), chain("b")], [stage(9.0), stage(1.0), stage(2.0)], {"b": Inside(40, 10, 0.5)})
    assert batch == {"a": OperatorBatch(100, None, 1.0), "b": OperatorBatch(40, 0.05, 2.0)}


def test_the_first_chain_may_read_itself() -> None:
    batch = counted([chain("a", exchange=Exchange.NONE), chain("b")], [stage(1.0), stage(2.0)], {})
    assert cpu(batch) == [1.0, 2.0]


def test_operators_that_share_a_stage_share_its_time_as_measured_inside() -> None:
    """Ten of a hundred records were timed in each, but only half of them come to the second."""
    inside = {"a": Inside(50, 10, 0.03), "b": Inside(50, 10, 0.02)}
    batch = counted([FUSED], [stage(0.8)], inside)
    assert cpu(batch) == pytest.approx([0.6, 0.2])
    assert [each.records_out for each in batch.values()] == [50, 50]


def test_what_an_operator_waits_is_its_own() -> None:
    """The stage used the CPU for a tenth of the time that the second one took."""
    batch = counted([FUSED], [stage(0.2)], {"a": Inside(100, 10, 0.01), "b": Inside(100, 10, 0.19)})
    assert cpu(batch) == pytest.approx([0.1, 1.9])


def test_an_operator_of_which_no_record_was_timed_takes_what_the_others_leave() -> None:
    batch = counted([FUSED], [stage(1.0)], {"a": Inside(100, 10, 0.02), "b": Inside(0, 0, 0.0)})
    assert cpu(batch) == pytest.approx([0.2, 0.8])


def test_as_many_leave_an_operator_that_is_only_timed_as_come_to_it() -> None:
    inside = {"a": Inside(50, 10, 0.03), "b": Inside(0, 10, 0.02)}
    batch = attribute([FUSED], [stage(0.8)], 100, inside, ("a",))
    assert cpu(batch) == pytest.approx([0.6, 0.2])
    assert [each.records_out for each in batch.values()] == [50, 50]


@pytest.mark.parametrize("stages", [[], [stage(1.0), stage(2.0)]])
def test_stages_that_nobody_can_tell_apart_say_nothing(stages: list[Stage]) -> None:
    batch = counted([FUSED], stages, {"a": Inside(100, 10, 0.02), "b": Inside(100, 10, 0.01)})
    assert cpu(batch) == [None, None]
    assert [each.seconds_per_record for each in batch.values()] == pytest.approx([0.002, 0.001])


@pytest.mark.parametrize("chains", [[FUSED], [chain("a", exchange=Exchange.NONE), chain("b")]])
def test_cpu_time_says_nothing_of_a_metered_operator_none_of_whose_records_was_timed(chains: list[Chain]) -> None:
    """It may have waited, which CPU time does not show."""
    batch = counted(chains, [stage(1.0)] * len(chains), {"a": Inside(100, 10, 0.02), "b": Inside(90, 0, 0.0)})
    assert batch["b"] == OperatorBatch(90, None, None)
