"""The cheapest plans of a job: for each rate the fewest slots at which every target holds.

They are found by search over the simulator's own steady state, not by a policy's model.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from penstock.load.trace import Trace
from penstock.model import Execution, InvalidValueError, Plan, Slo
from penstock.performance.chained_ladder import tied_chains
from penstock.performance.elasticity import StepCurve
from penstock.simulator.job import Job
from penstock.simulator.steady import CLOSE_ENOUGH, Excess, SteadyState


@dataclass(frozen=True, slots=True)
class Rung:
    """A plan, its slots, and the highest rate at which every target holds with it."""

    plan: Plan
    slots: int
    rate: float


@dataclass(frozen=True)
class Ladder:
    """Plans that no other plan with as few slots surpasses, by growing rates."""

    rungs: tuple[Rung, ...]

    def at(self, rate: float) -> int:
        """Which rung is the first to carry a rate; the last one if none does."""
        return min(bisect_left([rung.rate for rung in self.rungs], rate), len(self.rungs) - 1)

    def demand(self, trace: Trace, every: float) -> StepCurve:
        """d(t): the fewest slots at which every target holds at the load of each moment, looked at so often."""
        times = np.arange(0.0, trace.seconds, every)
        reached = np.searchsorted([rung.rate for rung in self.rungs], trace.at(times + every / 2))
        slots = np.array([rung.slots for rung in self.rungs])[np.minimum(reached, len(self.rungs) - 1)]
        moved = np.flatnonzero(np.diff(slots, prepend=-1))
        return StepCurve(tuple(times[moved].tolist()), tuple(slots[moved].astype(float).tolist()))


def ladder(job: Job, slo: Slo, up_to: float) -> Ladder:
    """The ladder of a job from its smallest plan to the first that carries `up_to`, or to its best if none does."""
    steady = SteadyState(job, slo)
    plans = _sequential_plans if job.engine.execution is Execution.SEQUENTIAL else _concurrent_plans
    rungs: list[Rung] = []
    for plan in plans(steady, up_to):
        rate = steady.highest_rate(plan, up_to)
        if rate is None or (rungs and rate <= rungs[-1].rate):
            continue
        slots = steady.slots(plan)
        while rungs and rungs[-1].slots >= slots:
            rungs.pop()
        rungs.append(Rung(plan, slots, rate))
        if rate >= up_to:
            break
    if not rungs:
        raise InvalidValueError(f"slo of {job.name}", "must be one that some plan meets at some rate")
    return Ladder(tuple(rungs))


def _sequential_plans(steady: SteadyState, up_to: float) -> Iterator[Plan]:
    """For each number of slots the plan that spends the least time on a record."""
    topology = steady.job.topology
    for slots in range(max(operator.min for operator in topology.operators), Plan.largest(topology).widest + 1):
        parallelism = {}
        for operator in topology.operators:
            most, coordination = min(slots, topology.ceiling(operator.name)), steady.job.behaviours[operator.name]
            sizes = range(operator.min, most + 1)
            parallelism[operator.name] = min(sizes, key=lambda k: (1 + coordination.coordination * (k - 1)) / k)
        yield Plan(parallelism)


def _concurrent_plans(steady: SteadyState, up_to: float) -> Iterator[Plan]:
    """The cheapest plan at the lowest rate, then each time the cheapest beyond what the last one carries."""
    rate = 0.0
    while (plan := cheapest(steady, rate)) is not None:
        yield plan
        reached = steady.highest_rate(plan, up_to)
        if reached is None or reached >= up_to:
            return
        rate = max(reached, rate) * (1 + 2 * CLOSE_ENOUGH) + 1e-9
    best = _grown(steady, Plan.smallest(steady.job.topology), up_to, _groups(steady))
    yield best  # no plan carries the rate: this one comes closest


def cheapest(steady: SteadyState, rate: float) -> Plan | None:
    """The plan with the fewest slots at which every target holds; None if the search finds none.

    It grows where that helps most, then takes back what was not needed, one instance at a time and two for one. Where
    operators may share their instances, it looks for plans in which they do, and for plans in which they do not.
    """
    topology, groups = steady.job.topology, _groups(steady)
    smallest = Plan.smallest(topology)
    starts = [(smallest, groups)]
    if topology.may_chain:
        tied = list(tied_chains(topology))
        least = {name: max(topology[each].min for each in chain) for chain in tied for name in chain}
        starts = [(smallest.changed(least), tied), (_grown(steady.apart, smallest, rate, groups), groups)]
    grown = [(_grown(steady, plan, rate, groups), groups) for plan, groups in starts]
    found = [_pruned(steady, plan, rate, groups) for plan, groups in grown if steady.holds(plan, rate)]
    return min(found, key=steady.slots, default=None)


def _groups(steady: SteadyState) -> list[tuple[str, ...]]:
    """Operators that change together."""
    ties: dict[str, list[str]] = {}
    for operator in steady.job.topology.operators:
        ties.setdefault(operator.tie or f"operator {operator.name}", []).append(operator.name)
    return [tuple(names) for names in ties.values()]


def _step(steady: SteadyState, plan: Plan, group: tuple[str, ...], by: int) -> Plan | None:
    """The plan with a group of operators larger or smaller; None beyond its bounds."""
    topology = steady.job.topology
    changed = {name: plan[name] + by for name in group}
    inside = all(topology[name].min <= k <= topology.ceiling(name) for name, k in changed.items())
    return plan.changed(changed) if inside else None


def _grown(steady: SteadyState, plan: Plan, rate: float, groups: list[tuple[str, ...]]) -> Plan:
    """The plan grown until every target holds at a rate, or until no instance more helps."""
    now = steady.excess(plan, rate)
    while now != (0.0, 0.0):
        tried = [(larger, group) for group in groups if (larger := _step(steady, plan, group, 1)) is not None]
        found = [(_gain(now, steady.excess(larger, rate)) / len(group), larger) for larger, group in tried]
        gain, best = max(found, key=lambda each: each[0], default=(0.0, plan))
        if gain <= 0.0:
            break
        plan, now = best, steady.excess(best, rate)
    return plan


def _gain(before: Excess, after: Excess) -> float:
    """How much a step helps: keeping up comes before latency."""
    overload = before.overload - after.overload
    return 1e6 * overload if abs(overload) > 1e-12 else before.lateness - after.lateness


def _pruned(steady: SteadyState, plan: Plan, rate: float, groups: list[tuple[str, ...]]) -> Plan:
    while (smaller := _smaller(steady, plan, rate, groups)) is not None:
        plan = smaller
    return plan


def _smaller(steady: SteadyState, plan: Plan, rate: float, groups: list[tuple[str, ...]]) -> Plan | None:
    """A plan with fewer slots that still holds: one instance less, or two less and one more elsewhere."""
    slots = steady.slots(plan)
    for group in groups:
        less = _step(steady, plan, group, -1)
        if less is not None and steady.slots(less) < slots and steady.holds(less, rate):
            return less
    for first, second, more in product(groups, repeat=3):
        if more in (first, second) or len(more) >= len(first) + len(second):
            continue
        changed: Plan | None = plan
        for group, by in ((first, -1), (second, -1), (more, 1)):
            changed = None if changed is None else _step(steady, changed, group, by)
        if changed is not None and steady.slots(changed) < slots and steady.holds(changed, rate):
            return changed
    return None
