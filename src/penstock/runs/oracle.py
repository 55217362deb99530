"""The oracle: the cheapest schedule that keeps a job inside its targets, for somebody who knows its load beforehand.

It knows the load curve and the job, and pays for changes like everybody. What it does not know is chance: service times
that wander, records that arrive in bursts. So it plans for a load that is somewhat higher, and what its schedules come
to is measured: each is run in the simulator, with the seeds that the policies are run with.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from penstock.runs.clairvoyant import Way, schedules
from penstock.runs.result import Result
from penstock.runs.schedule import Schedule
from penstock.runs.simulation import Simulation

NAME = "oracle"

ALLOWED = 0.005
"""The part of all seconds that may miss a target."""

MARGINS = (1.0, 2.0, 3.0)
"""Margins to plan with, in standard deviations of what is left to chance: the first that is enough."""

SHOWN = (0.0, 0.001, 0.0025, 0.01, 0.03)
"""Parts of all seconds that the frontier is shown for, beside the allowed one."""

TRIES = 8
"""Schedules that are run to find the one that just stays within what is allowed."""


@dataclass(frozen=True)
class Run:
    """A schedule and what it came to with each seed."""

    schedule: Schedule
    results: tuple[Result, ...]

    @property
    def violation_ratio(self) -> float:
        return fmean(result.violation_ratio for result in self.results)

    @property
    def core_seconds(self) -> float:
        return fmean(result.core_seconds for result in self.results)


@dataclass(frozen=True)
class Oracle:
    """What can be had at best.

    best      the cheapest schedule with no more violations than allowed; if there is none, the one with the fewest
    frontier  schedules that no other one surpasses, by growing violations, each run with the first seed only
    """

    best: Run
    frontier: tuple[Run, ...]


def oracle(simulation: Simulation, seeds: Sequence[int], allowed: float = ALLOWED) -> Oracle:
    """Find the best schedules for the load of a simulation; its policy, guards and seed do not matter."""
    chance = left_to_chance(simulation)
    tried: list[Run] = []
    for margin in MARGINS if chance else (0.0,):
        planned = _Margin(simulation, seeds, schedules(simulation, margin * chance))
        tried.append(planned.best(allowed))
        if tried[-1].violation_ratio <= allowed:
            break
    return Oracle(best=_better(tried, allowed), frontier=_undominated(planned.shown()))


def left_to_chance(simulation: Simulation) -> float:
    """The relative standard deviation of what the oracle does not know: service times, bursts, single arrivals."""
    arrivals, noise = simulation.conditions.arrivals, simulation.workload.job.engine.noise
    if arrivals is None:
        return noise
    single = 1.0 / max(1.0, simulation.workload.trace.peak * simulation.step_seconds)
    return math.sqrt(noise**2 + arrivals.deviation**2 + single)


class _Margin:
    """The schedules of one margin, run as far as needed."""

    def __init__(self, simulation: Simulation, seeds: Sequence[int], ways: Sequence[Way]) -> None:
        self._simulation, self._seeds, self._ways = simulation, seeds, ways
        self._first: dict[int, Result] = {}  # by the number of the way: its run with the first seed

    def best(self, allowed: float) -> Run:
        """The schedule that just stays within what is allowed; the one with the fewest violations if none does."""
        number = self._last_within(allowed)
        run = self._run_all(number)
        while run.violation_ratio > allowed and number > 0:  # other seeds may be less kind than the first
            number -= max(1, number // 8)
            run = self._run_all(number)
        return run

    def shown(self) -> list[Run]:
        seconds = self._simulation.workload.trace.seconds
        for part in SHOWN:
            self._try(sum(way.violated_seconds <= part * seconds for way in self._ways[1:]))
        return [Run(self._ways[number].schedule, (result,)) for number, result in self._first.items()]

    def _last_within(self, allowed: float) -> int:
        """The dearest step down the front that stays within what is allowed with the first seed, by bisection."""
        low, high = 0, len(self._ways)
        for _ in range(TRIES):
            middle = (low + high) // 2
            if middle == low:
                break
            low, high = (middle, high) if self._try(middle).violation_ratio <= allowed else (low, middle)
        return low

    def _try(self, number: int) -> Result:
        if number not in self._first:
            self._first[number] = self._run(number, self._seeds[0])
        return self._first[number]

    def _run(self, number: int, seed: int) -> Result:
        return self._ways[number].schedule.run(self._simulation, seed, NAME)

    def _run_all(self, number: int) -> Run:
        others = (self._run(number, seed) for seed in self._seeds[1:])
        return Run(self._ways[number].schedule, (self._try(number), *others))


def _better(runs: Sequence[Run], allowed: float) -> Run:
    within = [run for run in runs if run.violation_ratio <= allowed]
    if within:
        return min(within, key=lambda run: run.core_seconds)
    return min(runs, key=lambda run: run.violation_ratio)


def _undominated(runs: Sequence[Run]) -> tuple[Run, ...]:
    kept: list[Run] = []
    for run in sorted(runs, key=lambda run: (run.violation_ratio, run.core_seconds)):
        if not kept or run.core_seconds < kept[-1].core_seconds:
            kept.append(run)
    return tuple(kept)
