"""Says why a plan was chosen: the forecast, the need, what else was weighed, and what speaks against each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from penstock.forecast.weighted import Weighted
from penstock.model import Topology
from penstock.performance.horizon import Option

LEVELS = (0.1, 0.5, 0.9, 0.99)
HORIZONS = (60.0, 300.0, 900.0)


def forecast_figures(forecast: Weighted) -> dict[str, Any]:
    """The quantiles of the rate by seconds ahead, and how much each forecaster counts a minute ahead."""
    quantiles = {
        f"{seconds:.0f}": dict(zip(map(str, LEVELS), forecast.quantiles(seconds, LEVELS), strict=True))
        for seconds in HORIZONS
    }  # fmt: skip
    return {"forecast": quantiles, "forecasters": forecast.weights(HORIZONS[0])}


def need_figures(options: Sequence[Option], forecast: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """The fewest slots that carry the rates expected within five minutes; None where no plan that was weighed does."""
    rates = forecast["300"]
    return {
        level: min((each.rung.slots for each in options if each.rung.limit >= rates[level]), default=None)
        for level in ("0.5", "0.99")
    }


def alternatives(options: Sequence[Option], chosen: Option) -> list[dict[str, Any]]:
    """What was weighed, and why it lost."""
    return [
        {
            "parallelism": dict(each.rung.parallelism),
            "slots": each.rung.slots,
            "carries": each.rung.limit,
            "known": each.rung.known,
            "core_seconds": each.core_seconds,
            "missed_seconds": each.missed_seconds,
            "cost": each.cost if math.isfinite(each.cost) else None,
            "why": "chosen" if each is chosen else _why_not(each, chosen),
        }
        for each in options
    ]


def _why_not(lost: Option, chosen: Option) -> str:
    if not math.isfinite(lost.cost):
        return "ruled out: too small for what is about to come or has to be worked off, or smaller while records wait"
    missed, paid = lost.missed_seconds - chosen.missed_seconds, lost.core_seconds - chosen.core_seconds
    if missed >= 0 and paid >= 0:
        return f"{paid:,.0f} slot-seconds and {missed:,.1f} s outside the targets more"
    if missed >= 0:
        return f"{missed:,.1f} s outside the targets more for {-paid:,.0f} slot-seconds less"
    return f"{paid:,.0f} slot-seconds more for {-missed:,.1f} s outside the targets less"


def sentence(rate: float, highest: float, waiting: float, chosen: Option, stay: Option) -> str:
    """Why this plan, in one sentence for an operator.

    waiting  records that wait, if they are more than the targets tolerate
    """
    load = f"{rate:,.0f} records/s now and at most {highest:,.0f} likely within 5 min"
    if waiting:
        load += f", and {waiting:,.0f} wait"
    slots = "1 slot carries" if chosen.rung.slots == 1 else f"{chosen.rung.slots} slots carry"
    carries = f"{slots} {chosen.rung.limit:,.0f} within the targets"
    guess = "" if chosen.rung.known else ", by a model that has not seen such a plan"
    if chosen is stay:
        return f"{load}: {carries}{guess}, and no other plan is cheaper over the next quarter of an hour"
    if not math.isfinite(stay.cost):
        return f"{load}: {carries}{guess}"
    return f"{load}: {carries}{guess}; staying would cost {_why_not(stay, chosen)}"


def shared(parallelism: Mapping[str, int], topology: Topology, sooner: float | None) -> str:
    """Which operators share their instances under a plan, as the end of a sentence; empty if none do.

    sooner  seconds by which records arrive sooner for it; None: not known

    >>> from penstock.model import Operator
    >>> job = Topology.chain("read", Operator("parse", chained=True), Operator("count", chained=True))
    >>> shared({"read": 2, "parse": 2, "count": 2}, job, 0.012), shared({"read": 1, "parse": 2, "count": 3}, job, 0.0)
    ('; read, parse and count share 2 instances: 4 slots fewer, 12 ms sooner', '')
    >>> shared({"read": 2}, Topology.chain(Operator("read", readers=2)), None)
    '; read reads its topic itself: 2 slots fewer'
    """
    told, fewer = [], 0
    for chain in topology.chains(parallelism):
        k, reads = parallelism[chain[0]], topology[chain[0]].readers == parallelism[chain[0]]
        if len(chain) > 1:
            read = " that read too" if reads else ""
            told.append(f"{', '.join(chain[:-1])} and {chain[-1]} share {_instances(k)}{read}")
        elif reads:
            told.append(f"{chain[0]} reads its topic itself")
        fewer += k * (len(chain) - 1 + reads)
    if not told:
        return ""
    soon = "" if sooner is None or round(1e3 * sooner) < 1 else f", {1e3 * sooner:,.0f} ms sooner"
    return f"; {', '.join(told)}: {fewer} slot{'' if fewer == 1 else 's'} fewer{soon}"


def _instances(k: int) -> str:
    return "1 instance" if k == 1 else f"{k} instances"
