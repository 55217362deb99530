"""Which stages belong to which operator."""

from __future__ import annotations

from penstock.spark.measure.stages import Stage
from penstock.spark.microbatch.attribution import Link, attribute

READ = Stage(2, 0.5, 100, 100)


def stage(useful_seconds: float, tasks: int = 2, records_in: int = 100, records_out: int = 100) -> Stage:
    return Stage(tasks, useful_seconds, records_in, records_out)


def test_each_operator_of_a_chain_has_its_stage() -> None:
    work = attribute([Link("a"), Link("b")], [[READ, stage(1.0, records_out=90), stage(4.0, 4, 90, 0)]])
    assert (work["a"].useful_seconds, work["a"].records_out) == (1.0, 90)
    assert (work["b"].useful_seconds, work["b"].stage_seconds, work["b"].records_in) == (4.0, 1.0, 90)
    assert work["b"].records_out is None  # what a sink took is not in the stages


def test_a_shuffle_inside_an_operator_is_its_own() -> None:
    work = attribute([Link("a", exchanges=1), Link("b")], [[READ, stage(1.0), stage(2.0, records_out=7), stage(4.0)]])
    assert (work["a"].useful_seconds, work["a"].records_out) == (3.0, 7)
    assert work["b"].useful_seconds == 4.0


def test_counting_and_further_sinks_are_the_last_operators_work() -> None:
    jobs = [[READ, stage(1.0), stage(0.25, 1)], [stage(0.5)]]
    work = attribute([Link("a")], jobs, counted=90, trailing=1)
    assert (work["a"].useful_seconds, work["a"].records_out) == (1.75, 90)


def test_an_operator_keyed_as_the_one_before_may_share_its_stage() -> None:
    work = attribute([Link("a"), Link("b", may_fuse=True), Link("c")], [[READ, stage(1.0), stage(4.0)]])
    assert work["a"].useful_seconds == 1.0
    assert (work["b"].useful_seconds, work["b"].records_in) == (None, None)
    assert work["c"].useful_seconds == 4.0


def test_an_operator_that_might_have_shared_but_did_not_has_its_own() -> None:
    work = attribute([Link("a"), Link("b", may_fuse=True)], [[READ, stage(1.0), stage(4.0)]])
    assert work["b"].useful_seconds == 4.0


def test_stages_beyond_the_expected_are_not_lost() -> None:
    work = attribute([Link("a")], [[READ, stage(1.0), stage(2.0), stage(3.0)]])
    assert work["a"].useful_seconds == 6.0
