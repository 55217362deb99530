"""A plan over a horizon: a dynamic programme over the next minutes, with the backlog as state.

In each step the job runs on one of a few plans (`rungs`). It pays core-seconds, seconds in which a target is missed,
and for a change of plan the silence that comes with it, whose records then wait. Nothing shrinks while more waits than
is tolerated.

The forecast leaves a few scenarios possible, each a rate for every step. The choice for the first step is made before
anybody knows which one it will be; those for later steps are made as well as that scenario allows, since the job is
looked at again by then. So a plan that may soon be too small costs the change that it will take, as often as it will.
One that is too large at the end costs a change as well, or its slots for as long again: else whoever does not shrink
now would never have to, and a job whose changes are dear would stay large for hours.

Glossary, for a step of D seconds at rate r, on a rung with limit L and capacity C, with b records waiting:

    h    silence: seconds without a record after a change
    b0   b + r h: what waits when the job runs (again)
    d    C - r: how fast that goes
    T    (b0 - r tolerated) / d: seconds until no more waits than is tolerated; the targets are missed until then
    p    Phi(log(r / L) / sigma): the probability that a target is missed although nothing waits
    b'   max(0, b0 - d (D - h)): what waits at the end
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from penstock.performance.rungs import Rung

Floats = npt.NDArray[np.float64]

LAGS = (0.0, 1.0, 5.0, 20.0, 90.0, 600.0)
"""The backlogs that are looked at, in seconds of input; what lies between is taken from its neighbours."""

PARTS = (0.0, 0.02, 0.1, 0.3, 0.6, 1.0)
"""The same as parts of a backlog that is longer: what waits may be hours of input, or nothing comes at all."""

SMALLEST_SIGMA = 0.01


@dataclass(frozen=True, slots=True)
class Outlook:
    """What is expected of the next minutes.

    seconds  the length of each step
    rates    input rates, one row for each step and one column for each scenario
    chances  the probability of each scenario
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
    kept       seconds for which a plan that is not made smaller now is not made smaller later
    settled    seconds after which a plan that grew for what waits may be as small again as it was before
    arrival    seconds until a larger plan is in force; the one before it carries the load until then
    found_out  seconds of a step after which a plan that carries less than was thought has shown it, and is replaced
    """

    miss: float
    change: float
    silence: float
    tolerated: float
    sigma: float
    kept: float = 0.0
    settled: float = math.inf
    arrival: float = 0.0
    found_out: float = math.inf


@dataclass(frozen=True, slots=True)
class Option:
    """One plan to run next, and what it costs over the horizon if everything after it is done as well as possible."""

    rung: Rung
    core_seconds: float
    missed_seconds: float
    cost: float


def weigh(rungs: Sequence[Rung], current: int, backlog: float, outlook: Outlook, terms: Terms) -> list[Option]:
    """What it costs to go to each of the rungs now; infinite for one that must not be chosen."""
    usual = float(outlook.rates[0] @ outlook.chances)
    lags = _lags(usual, backlog)
    steps = _Steps(rungs, lags, terms)
    slots = steps.slots
    change = np.where(np.eye(len(rungs), dtype=bool), 0.0, terms.change)[None, :, :, None]
    smaller = slots[None, :] < slots[:, None]  # from row to column
    drains = (lags > terms.tolerated * usual)[None, None, :]
    larger = (slots[None, :] > slots[:, None])[None, :, :, None]
    # What grows now for what waits may be as small again soon after: that it goes is known, and not waited for.
    back = smaller & (slots[None, :] >= slots[current]) & (backlog > terms.tolerated * usual)
    begins = np.cumsum(outlook.seconds) - outlook.seconds
    # What is ahead of a rung and a backlog, [scenario, rung, backlog]: at the end, what still waits has to go, and so
    # have slots that are too many by then. They are kept for as long again, or given back for the price of a change.
    dear = terms.change + terms.miss * 2.0 * max(0.0, terms.silence - terms.tolerated)
    idle = np.minimum(steps.too_many(outlook.rates[-1]) * float(outlook.seconds.sum()), dear)
    cores = np.repeat(idle[:, :, None], len(lags), axis=2)
    missed = steps.to_drain(outlook.rates[-1])
    for step in range(len(outlook.seconds) - 1, -1, -1):
        seconds, rates = float(outlook.seconds[step]), outlook.rates[step]
        chances = steps.chances(rates)
        stay, go = (steps.run(silence, seconds, rates, chances, cores, missed) for silence in (0.0, terms.silence))
        held = np.eye(len(rungs), dtype=bool)[None, :, :, None]
        paid = (slots * seconds)[None, None, :, None] + change
        # [scenario, from, to, backlog]
        c = np.where(held, stay[0][:, None], go[0][:, None]) + paid
        until_larger = terms.arrival * np.add(*chances)[:, :, None, None]
        m = np.where(held, stay[1][:, None], go[1][:, None]) + np.where(larger, until_larger, 0.0)
        too_soon = (0.0 < begins[step] < terms.kept) & ~(back & (begins[step] >= terms.settled))
        barred = smaller[:, :, None] & (drains | too_soon[:, :, None])
        total = np.where(barred[None], np.inf, c + terms.miss * m)
        if step == 0:  # now nobody knows yet which scenario it will be
            break
        best = total.argmin(axis=2)[:, :, None, :]
        cores = np.take_along_axis(c, best, axis=2)[:, :, 0, :]
        missed = np.take_along_axis(m, best, axis=2)[:, :, 0, :]
    at = int(np.searchsorted(lags, backlog))
    first = [np.tensordot(outlook.chances, each[:, current, :, at], axes=1).tolist() for each in (c, m, total)]
    return [Option(rung, *(each[j] for each in first)) for j, rung in enumerate(rungs)]


def _lags(usual: float, backlog: float) -> Floats:
    """Backlogs to look at, the present one among them.

    >>> _lags(10.0, 30.0).tolist(), _lags(0.0, 100.0).tolist()
    ([0.0, 10.0, 30.0, 50.0, 200.0, 900.0, 6000.0], [0.0, 2.0, 10.0, 30.0, 60.0, 100.0])
    """
    of_input = np.array(LAGS) * usual
    if backlog <= of_input[-1] > 0:
        return np.unique(np.append(of_input, backlog))
    return np.unique(np.append(of_input, np.array(PARTS) * max(backlog, 1.0)))


class _Steps:
    """One step in every scenario at the same time, for each rung and backlog: arrays are [scenario, rung, backlog]."""

    def __init__(self, rungs: Sequence[Rung], lags: Floats, terms: Terms) -> None:
        self.lags, self.tolerated, self.found_out = lags, terms.tolerated, terms.found_out
        self.slots = np.array([rung.slots for rung in rungs], dtype=np.float64)
        self.limit = np.maximum(np.array([rung.limit for rung in rungs]), 1e-9)
        self.capacity = np.array([min(rung.capacity, 1e15) for rung in rungs])
        self.noise = max(SMALLEST_SIGMA, terms.sigma)
        self.sigma = np.maximum(SMALLEST_SIGMA, np.hypot(terms.sigma, [rung.error for rung in rungs]))

    def chances(self, rates: Floats) -> tuple[Floats, Floats]:
        """The probabilities that each rung misses a target although nothing waits, [scenario, rung]: from one moment to
        the next by what fluctuates, and beyond that because less is known of the rung than it seems."""
        over = np.log(np.maximum(rates, 1e-9)[:, None] / self.limit[None, :])
        again, any_ = _normal(over / self.noise), _normal(over / self.sigma[None, :])
        return again, np.maximum(0.0, any_ - again)

    def too_many(self, rates: Floats) -> Floats:
        """Slots of each rung beyond the fewest that carry a rate, [scenario, rung]."""
        carry = self.limit[None, :] >= rates[:, None]
        fewest = np.where(carry, self.slots[None, :], self.slots.max()).min(axis=1)
        beyond: Floats = np.maximum(0.0, self.slots[None, :] - fewest[:, None])
        return beyond

    def to_drain(self, rates: Floats) -> Floats:
        """Seconds until nothing waits any more."""
        spare = np.maximum(self.capacity[None, :] - rates[:, None], 1e-3 * np.maximum(rates[:, None], 1e-6))
        return self.lags[None, None, :] / spare[:, :, None]

    def run(
        self,
        silence: float,
        seconds: float,
        rates: Floats,
        chances: tuple[Floats, Floats],
        cores: Floats,
        missed: Floats,
    ) -> tuple[Floats, Floats]:
        """Core-seconds after a step, and missed seconds from its beginning on."""
        silence = min(silence, seconds)
        rate = np.maximum(rates, 1e-9)[:, None, None]
        waiting = self.lags[None, None, :] + rate * silence
        spare = self.capacity[None, :, None] - rate
        over = np.maximum(0.0, waiting - self.tolerated * rate)
        late = np.where(spare > 0, over / np.maximum(spare, 1e-9), np.where(over > 0, np.inf, seconds))
        working = seconds - silence
        late = np.minimum(late, working)
        again, wrong = (each[:, :, None] for each in chances)
        calm = working - late
        miss = max(0.0, silence - self.tolerated) + late + again * calm + wrong * np.minimum(calm, self.found_out)
        left = np.maximum(0.0, waiting - spare * working)
        right = np.clip(np.searchsorted(self.lags, left, side="right"), 1, len(self.lags) - 1)
        share = (left - self.lags[right - 1]) / (self.lags[right] - self.lags[right - 1])
        table = np.arange(right[..., 0].size).reshape(*right.shape[:2], 1) * len(self.lags)  # where a rung's row begins
        after = [_between(values.ravel(), table + right, share) for values in (cores, missed)]
        return after[0], after[1] + miss


def _between(values: Floats, right: npt.NDArray[np.int64], share: Floats) -> Floats:
    """Values at backlogs between those of the table, by straight lines, also beyond its end."""
    below, above = values[right - 1], values[right]
    return below + share * (above - below)


def _normal(z: Floats) -> Floats:
    """The distribution function of the normal distribution, to within 2 in 10,000."""
    z = np.clip(z, -8.0, 8.0)
    return 1.0 / (1.0 + np.exp(-z * (1.5976 + 0.070566 * z * z)))
