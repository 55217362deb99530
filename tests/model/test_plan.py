"""A plan is parallelism per operator; changing it makes a new one."""

import math
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model import Execution, InvalidValueError, Operator, Plan, Topology, Worker
from strategies import plans, topologies

JOB = Topology((Operator("split", min=2, max=9), Operator("count", max=5)), (("split", "count"),), source_partitions=4)


@pytest.mark.parametrize(
    ("details", "sentence"),
    [
        ({"parallelism": {}}, "parallelism must name at least one operator"),
        ({"parallelism": {"a": 0}}, "parallelism of a must be a whole number of at least 1, not 0"),
        ({"parallelism": {"a": 1.5}}, "parallelism of a must be a whole number of at least 1, not 1.5"),
        ({"parallelism": {"a": True}}, "parallelism of a must be a whole number of at least 1, not True"),
        ({"parallelism": {"a": 1}, "executors": -1}, "executors must be a whole number of at least 0, not -1"),
        (
            {"parallelism": {"a": 2}, "placement": {"a": ("one",)}},
            "placement of a must name one worker for each instance",
        ),
        (
            {"parallelism": {"a": 2}, "placement": {"b": ("one",)}},
            "placement of b must name one worker for each instance",
        ),
    ],
)
def test_a_bad_plan_is_refused_in_one_sentence(details: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidValueError) as refused:
        Plan(**details)
    assert str(refused.value) == sentence


def test_the_smallest_and_the_largest_plan_of_a_job() -> None:
    assert Plan.smallest(JOB).parallelism == {"split": 2, "count": 1}
    assert Plan.largest(JOB).parallelism == {"split": 4, "count": 5}  # 4 partitions feed no more than 4 readers


def test_a_change_makes_a_new_plan_and_opens_the_placement_again() -> None:
    plan = Plan({"split": 1, "count": 1}, executors=3, placement={"split": ("one",), "count": ("two",)})
    changed = plan.changed({"split": 2}, count=4)
    assert changed == Plan({"split": 2, "count": 4}, executors=3)
    assert plan["split"] == 1


def test_a_change_that_changes_nothing_keeps_the_placement() -> None:
    plan = Plan({"split": 1}, placement={"split": ("one",)})
    assert plan.changed(split=1) is plan
    assert plan.changed() is plan


def test_a_plan_for_another_job_is_refused_by_name() -> None:
    Plan({"count": 1, "split": 2}).check(JOB)
    with pytest.raises(InvalidValueError) as refused:
        Plan({"split": 1, "cuont": 1}).check(JOB)
    sentence = "plan: operator 'cuont' is not known; did you mean 'count'? There is: count, split"
    assert str(refused.value) == sentence
    with pytest.raises(InvalidValueError) as refused:
        Plan({"split": 1}).check(JOB)
    assert str(refused.value) == "plan must give a parallelism for every operator, but not for count"


@given(topologies(), st.data())
def test_equal_plans_have_equal_hashes_here_and_after_a_journey(topology: Topology, data: st.DataObject) -> None:
    plan = data.draw(plans(topology))
    plan.check(topology)
    backwards = Plan(dict(reversed(list(plan.parallelism.items()))))
    assert plan == backwards
    assert hash(plan) == hash(backwards)
    assert pickle.loads(pickle.dumps(plan)) == plan


def test_operators_at_once_cost_their_sum_and_operators_in_turn_the_widest() -> None:
    plan, job = Plan({"a": 2, "b": 5, "c": 3}), Topology.chain("a", "b", "c")
    assert (plan.total, Execution.CONCURRENT.slots(plan, job)) == (10, 10)
    assert (plan.widest, Execution.SEQUENTIAL.slots(plan, job)) == (5, 5)


def test_operators_that_share_their_instances_share_their_slots() -> None:
    job = Topology.chain("a", Operator("b", chained=True), Operator("c", chained=True))
    slots = Execution.CONCURRENT.slots
    assert slots(Plan({"a": 3, "b": 3, "c": 3}), job) == 3
    assert slots(Plan({"a": 3, "b": 3, "c": 2}), job) == 5
    assert slots(Plan({"a": 1, "b": 3, "c": 2}), job) == 6
    assert Execution.SEQUENTIAL.slots(Plan({"a": 3, "b": 3, "c": 2}), job) == 3


def test_tasks_that_read_have_slots_unless_an_operator_with_as_many_instances_reads_itself() -> None:
    job = Topology.chain(Operator("a", readers=3), Operator("b", chained=True), Operator("c", chained=True))
    slots = Execution.CONCURRENT.slots
    assert slots(Plan({"a": 3, "b": 3, "c": 3}), job) == 3
    assert slots(Plan({"a": 1, "b": 1, "c": 1}), job) == 3 + 1
    assert slots(Plan({"a": 3, "b": 3, "c": 2}), job) == 3 + 2
    assert slots(Plan({"a": 2, "b": 3, "c": 2}), job) == 3 + 7


def test_the_smallest_plan_keeps_tied_operators_together() -> None:
    job = Topology.chain(Operator("a", min=2, tie="front"), Operator("b", tie="front"), "c")
    assert Plan.smallest(job) == Plan({"a": 2, "b": 2, "c": 1})


def test_a_plan_that_parts_tied_operators_is_refused() -> None:
    job = Topology.chain(Operator("a", tie="front"), Operator("b", tie="front"))
    with pytest.raises(InvalidValueError) as refused:
        Plan({"a": 2, "b": 3}).check_bounds(job)
    assert str(refused.value) == (
        "plan: operator b must have as many instances as a, with which it is tied, not 3 beside 2"
    )


def test_a_plan_reads_as_a_person_would_say_it() -> None:
    assert str(Plan({"split": 2, "count": 3}, executors=4)) == "split 2, count 3; 4 executors"


@pytest.mark.parametrize(
    ("details", "sentence"),
    [
        ({"cores": -1}, "worker one: cores must be a finite number of at least 0, not -1"),
        ({"cores": None}, "worker one: cores must be a finite number of at least 0, not None"),
        ({"cores": 4, "memory_mb": math.nan}, "worker one: memory_mb must be a finite number of at least 0, not nan"),
    ],
)
def test_a_bad_worker_is_refused_in_one_sentence(details: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidValueError) as refused:
        Worker("one", **details)
    assert str(refused.value) == sentence


def test_a_worker_has_memory_without_end_unless_told() -> None:
    assert Worker("one", 4).memory_mb == math.inf
