"""A plan over a horizon: a dynamic programme over the next minutes, with the backlog as state.

In each step the job runs on one of a few plans (`rungs`), at one of a few rates that the forecast leaves possible. It
pays core-seconds, seconds in which a target is missed, and for a change of plan the silence that comes with it, whose
records then wait. Nothing shrinks while more waits than is tolerated.

Glossary, for a step of D seconds at rate r, on a rung with limit L and capacity C, with b records waiting:

    h    silence: seconds without a record after a change
    b0   b + r h: what waits when the job runs (again)
    d    C - r: how fast that goes
    T    (b0 - r tolerated) / d: seconds until no more waits than is tolerated; the targets are missed until then
    p    Phi(log(r / L) / sigma): the probability that a target is missed although nothing waits
    b'   max(0, b0 - d (D - h)): what waits at the end
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from penstock.performance.rungs import Rung

Floats = npt.NDArray[np.float64]

LAGS = (0.0, 1.0, 5.0, 20.0, 90.0, 600.0)
"""The backlogs that are looked at, in seconds of input; what lies between is taken from its neighbours."""

SMALLEST_SIGMA = 0.01


@dataclass(frozen=True, slots=True)
class Outlook:
    """What is expected of the next minutes.

    seconds  the length of each step
    rates    possible input rates, one row for each step
    chances  the probability of each column
    """

    seconds: Floats
    rates: Floats
    chances: Floats


@dataclass(frozen=True, slots=True)
class Terms:
    """What things cost.

    miss       core-seconds that a second outside the targets is worth
    change     core-seconds that a change costs beside its silence
    silence    seconds without a record after a change
    tolerated  seconds of input that may wait
    sigma      standard deviation of what a plan can carry, as a share of it
    """

    miss: float
    change: float
    silence: float
    tolerated: float
    sigma: float


@dataclass(frozen=True, slots=True)
class Option:
    """One plan to run next, and what it costs over the horizon if everything after it is done as well as possible."""

    rung: Rung
    core_seconds: float
    missed_seconds: float
    cost: float


def weigh(rungs: Sequence[Rung], current: int, backlog: float, outlook: Outlook, terms: Terms) -> list[Option]:
    """What it costs to go to each of the rungs now; infinite for one that must not be chosen."""
    n = len(rungs)
    slots = np.array([rung.slots for rung in rungs], dtype=np.float64)
    limit = np.maximum(np.array([rung.limit for rung in rungs]), 1e-9)
    capacity = np.array([min(rung.capacity, 1e15) for rung in rungs])
    sigma = np.maximum(SMALLEST_SIGMA, np.hypot(terms.sigma, [rung.error for rung in rungs]))
    usual = float(outlook.rates[0] @ outlook.chances)
    lags = np.unique(np.append(np.array(LAGS) * usual, backlog)) if usual > 0 else np.array([0.0, backlog + 1.0])
    held = np.eye(n, dtype=bool)
    smaller = slots[None, :] < slots[:, None]  # from row to column
    waits = lags > terms.tolerated * usual
    cores = np.zeros((n, len(lags)))
    missed = np.zeros((n, len(lags)))
    if usual > 0:  # what still waits at the end has to go as well
        missed += lags[None, :] / np.maximum(capacity[:, None] - outlook.rates[-1] @ outlook.chances, 1e-3 * usual)
    first: tuple[Floats, Floats, Floats] | None = None
    for step in range(len(outlook.seconds) - 1, -1, -1):
        ends = [
            _run(silence, float(outlook.seconds[step]), outlook.rates[step], outlook.chances, lags, limit, capacity,
                 sigma, terms.tolerated, cores, missed)
            for silence in (0.0, terms.silence)
        ]  # fmt: skip
        paid = slots[:, None] * outlook.seconds[step]
        # [from, to, backlog]
        c = np.where(held[:, :, None], ends[0][0] + paid, ends[1][0] + paid + terms.change)
        m = np.where(held[:, :, None], ends[0][1], ends[1][1])
        total = c + terms.miss * m
        total = np.where(smaller[:, :, None] & waits[None, None, :], np.inf, total)
        if step == 0:
            first = c[current], m[current], total[current]
            break
        best = total.argmin(axis=1)[:, None, :]
        cores = np.take_along_axis(c, best, axis=1)[:, 0, :]
        missed = np.take_along_axis(m, best, axis=1)[:, 0, :]
    assert first is not None
    at = int(np.searchsorted(lags, backlog)) if usual > 0 else 0
    return [
        Option(rung, float(first[0][j, at]), float(first[1][j, at]), float(first[2][j, at]))
        for j, rung in enumerate(rungs)
    ]


def _run(
    silence: float, seconds: float, rates: Floats, chances: Floats, lags: Floats, limit: Floats, capacity: Floats,
    sigma: Floats, tolerated: float, cores: Floats, missed: Floats,
) -> tuple[Floats, Floats]:  # fmt: skip
    """Core-seconds and missed seconds from the beginning of a step on, for each rung and backlog."""
    silence = min(silence, seconds)
    rate = np.maximum(rates, 1e-9)
    waiting = lags[None, :, None] + rate[None, None, :] * silence
    spare = capacity[:, None, None] - rate[None, None, :]
    over = np.maximum(0.0, waiting - tolerated * rate)
    late = np.where(spare > 0, over / np.maximum(spare, 1e-9), np.where(over > 0, np.inf, seconds))
    working = seconds - silence
    late = np.minimum(late, working)
    chance = _normal(np.log(rate[None, :] / limit[:, None]) / sigma[:, None])[:, None, :]
    miss = max(0.0, silence - tolerated) + late + chance * (working - late)
    left = np.maximum(0.0, waiting - spare * working)
    after = _between(lags, cores, left), _between(lags, missed, left)
    return after[0] @ chances, (after[1] + miss) @ chances


def _between(lags: Floats, values: Floats, at: Floats) -> Floats:
    """The value of each rung at backlogs between those of the table, by straight lines, also beyond its end."""
    right = np.clip(np.searchsorted(lags, at, side="right"), 1, len(lags) - 1)
    share = (at - lags[right - 1]) / (lags[right] - lags[right - 1])
    rows = np.arange(len(values))[:, None, None]
    return values[rows, right - 1] * (1.0 - share) + values[rows, right] * share


def _normal(z: Floats) -> Floats:
    """The distribution function of the normal distribution, to within 2 in 10,000."""
    z = np.clip(z, -8.0, 8.0)
    return 1.0 / (1.0 + np.exp(-z * (1.5976 + 0.070566 * z * z)))
