"""Policies against each other: every policy on every load, with the same seeds, spread over Spark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

from threadpoolctl import threadpool_limits

from penstock.guards import only
from penstock.model import Cycle, PenstockError
from penstock.runs.oracle import NAME, Oracle, oracle
from penstock.runs.result import Result
from penstock.runs.simulation import Simulation
from penstock.runs.sweep import OpensSpark, spread


class BrokenRunError(PenstockError):
    """A run that ended, but does not show what its policy can do."""


@dataclass(frozen=True)
class Entrant:
    """A policy on a load; its simulation is copied for each seed, so its policy must not have learnt anything."""

    label: str
    simulation: Simulation

    def failed(self, seed: int, why: str) -> Failure:
        load = self.simulation.workload
        return Failure(load.name, load.trace.name, self.label, seed, why)


@dataclass(frozen=True)
class Failure:
    """A run without a result, and why."""

    workload: str
    trace: str
    policy: str
    seed: int
    why: str

    def __str__(self) -> str:
        return f"{self.policy} on {self.workload}, {self.trace}, seed {self.seed}: {self.why}"


@dataclass(frozen=True)
class Standings:
    """What came of a contest: the results of each entrant in the order of the seeds, and the runs that failed.

    `stopped_early`: neither holds what was not run any more. `oracles` has one for each load, or None if it failed.
    """

    results: tuple[tuple[Result, ...], ...]
    failures: tuple[Failure, ...]
    stopped_early: bool
    oracles: tuple[Oracle | None, ...] = ()


@dataclass(frozen=True)
class Contest:
    """Entrants and the seeds that each of them is run with, and loads that an oracle is asked for as well.

    Of the simulations in `loads` only load, job, interval and conditions matter.
    """

    entrants: Sequence[Entrant]
    seeds: Sequence[int]
    loads: Sequence[Simulation] = ()

    def __len__(self) -> int:
        return len(self.entrants) * len(self.seeds) + len(self.loads)

    def run(
        self,
        open_spark: OpensSpark | None,
        on_progress: Callable[[int], None] = lambda done: None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> Standings:
        """Run it all on the Spark that is opened for it, or in this process if None; the results are the same."""
        if open_spark is not None:
            self._compile()
        simulations = tuple(entrant.simulation for entrant in self.entrants)
        asked = [_Question(number, tuple(self.seeds)) for number in range(len(self.loads))]
        runs = list(product(range(len(self.entrants)), self.seeds))
        # Oracles first: each takes as long as many runs.
        found = spread(
            partial(_do, simulations, tuple(self.loads)), [*asked, *runs],
            open_spark=open_spark, on_progress=on_progress, stopped=stopped,
        )  # fmt: skip
        results: list[list[Result]] = [[] for _ in self.entrants]
        oracles: list[Oracle | None] = [None] * len(self.loads)
        failures = []
        for number, question in enumerate(asked):
            answer = found.get(number)
            if answer is not None and isinstance(answer.result, Oracle):
                oracles[number] = answer.result
            elif answer is not None:
                failures.append(Entrant(NAME, self.loads[question.load]).failed(self.seeds[0], str(answer.failure)))
        for number, (index, seed) in enumerate(runs, len(asked)):
            outcome = found.get(number)
            if outcome is not None and isinstance(outcome.result, Result):
                results[index].append(outcome.result)
            elif outcome is not None:
                failures.append(self.entrants[index].failed(seed, str(outcome.failure)))
        return Standings(
            tuple(map(tuple, results)), tuple(failures),
            stopped_early=len(found) < len(runs) + len(asked), oracles=tuple(oracles),
        )  # fmt: skip

    def _compile(self) -> None:
        """A moment of each engine in this process: workers on this machine then find the compiled simulator on disk.

        Else each of them would compile it at the same time, for many seconds; those of other machines do, once.
        """
        engines = {each.simulation.workload.job.engine.execution: each.simulation for each in self.entrants}
        for simulation in engines.values():
            workload = simulation.workload
            short = replace(workload, trace=workload.trace.first(2 * simulation.interval_seconds))
            replace(simulation, workload=short, policy="static", policy_options=None, guards=only(), store=None).run()


@dataclass(frozen=True)
class _Question:
    """Which load the oracle is asked for, and for which seeds."""

    load: int
    seeds: tuple[int, ...]


def _do(
    simulations: Sequence[Simulation], loads: Sequence[Simulation], what: _Question | tuple[int, int]
) -> Result | Oracle:
    # One thread, everywhere: matrices are small, and sums must not depend on how many cores a machine has.
    with threadpool_limits(1):
        if isinstance(what, _Question):
            return oracle(loads[what.load], what.seeds)
        index, seed = what
        # A copy for each run: a learner must not know what another run taught it.
        return replace(deepcopy(simulations[index]), seed=seed).run(_refuse_broken)


def _refuse_broken(cycle: Cycle) -> None:
    reason = cycle.decision.reason
    if reason.code.failure:  # the job holds its plan; in a comparison that would pass for a policy that likes its plan
        raise BrokenRunError(f"after {cycle.t:g} s: {reason.text}")
