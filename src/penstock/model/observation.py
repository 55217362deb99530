"""What a policy and a guard may look at: everything known at one cycle, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from penstock.model.decision import Decision
from penstock.model.errors import MissingFigureError, check_number, check_required_number
from penstock.model.plan import Execution, Plan, Worker
from penstock.model.sample import Sample
from penstock.model.slo import Slo
from penstock.model.topology import Topology


class Mode(StrEnum):
    """How far Penstock may go."""

    OFF = "off"  # neither decide nor act
    MONITOR = "monitor"  # decide and record, never act
    ACTIVE = "active"  # decide and act


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """One turn of the loop as it was remembered: what was in force, what was decided, what was done.

    `change_seconds` is how long after `t` a change was in force, or had failed; None if nothing was to be changed.
    `leaving` are the executors that were released and were not gone when the cycle ended, so that they still cost; None
    where executors are not changed, or nobody knows.
    """

    t: float
    mode: Mode
    before: Plan
    decision: Decision
    samples: tuple[Sample, ...] = ()
    applied: bool = False
    problem: str | None = None
    change_seconds: float | None = None
    leaving: int | None = None

    def __post_init__(self) -> None:
        check_required_number("cycle: t", self.t)
        check_number("cycle: change_seconds", self.change_seconds)

    @property
    def changed(self) -> bool:
        """Whether the job got another plan."""
        return self.applied and self.decision.plan != self.before

    @property
    def in_force_at(self) -> float:
        """When its change was in force: until its executors had come the job ran with the plan before."""
        return self.t + (self.change_seconds or 0.0)


@dataclass(frozen=True, slots=True)
class Forecast:
    """The input rate expected over the next cycle, by whom, and how far off it has been on average."""

    forecaster: str
    input_rate: float
    mean_absolute_error: float | None = None

    def __post_init__(self) -> None:
        check_required_number("forecast: input_rate", self.input_rate)
        check_number("forecast: mean_absolute_error", self.mean_absolute_error)


@dataclass(frozen=True, kw_only=True)
class Observation:
    """The world at time `t` (seconds on the loop's clock).

    `samples` (oldest first, warm-up windows left out) and `history` (the cycles before this one, oldest
    first) are bounded windows: the store has the rest. `workers` is empty where the cluster does not say. `most_slots`
    is what the guards let a plan take, None where they set no limit: a plan that needs more will be cut.
    """

    t: float
    topology: Topology
    slo: Slo
    plan: Plan
    samples: tuple[Sample, ...]
    history: tuple[Cycle, ...] = ()
    execution: Execution = Execution.CONCURRENT
    forecast: Forecast | None = None
    workers: tuple[Worker, ...] = ()
    most_slots: int | None = None

    @property
    def latest(self) -> Sample:
        if not self.samples:
            raise MissingFigureError("a sample")
        return self.samples[-1]

    @cached_property
    def last_change(self) -> Cycle | None:
        """The newest cycle that gave the job another plan."""
        return next((cycle for cycle in reversed(self.history) if cycle.changed), None)

    def since(self, t: float) -> tuple[Sample, ...]:
        """The samples whose windows lie wholly after `t`."""
        return tuple(sample for sample in self.samples if sample.t >= t)
