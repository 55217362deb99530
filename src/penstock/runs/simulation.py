"""A simulated run: a workload under a policy, to the end of its load curve."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from datetime import timedelta

from penstock.control.assembly import Steering, assemble
from penstock.control.clock import Stopwatch
from penstock.control.loop import Loop
from penstock.model import Cycle, InvalidValueError, JobDescription, Latency
from penstock.model.errors import check_number, check_whole
from penstock.runs.result import Result, percentiles
from penstock.runs.workload import Workload
from penstock.simulator.cluster import SimulatedCluster
from penstock.simulator.conditions import IDEAL, Conditions
from penstock.simulator.job import Change
from penstock.stores import open_store

OnCycle = Callable[[Cycle], None]
"""Called with each cycle as it ends: a progress bar, a report."""

MOST_STEPS = 1_000_000
"""From one decision to the next there are at most this many steps: the arrays of one window lie in memory."""


@dataclass(frozen=True)
class Simulation(Steering):
    """A workload under a policy. The other fields are those of `Steering`.

    seed          of all that is random
    step_seconds  seconds that the simulator takes at a time
    change        what a new plan costs; None leaves it to the policy and the engine
    backlog       records that wait in the source from the beginning
    conditions    random arrivals, executors and state, where they shall count
    """

    workload: Workload
    _: KW_ONLY
    interval: str | timedelta = "60 s"
    seed: int = 0
    step_seconds: float = 1.0
    change: Change | None = None
    backlog: int = 0
    conditions: Conditions = IDEAL

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("metrics_port", "dashboard"):
            if getattr(self, name) not in (None, False):
                raise InvalidValueError(name, "must be left out of a simulation: it is for jobs that run live")
        check_number("step_seconds", self.step_seconds, 1e-3)
        check_whole("backlog", self.backlog)
        if self.step_seconds > self.interval_seconds:
            raise InvalidValueError("step_seconds", f"must not exceed the interval, {self.interval_seconds:g} s")
        if self.interval_seconds > MOST_STEPS * self.step_seconds:
            raise InvalidValueError("interval", f"must be at most {MOST_STEPS} steps of {self.step_seconds:g} s")

    def description(self) -> JobDescription:
        """What is steered, and how."""
        job = self.workload.job
        return JobDescription(
            job.topology, self.workload.slo, job.engine.execution, self.chosen_policy().name, self.interval_seconds
        )

    def cluster(self, seed: int, measurements: int = 0) -> SimulatedCluster:
        """The job under its load before anything has happened, measured so often in each interval."""
        return SimulatedCluster(
            self.workload.job,
            self.workload.trace,
            self.workload.slo,
            seed=seed,
            step_seconds=self.step_seconds,
            measure_seconds=self.interval_seconds / measurements if measurements else None,
            change=self.change,
            backlog=self.backlog,
            conditions=self.conditions,
        )

    def run(self, on_cycle: OnCycle = lambda cycle: None, stopped: Callable[[], bool] = lambda: False) -> Result:
        """Run to the end of the trace, one cycle every `interval`, or until `stopped` says so after one.

        A policy that decides with every measurement has a cycle for each of them.
        """
        job, policy = self.workload.job, self.chosen_policy()
        # A policy from outside may be any class with a name and a way to decide.
        own_way, measurements = getattr(policy, "actuation", None), getattr(policy, "measurements", 1)
        decisions = measurements if getattr(policy, "decides_with_every_measurement", False) else 1
        every = max(self.interval_seconds / decisions, self.step_seconds)
        change = self.change or (None if own_way is None else Change(own_way))
        cluster = replace(self, change=change).cluster(self.seed, measurements)
        store = open_store(self.store, job=f"{self.workload.name} {policy.name} {self.seed}")
        loop = assemble(
            replace(self, interval=timedelta(seconds=every)),
            topology=job.topology,
            slo=self.workload.slo,
            monitor=cluster,
            actuator=cluster,
            clock=cluster,
            store=store,
            execution=job.engine.execution,
            policy=policy,
            trigger_seconds=job.engine.batch_seconds,
            workers=job.workers,
            leaving=cluster.leaving,
            policy_limit_seconds=None,
        )
        decision_ms: list[float] = []
        try:
            while not (cluster.over or stopped()):
                _advance(cluster, loop, every)
                watch = Stopwatch()
                cycle = loop.run_once()
                decision_ms.append(watch.lap_ms())
                on_cycle(cycle)
        finally:
            if store is not self.store:  # it was opened for this run
                store.close()
        return result_of(cluster, policy=policy.name, seed=self.seed, decision_ms=decision_ms)


def _advance(cluster: SimulatedCluster, loop: Loop, interval: float) -> None:
    """Let time pass until the next decision: an interval, or less if a window shows that the last one is overtaken."""
    if not loop.may_be_overtaken or cluster.measure_seconds is None:
        cluster.advance(interval)
        return
    for _ in range(max(1, round(interval / cluster.measure_seconds))):
        cluster.advance(cluster.measure_seconds)
        if loop.overtaken():
            return


def result_of(cluster: SimulatedCluster, *, policy: str, seed: int, decision_ms: Sequence[float]) -> Result:
    """Sum up a cluster that has run."""
    total = cluster.total
    seconds, violated, off, offered = total.seconds.tolist()
    processing, event = cluster.latencies()
    mean_parallelism = cluster.instance_seconds / seconds if seconds else 0.0
    completed = float(total.left[0]) / cluster.leaf_visits
    return Result(
        policy=policy,
        workload=cluster.job.name,
        trace=cluster.trace.name,
        seed=seed,
        seconds=seconds,
        violation_ratio=violated / seconds if seconds else 0.0,
        core_seconds=cluster.core_seconds,
        mean_parallelism=mean_parallelism,
        rescales=cluster.rescales,
        processed_ratio=completed / offered if offered else 1.0,
        throughput_degradation=off / offered if offered else 0.0,
        saved_resources=1.0 - mean_parallelism / cluster.job.largest_plan.total,
        lost_records=int(total.dropped.sum()) if not cluster.replays else 0,
        processing_latency_ms=processing or Latency(),
        event_latency_ms=event or Latency(),
        decision_ms=percentiles(decision_ms),
        supply=tuple(cluster.supply),
        unit="slot" if cluster.conditions.executors is None else "core",
    )
