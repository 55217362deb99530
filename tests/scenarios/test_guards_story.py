"""An evening of clicks under all guards: two surges, growth without delay, and patience before anything shrinks."""

from __future__ import annotations

from functools import cache

from penstock.cli.workloads import workload
from penstock.guards import only
from penstock.model import Cycle, Plan, ReasonCode
from stories import Story, simulated

FIRST_SURGE, SECOND_SURGE = (1320.0, 1860.0), (3480.0, 4140.0)  # from the calm to the height, in seconds
PATIENCE = 300.0


@cache
def evening(guarded: bool = True) -> Story:
    return simulated("clicks", "threshold", guards={} if guarded else only())


def shrinks(cycle: Cycle) -> bool:
    return cycle.changed and any(k < cycle.before[name] for name, k in cycle.decision.plan.parallelism.items())


def grows(cycle: Cycle) -> bool:
    return cycle.changed and any(k > cycle.before[name] for name, k in cycle.decision.plan.parallelism.items())


def test_before_the_first_surge_nothing_happens() -> None:
    assert not any(cycle.changed for cycle in evening().cycles if cycle.t <= FIRST_SURGE[0])


def test_growth_is_never_held_back_while_a_surge_climbs() -> None:
    for begins, height in (FIRST_SURGE, SECOND_SURGE):
        climb = [cycle for cycle in evening().cycles if begins < cycle.t <= height]
        assert sum(map(grows, climb)) >= 3
        assert not any(map(shrinks, climb[2:]))
        wishes = [cycle.decision for cycle in climb if cycle.decision.wanted != cycle.before]
        assert all(decision.plan == decision.wanted for decision in wishes if not decision.verdicts)
        assert not any(v.reason.code is not ReasonCode.PATIENCE for decision in wishes for v in decision.verdicts)


def test_at_the_height_of_each_surge_the_job_is_back_inside_its_target() -> None:
    slo = workload("clicks").slo
    for _, height in (FIRST_SURGE, SECOND_SURGE):
        after = [cycle.samples[-1] for cycle in evening().cycles if height + 60.0 < cycle.t <= height + 600.0]
        assert not any(slo.violations(sample) for sample in after)


def test_a_wish_to_shrink_waits_until_it_has_lasted_for_five_minutes() -> None:
    cycles = evening().cycles
    first = next(cycle for cycle in cycles if shrinks(cycle))
    wishing = [c for c in cycles if first.t - PATIENCE <= c.t < first.t and c.decision.wanted != c.before]

    assert len(wishing) == PATIENCE / 60.0
    for cycle in wishing:
        assert cycle.decision.plan == cycle.before
        assert [verdict.guard for verdict in cycle.decision.verdicts] == ["patience"]


def test_nothing_shrinks_below_what_was_needed_in_the_last_five_minutes() -> None:
    cycles = evening().cycles
    for shrunk in filter(shrinks, cycles):
        lately = [c for c in cycles if shrunk.t - PATIENCE <= c.t <= shrunk.t]
        needs: list[Plan] = [c.decision.wanted for c in lately
                             if c.decision.reason.code is not ReasonCode.WARMING_UP]  # fmt: skip
        for name, k in shrunk.decision.plan.parallelism.items():
            assert k >= max(need[name] for need in needs)


def test_after_the_evening_the_plan_is_small_again() -> None:
    run = evening()
    most = max(cycle.decision.plan.total for cycle in run.cycles)
    assert most > 25
    assert run.cycles[-1].decision.plan.total < most / 2


def test_guards_cost_some_cores_and_spare_changes_and_violations() -> None:
    guarded, bare = evening().result, evening(guarded=False).result

    assert guarded.rescales < bare.rescales
    assert guarded.violation_ratio <= bare.violation_ratio < 0.05
    assert guarded.core_seconds < 1.15 * bare.core_seconds
    assert guarded.saved_resources > 0.3
