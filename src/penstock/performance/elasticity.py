"""How well supply follows demand: the elasticity figures of the SPEC research group, as BUNGEE computes them.

d(t)  demand: the fewest slots at which every target holds at the load of that moment
s(t)  supply: the slots that there were
T     the time that both are known for

Both are step curves. Accuracy says how many slots were missing or idle, timeshare for how long, instability how often
the two moved differently, and jitter how much more the supply moved than the demand did. Sources: N. Herbst et al.,
"BUNGEE: An Elasticity Benchmark for Self-Adaptive IaaS Cloud Environments" (2015), and the SPEC research group's "Ready
for Rain?" (2016).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from penstock.model import InvalidValueError
from penstock.model.errors import check_number

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class StepCurve:
    """A figure that stays as it is from each of its times to the next; the last value stays to the end.

    >>> StepCurve((0.0, 7.0), (1.0, 5.0)).at(np.array([0.0, 6.9, 7.0])).tolist()
    [1.0, 1.0, 5.0]
    """

    times: tuple[float, ...]
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.times or len(self.times) != len(self.values):
            raise InvalidValueError("step curve", "must have one value for each of its times, and at least one")
        if self.times[0] != 0.0 or any(b < a for a, b in zip(self.times, self.times[1:], strict=False)):
            raise InvalidValueError("step curve: times", "must begin at 0 and must not decrease")
        for value in self.values:
            check_number("step curve: value", value)

    def at(self, times: Floats) -> Floats:
        places = np.searchsorted(np.array(self.times), times, side="right") - 1
        found: Floats = np.array(self.values, dtype=np.float64)[places]
        return found

    def moves(self, end: float) -> float:
        """E: the sum of all changes before the end, upwards and downwards alike."""
        kept = np.array(self.values)[np.array(self.times) < end]
        return float(np.abs(np.diff(kept)).sum())


@dataclass(frozen=True, slots=True)
class Elasticity:
    """The figures of one run; 0 is best for each, and a jitter below 0 means that supply moved too little.

    accuracy_under    mean of the slots that were missing, (1/T) ∫ (d - s)+ dt
    accuracy_over     mean of the slots that were too many, (1/T) ∫ (s - d)+ dt
    normalised_under  the same as a share of the demand of each moment, (1/T) ∫ (d - s)+ / d dt
    normalised_over   the same as a share of the demand of each moment, (1/T) ∫ (s - d)+ / d dt
    timeshare_under   part of the time in which slots were missing
    timeshare_over    part of the time in which there were too many
    instability       part of the time in which supply and demand did not move in the same direction
    jitter            by how many slots a second supply moved more than demand, (E_s - E_d) / T
    """

    accuracy_under: float
    accuracy_over: float
    normalised_under: float
    normalised_over: float
    timeshare_under: float
    timeshare_over: float
    instability: float
    jitter: float


def elasticity(demand: StepCurve, supply: StepCurve, end: float, window: float = 1.0) -> Elasticity:
    """The figures of a run of `end` seconds.

    A step curve moves at single moments only: its direction is that of its change over each `window` of seconds.

    >>> late = elasticity(StepCurve((0.0, 5.0), (2.0, 4.0)), StepCurve((0.0, 6.0), (2.0, 4.0)), 10.0)
    >>> late.accuracy_under, late.timeshare_under
    (0.2, 0.1)
    """
    check_number("end", end, 1e-9)
    check_number("window", window, 1e-9)
    times = np.array([*demand.times, *supply.times, end])
    edges = np.unique(times[times <= end])
    lasted = np.diff(edges)
    wanted, given = demand.at(edges[:-1]), supply.at(edges[:-1])
    missing, idle = np.maximum(wanted - given, 0.0), np.maximum(given - wanted, 0.0)
    # Where nothing is demanded no share of it can be given: such moments count in the figures in slots only.
    base = np.where(wanted > 0.0, wanted, np.inf)

    def mean(figure: npt.NDArray[np.floating]) -> float:
        return float(figure @ lasted) / end

    return Elasticity(
        accuracy_under=mean(missing),
        accuracy_over=mean(idle),
        normalised_under=mean(missing / base),
        normalised_over=mean(idle / base),
        timeshare_under=mean((missing > 0.0).astype(np.float64)),
        timeshare_over=mean((idle > 0.0).astype(np.float64)),
        instability=_instability(demand, supply, end, window),
        jitter=(supply.moves(end) - demand.moves(end)) / end,
    )


def _instability(demand: StepCurve, supply: StepCurve, end: float, window: float) -> float:
    """(1/T) ∫ min(|sgn(ds/dt) - sgn(dd/dt)|, 1) dt, with the changes over each window for the derivatives."""
    edges = np.append(np.arange(0.0, end, window), end)
    directions = [np.sign(np.diff(curve.at(edges))) for curve in (demand, supply)]
    differs = (directions[0] != directions[1]).astype(np.float64)
    return float(differs @ np.diff(edges)) / end
