"""A job under a policy, to be run on Spark and in the simulator alike, and what was seen of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import timedelta
from functools import partial

from penstock.control.assembly import Steering
from penstock.guards import GuardOptions, only
from penstock.load.trace import Trace
from penstock.model import Cycle, Execution, Plan, Sample, Slo, Topology
from penstock.performance import throughput
from penstock.performance.bayesian.search_space import Configuration
from penstock.report.item import Series
from penstock.runs.result import Result
from penstock.runs.spark_workload import SparkWorkload
from penstock.runs.summary import RunSummary

Cycles = Sequence[Cycle]

RESTART, HANDOVER = "restart", "handover"
KEEP_UP = 0.05
"""How far the throughput of a window may lie below the input: in batches of 2 s the pause between two of them shows."""


@dataclass(frozen=True)
class Trial(Steering):
    """A job, its load and its target, and who decides. The other fields are those of `Steering`.

    label             the name that progress shows
    job               the job, as Spark runs it
    trace, slo        load and target
    start             the plan that it begins with
    execution         concurrent: the real-time engine; sequential: micro-batches
    guards            left out by default: a paper's policy is shown as it is
    interval          from one decision to the next; one is made only when something new was measured
    batch_seconds     how long Spark's batches are, which are the windows of measurement in real time
    change            how the real-time engine changes a plan: a restart, or a hand-over without an interruption
    backlog           records that wait in the source when the job starts; in real time only
    enough            whether what was seen so far is all that is wanted; else it lasts as long as the trace
    on_cycle          called with every cycle on Spark, for what follows a decision besides its plan
    """

    label: str
    job: SparkWorkload
    trace: Trace
    slo: Slo
    start: Plan
    _: KW_ONLY
    execution: Execution = Execution.CONCURRENT
    guards: GuardOptions | None = field(default_factory=only)
    interval: str | timedelta = "2 s"
    batch_seconds: float = 2.0
    change: str = RESTART
    backlog: int = 0
    enough: Callable[[Cycles], bool] = lambda cycles: False
    on_cycle: Callable[[Cycle], None] = lambda cycle: None

    @property
    def hands_over(self) -> bool:
        """Whether a change leaves the job running."""
        return self.execution is Execution.CONCURRENT and self.change == HANDOVER


@dataclass(frozen=True)
class Run:
    """A trial that was run: its cycles, with times from when records began to come.

    cpu_seconds  CPU seconds of all tasks, as Spark counts them, from the start of the job to its end, without those of
                 the batch that runs then; None: not known, as in the simulator
    """

    trial: Trial
    topology: Topology
    cycles: tuple[Cycle, ...]
    cpu_seconds: float | None = None

    @property
    def cores_in_use(self) -> float | None:
        """How many cores were at work on average."""
        seconds = self.cycles[-1].t if self.cycles else 0.0
        return None if self.cpu_seconds is None or not seconds else self.cpu_seconds / seconds

    @property
    def samples(self) -> tuple[Sample, ...]:
        """Every window, also those of a warm-up."""
        return tuple(sample for cycle in self.cycles for sample in cycle.samples)

    @property
    def settled(self) -> tuple[Sample, ...]:
        """The windows of the last plan, after its warm-up."""
        last = next((cycle.t for cycle in reversed(self.cycles) if cycle.changed), 0.0)
        return tuple(sample for sample in self.samples if sample.t >= last and not sample.warm_up)

    @property
    def plans(self) -> tuple[Configuration, ...]:
        """The plans in force one after the other, from the first one on."""
        changed = (cycle.decision.plan for cycle in self.cycles if cycle.changed)
        return tuple(tuple(plan.parallelism.values()) for plan in (self.trial.start, *changed))

    @property
    def throughput(self) -> Series:
        """The throughput over time, for a chart."""
        return self.line(lambda sample: sample.throughput or 0.0)

    def line(self, figure: Callable[[Sample], float | None]) -> Series:
        """A figure of every window that has it over time, for a chart."""
        found = [(sample.end, value) for sample in self.samples if (value := figure(sample)) is not None]
        return Series(self.trial.label, tuple(end for end, _ in found), tuple(value for _, value in found))

    @property
    def result(self) -> Result:
        """The figures that policies are compared by."""
        slots = partial(self.trial.execution.slots, topology=self.topology)
        summary = RunSummary(self.trial.slo, slots, Plan.largest(self.topology))
        for cycle in self.cycles:
            summary(cycle)
        return summary.result(
            policy=self.trial.chosen_policy().name,
            workload=self.trial.job.name,
            trace=self.trial.trace.name,
            seed=0,
            seconds=self.cycles[-1].t if self.cycles else 0.0,
        )


def plan_of(job: SparkWorkload, configuration: Configuration) -> Plan:
    return Plan(dict(zip(job.service_ms, configuration, strict=True)))


def keeps_up(cycle: Cycle) -> bool:
    """Whether the newest window of a cycle shows a settled job that completes what comes in."""
    if not cycle.samples or cycle.samples[-1].warm_up:
        return False
    newest = cycle.samples[-1]
    return throughput.keeps_up(newest.throughput or 0.0, newest.offered_rate, KEEP_UP)
