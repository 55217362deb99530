from __future__ import annotations

from collections.abc import Callable

import pytest

from penstock.guards.bounds import Bounds
from penstock.model import Decision, Observation, Operator, Plan, ReasonCode, Topology

Decide = Callable[..., Decision]
Observe = Callable[..., Observation]


def test_each_operator_is_kept_between_its_min_and_max(decide: Decide, observe: Observe) -> None:
    job = Topology((Operator("split", min=2, max=8), Operator("count", max=4)), (("split", "count"),))
    vetted = Bounds().vet(decide({"split": 1, "count": 9}), observe({"split": 2, "count": 2}, job))
    assert vetted.plan == Plan({"split": 2, "count": 4})
    assert vetted.wanted == Plan({"split": 1, "count": 9})
    assert [(v.guard, v.reason.code) for v in vetted.verdicts] == [("bounds", ReasonCode.BOUNDS)]
    assert "split 2 instead of 1, count 4 instead of 9" in vetted.verdicts[0].reason.text


def test_what_can_be_run_passes_as_it_is(decide: Decide, observe: Observe) -> None:
    decision = decide({"split": 1, "count": 100})
    assert Bounds().vet(decision, observe({"split": 2, "count": 2})) is decision


def test_a_root_gets_no_more_readers_than_the_source_has_partitions(decide: Decide, observe: Observe) -> None:
    job = Topology((Operator("read"), Operator("count")), (("read", "count"),), source_partitions=6)
    vetted = Bounds().vet(decide({"read": 10, "count": 10}), observe({"read": 2, "count": 2}, job))
    assert vetted.plan == Plan({"read": 6, "count": 10})


@pytest.mark.parametrize(
    ("asked", "granted"),
    [((2, 5), 5), ((5, 2), 5), ((1, 1), 3), ((50, 4), 8)],
    ids=["second larger", "first larger", "below the higher min", "above the lower max"],
)
def test_tied_operators_get_the_largest_number_inside_the_limits_of_all(
    asked: tuple[int, int], granted: int, decide: Decide, observe: Observe
) -> None:
    job = Topology((Operator("join", min=3, tie="state"), Operator("count", max=8, tie="state"), Operator("write")))
    decision = decide({"join": asked[0], "count": asked[1], "write": 7})
    vetted = Bounds().vet(decision, observe({"join": 3, "count": 3, "write": 1}, job))
    assert vetted.plan == Plan({"join": granted, "count": granted, "write": 7})


def test_executors_are_not_lost_on_the_way(decide: Decide, observe: Observe) -> None:
    decision = decide(Plan({"split": 500}, executors=9))
    assert Bounds().vet(decision, observe({"split": 2})).plan == Plan({"split": 100}, executors=9)
