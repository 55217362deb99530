"""Sizes a job of which little is known: true rates, with headroom and with what it takes to work off what waits.

Nobody knows yet what a change costs, so small differences are left alone: each change may cost seconds in which nothing
comes out, and what waits because of it must not ask for the next one.
"""

from __future__ import annotations

from penstock.model import Decision, Observation
from penstock.performance.chained_ladder import with_room
from penstock.performance.true_rates import arriving, input_rates, instances, true_rates

WORTH_CHANGING = 0.75
"""It shrinks only to this part or less of what it has. Soon after a change, it grows only if what it has is this part
or less of what it needs."""


def sized_by_headroom(
    observation: Observation,
    headroom: float,
    why: str,
    *,
    may_shrink: bool,
    unsettled: bool,
    catch_up_seconds: float,
    growth: float,
) -> Decision:
    """
    headroom          how busy instances may be
    may_shrink        whether enough was seen of the load to believe that it needs less
    unsettled         whether there was a change so short a while ago that what waits may be its doing
    catch_up_seconds  within which what waits shall be worked off
    growth            how many times the present load is likely to come soon
    """
    topology, rates, latest = observation.topology, true_rates(observation), observation.latest
    inputs, backlog, more = input_rates(observation), latest.backlog or 0.0, growth
    if not latest.offered_rate:  # nothing comes: what waits is all there is, and nobody knows in front of which root
        inputs = dict.fromkeys(inputs, backlog / catch_up_seconds / len(inputs))
    elif backlog > observation.slo.tolerated_lag_seconds * latest.offered_rate:
        more = max(growth, 1.0 + backlog / catch_up_seconds / latest.offered_rate)
    load = {name: more * each for name, each in arriving(topology, rates, inputs).items()}
    needed = {n: topology.clamp(n, instances(load[n], rates[n].processing * headroom)) for n in topology.names}
    present = {name: observation.plan[name] for name in needed}
    if topology.may_chain:
        work = {n: load[n] / (rates[n].processing * headroom) if rates[n].processing else 0.0 for n in topology.names}
        needed = with_room(needed, work, topology)
    target = _worth_changing(present, needed, may_shrink, unsettled)
    if topology.may_chain and target != present:
        target = with_room(target, work, topology)
    return Decision.move(
        observation.plan,
        observation.plan.changed(target),
        f"{why}: by true rates, with instances at most {headroom:.0%} busy",
        figures={
            "true_processing_rate": {name: rates[name].processing for name in topology.names},
            "target_rate": load,
            "need": needed,
        },
    )


def _worth_changing(
    present: dict[str, int], needed: dict[str, int], may_shrink: bool, unsettled: bool
) -> dict[str, int]:
    """What is needed, or what there is where that differs by little.

    >>> _worth_changing({"parse": 4, "count": 4}, {"parse": 5, "count": 2}, may_shrink=True, unsettled=False)
    {'parse': 5, 'count': 4}
    """
    part = sum(needed.values()) / sum(present.values())
    if unsettled and part * WORTH_CHANGING < 1.0:
        return present
    if part > WORTH_CHANGING or not may_shrink:
        return {name: max(k, present[name]) for name, k in needed.items()}
    return needed
