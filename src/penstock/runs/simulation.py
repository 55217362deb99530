"""Assembles the parts into something that runs. Nothing else does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from penstock.control.clock import Stopwatch
from penstock.control.loop import Loop, Settings
from penstock.control.ports import Store
from penstock.forecast import Forecaster
from penstock.guards import Guard
from penstock.model import Cycle, InvalidValueError, Mode
from penstock.model.errors import check_number, check_whole
from penstock.policies import Policy
from penstock.runs.result import Result, result_of
from penstock.runs.workload import Workload
from penstock.simulator.cluster import SimulatedCluster
from penstock.simulator.job import Change
from penstock.stores.memory import MemoryStore

Listener = Callable[[Cycle], None]
"""Told of each cycle as it ends: a progress bar, a report."""

MOST_STEPS = 1_000_000
"""From one decision to the next, as the arrays of one window lie in memory."""


@dataclass(frozen=True)
class Simulation:
    """A workload under a policy. `change` says what a new plan costs; None leaves it to the policy and the engine.

    `backlog` records wait in the source from the beginning.
    """

    workload: Workload
    policy: Policy
    guards: Sequence[Guard] = ()
    forecaster: Forecaster | None = None
    seed: int = 0
    mode: Mode = Mode.ACTIVE
    decide_seconds: float = 60.0
    step_seconds: float = 1.0
    change: Change | None = None
    backlog: int = 0
    store: Store = field(default_factory=MemoryStore)

    def __post_init__(self) -> None:
        check_number("decide_seconds", self.decide_seconds, 1e-3)
        check_number("step_seconds", self.step_seconds, 1e-3)
        check_whole("backlog", self.backlog)
        if self.step_seconds > self.decide_seconds:
            raise InvalidValueError("step_seconds", f"must not exceed decide_seconds, {self.decide_seconds:g}")
        if self.decide_seconds > MOST_STEPS * self.step_seconds:
            raise InvalidValueError("decide_seconds", f"must be at most {MOST_STEPS} steps of {self.step_seconds:g} s")

    def run(self, listener: Listener = lambda cycle: None, stopped: Callable[[], bool] = lambda: False) -> Result:
        """Run to the end of the trace, one cycle every `decide_seconds`, or until `stopped` says so after one."""
        job = self.workload.job
        # A policy from outside may be any class with a name and a way to decide.
        own_way, measurements = getattr(self.policy, "actuation", None), getattr(self.policy, "measurements", 1)
        cluster = SimulatedCluster(
            job,
            self.workload.trace,
            self.workload.slo,
            seed=self.seed,
            step_seconds=self.step_seconds,
            measure_seconds=self.decide_seconds / measurements,
            change=self.change or (None if own_way is None else Change(own_way)),
            backlog=self.backlog,
        )
        loop = Loop(
            topology=job.topology,
            slo=self.workload.slo,
            policy=self.policy,
            monitor=cluster,
            actuator=cluster,
            store=self.store,
            clock=cluster,
            guards=self.guards,
            forecaster=self.forecaster,
            execution=job.engine.execution,
            workers=job.workers,
            mode=self.mode,
            settings=Settings(interval_seconds=self.decide_seconds, policy_limit_seconds=None),
        )
        decision_ms: list[float] = []
        while not (cluster.over or stopped()):
            cluster.advance(self.decide_seconds)
            watch = Stopwatch()
            cycle = loop.run_once()
            decision_ms.append(watch.lap_ms())
            listener(cycle)
        return result_of(cluster, policy=self.policy.name, seed=self.seed, decision_ms=decision_ms)
