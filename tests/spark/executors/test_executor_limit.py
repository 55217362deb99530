"""Plans stay inside the executors that a job may have, and say how many they take."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import Slo
from penstock.guards._limits import inside
from penstock.model import Actuation, Decision, Execution, Observation, Operator, Plan, ReasonCode, Topology
from penstock.spark.executors.executor_limit import ExecutorLimit
from recorded_slots import SLOTS_EACH, RecordedSlots

OTHERS = 3
"""Slots for readers and shuffles."""

JOB = Topology((Operator("split", max=20), Operator("count", max=20)))


def limit(execution: Execution, most: int = 3, others: int = OTHERS) -> ExecutorLimit:
    return ExecutorLimit(
        RecordedSlots(most), lambda plan: (plan.total if execution is Execution.CONCURRENT else plan.widest) + others
    )


def vetted(plan: Plan, execution: Execution, topology: Topology = JOB, most: int = 3, others: int = OTHERS) -> Decision:
    now = Plan.smallest(topology)
    seen = Observation(t=0.0, topology=topology, slo=Slo(), plan=now, samples=(), execution=execution)
    return limit(execution, most, others).vet(Decision.move(now, plan, "it must be"), seen)


@pytest.mark.parametrize(("split", "executors"), [(1, 2), (4, 2), (5, 3), (8, 3)])
def test_a_plan_that_fits_gets_the_executors_that_it_needs(split: int, executors: int) -> None:
    plan = Plan({"split": split, "count": 1}, executors=1)
    decision = vetted(plan, Execution.CONCURRENT)
    assert decision.plan == Plan(plan.parallelism, executors)
    assert decision.verdicts == ()


def test_a_plan_that_needs_more_is_cut_and_that_is_said() -> None:
    decision = vetted(Plan({"split": 6, "count": 12}), Execution.CONCURRENT)
    assert decision.plan == Plan({"split": 3, "count": 6}, executors=3)
    [verdict] = decision.verdicts
    assert (verdict.guard, verdict.reason.code) == ("executors", ReasonCode.QUOTA)
    assert verdict.reason.text == (
        "the most executors (3) have 12 slots, of which readers and shuffles take 3: "
        "split 3 instead of 6, count 6 instead of 12"
    )


@pytest.mark.parametrize(("execution", "most"), [(Execution.CONCURRENT, 9), (Execution.SEQUENTIAL, 9)])
def test_it_says_how_many_slots_a_plan_may_take_beside_readers_and_shuffles(execution: Execution, most: int) -> None:
    seen = Observation(t=0.0, topology=JOB, slo=Slo(), plan=Plan.smallest(JOB), samples=(), execution=execution)
    assert limit(execution).most_slots(seen) == most
    assert not vetted(Plan({"split": most - 1, "count": 1}), execution).verdicts
    assert vetted(Plan({"split": most + 1, "count": most + 1}), execution).verdicts


def test_a_plan_that_is_cut_may_share_fewer_slots_than_the_one_that_was_asked() -> None:
    """As many of both take the slots of one: cut to 12 and 11 they would take 23."""
    most, asked = 12, Plan({"split": 16, "count": 16})
    shared = ExecutorLimit(
        RecordedSlots(3), lambda plan: plan["split"] + (plan["count"] != plan["split"]) * plan["count"]
    )
    now = Plan.smallest(JOB)
    seen = Observation(t=0.0, topology=JOB, slo=Slo(), plan=now, samples=(), execution=Execution.CONCURRENT)
    decision = shared.vet(Decision.move(now, asked, "it must be"), seen)
    assert shared.slots_needed(decision.plan) <= most
    assert decision.plan["split"] > 1


def test_a_plan_is_not_given_up_for_what_is_left_of_one_that_does_not_fit() -> None:
    """Nine of both share their slots; apart, as they are wanted, six of each would be left."""
    shared = ExecutorLimit(
        RecordedSlots(3), lambda plan: plan["split"] + (plan["count"] != plan["split"]) * plan["count"]
    )
    now = Plan({"split": 9, "count": 9}, executors=3)
    seen = Observation(t=0.0, topology=JOB, slo=Slo(), plan=now, samples=(), execution=Execution.CONCURRENT)
    decision = shared.vet(Decision.move(now, Plan({"split": 10, "count": 9}), "it must be"), seen)
    assert decision.plan == now
    assert "split 9 instead of 10" in decision.verdicts[0].reason.text
    smaller = replace(seen, plan=Plan({"split": 2, "count": 2}, executors=1))
    grown = shared.vet(Decision.move(smaller.plan, Plan({"split": 10, "count": 9}), "it must be"), smaller)
    assert grown.plan.parallelism == {"split": 6, "count": 6}


def test_operators_that_share_their_slots_are_each_as_wide_as_these_allow() -> None:
    decision = vetted(Plan({"split": 6, "count": 16}), Execution.SEQUENTIAL, others=0)
    assert decision.plan == Plan({"split": 6, "count": 12}, executors=3)


@pytest.mark.parametrize(("asked", "state", "executors"), [(1, 4, 1), (4, 4, 1), (5, 8, 2), (9, 10, 3)])
def test_state_is_in_all_slots_of_its_executors(asked: int, state: int, executors: int) -> None:
    """To repartition it for a part of one would stop the query for nothing."""
    job = Topology((Operator("state", max=10, stateful=True, actuation=Actuation.STATE_REPARTITION),))
    decision = vetted(Plan({"state": asked}), Execution.SEQUENTIAL, job, others=0)
    assert decision.plan == Plan({"state": state}, executors=executors)
    if asked != state:
        [verdict] = decision.verdicts
        assert verdict.reason.text == (
            f"all slots of the executors ({executors}) are used: state {state} instead of {asked}"
        )


def test_minima_that_need_more_than_there_may_be_are_the_plan_and_that_is_said() -> None:
    job = Topology((Operator("split", min=8), Operator("count", min=7)))
    decision = vetted(Plan({"split": 9, "count": 9}), Execution.CONCURRENT, job)
    assert decision.plan == Plan({"split": 8, "count": 7}, executors=3)
    assert ", and even the minima need 18: " in decision.verdicts[0].reason.text


@st.composite
def jobs(draw: st.DrawFn) -> tuple[Topology, Plan]:
    """A graph of operators, some of them tied, and a plan for it."""
    names = [f"operator {number}" for number in range(draw(st.integers(1, 6)))]
    tie, low = st.sampled_from([None, None, "state"]), st.integers(1, 3)
    operators = tuple(
        Operator(name, min=(least := draw(low)), max=least + draw(st.integers(3, 20)), tie=draw(tie)) for name in names
    )
    edges = tuple((a, b) for a, b in pairwise(names) if draw(st.booleans()))
    return Topology(operators, edges), Plan({name: draw(st.integers(1, 30)) for name in names})


@given(jobs(), st.sampled_from(Execution), st.integers(1, 12), st.integers(0, 5))
def test_whatever_is_wanted_fits_into_the_most_executors_or_is_the_smallest_plan(
    job: tuple[Topology, Plan], execution: Execution, most: int, others: int
) -> None:
    topology, wanted = job
    asked = inside(wanted, topology)
    decision = vetted(asked, execution, topology, most, others)
    plan, needed = decision.plan, execution.slots(decision.plan, topology) + others
    assert plan == vetted(asked, execution, topology, most, others).plan
    assert plan.executors == min(most, max(1, -(-needed // SLOTS_EACH)))
    assert all(plan[name] <= asked[name] for name in topology.names)
    assert inside(plan, topology) == plan
    if needed > most * SLOTS_EACH:
        assert plan.parallelism == inside(Plan.smallest(topology), topology).parallelism
    if plan.parallelism == asked.parallelism:
        assert decision.verdicts == ()
        return
    [verdict] = decision.verdicts
    assert verdict.reason.code is ReasonCode.QUOTA
    if execution is Execution.CONCURRENT and needed <= most * SLOTS_EACH:
        # Nobody lacks an instance that there would be room for.
        tied = {name: [o.name for o in topology.operators if o.tie and o.tie == topology[name].tie] or [name]
                for name in topology.names}  # fmt: skip
        spare = most * SLOTS_EACH - needed
        assert all(len(tied[name]) > spare for name in topology.names if plan[name] < asked[name])


def test_a_vetted_plan_passes_as_it_is() -> None:
    cut = vetted(Plan({"split": 6, "count": 12}), Execution.CONCURRENT).plan
    assert vetted(cut, Execution.CONCURRENT).plan == cut
