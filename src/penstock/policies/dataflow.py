"""Google Dataflow's horizontal autoscaling of streaming jobs: by backlog upwards, by backlog and CPU downwards.

    backlog_seconds  backlog / throughput: how long it takes to process what waits, if nothing more came
    cpu              useful seconds / (all instances * seconds): how busy the workers are on average
    up               backlogged, and cpu at least `min_cpu`, for `patience`: as many workers as clear the backlog within
                     `clear_seconds` at the throughput that one has now, workers * (input + backlog / clear_seconds) /
                     throughput
    down             a backlog below `low_backlog`, and cpu below `worker_utilization_hint`, for `patience`: as many
                     workers as are busy to that hint

Google publishes conditions and figures, not the algorithm. From a quotation of its documentation: 20 % of CPU, 150 s,
10 s, "a couple minutes", and 75 % of CPU to shrink to. The hint of 80 % and the 15 s are taken to be today's figures;
they were not found again in the text. Assumed besides:

    workers    a worker runs whatever stage has work, so that a number of workers is shared among the operators in
               proportion to their useful time; growing takes nothing from any operator, shrinking gives nothing to any
    patience   "a couple of minutes", under the plan in force: 120 s
    backlogged more than 15 s of backlog
    the rest   steps of its own, limits by keys and disks, and what it predicts from timers are not known and left out
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from penstock.model import Decision, InvalidValueError, MissingFigureError, Observation, Sample
from penstock.model.options import option
from penstock.policies import Policy

ROUNDING = 1e-9
"""Shares are quotients: 2.0000000001 instances are 2."""


@dataclass(frozen=True)
class Dataflow(Policy):
    """Adds workers to clear a lasting backlog in 150 s; removes them down to a CPU use when there is none."""

    name: ClassVar[str] = "dataflow"
    source: ClassVar[str] = (
        "Google Cloud Dataflow, documentation of Horizontal Autoscaling for streaming jobs; how the conditions become "
        "a number, and two of the figures, are assumed"
    )

    worker_utilization_hint: float = option(
        0.8, "CPU use that it aims at (service option worker_utilization_hint)", "ratio"
    )
    high_backlog: float = option(15.0, "more waits than this: the job is backlogged", "s")
    low_backlog: float = option(10.0, "less waits than this: workers may go", "s")
    clear_seconds: float = option(150.0, "time in which added workers clear the backlog", "s")
    min_cpu: float = option(0.2, "below this CPU use more workers would not help", "ratio")
    patience: float = option(120.0, "how long a condition must have held", "s")

    def __post_init__(self) -> None:
        if not 0 < self.worker_utilization_hint <= 1:
            hint = self.worker_utilization_hint
            raise InvalidValueError("worker_utilization_hint", f"must be more than 0 and at most 1, not {hint!r}")
        if not 0 <= self.low_backlog <= self.high_backlog < math.inf:
            raise InvalidValueError(
                "low_backlog", f"must be between 0 and high_backlog ({self.high_backlog:g}), not {self.low_backlog!r}"
            )
        for name in ("clear_seconds", "min_cpu", "patience"):
            if not 0 <= getattr(self, name) < math.inf or (name == "clear_seconds" and self.clear_seconds == 0):
                raise InvalidValueError(name, f"must be positive, not {getattr(self, name)!r}")

    @property
    def utilisation(self) -> float:
        return self.worker_utilization_hint

    def decide(self, observation: Observation) -> Decision:
        plan, topology, names = observation.plan, observation.topology, observation.topology.names
        sample = observation.latest
        busy = {name: _useful_seconds(sample, name) / sample.seconds for name in names}
        waits, cpu = backlog_seconds(sample), sum(busy.values()) / plan.total
        wanted = dict(plan.parallelism)
        if self._lasting(observation, lambda each: self._backlogged(each, names)):
            workers = plan.total * self._pace(sample)
            shares = {name: busy[name] / sum(busy.values()) for name in names}
            wanted = {name: max(plan[name], _whole(workers * shares[name])) for name in names}
        elif self._lasting(observation, lambda each: self._idle(each, names)):
            wanted = {name: min(plan[name], max(1, _whole(busy[name] / self.utilisation))) for name in names}
        target = plan.changed({name: topology.clamp(name, k) for name, k in wanted.items()})
        why = f"{waits:,.1f} s of backlog wait and the workers use {cpu:.0%} of their CPU"
        return Decision.move(
            plan, target, why, figures={"backlog_seconds": waits, "cpu": cpu, "busy_instances": busy, "wanted": wanted}
        )

    def _pace(self, sample: Sample) -> float:
        """How many times the present throughput clears the backlog in time while records go on coming."""
        throughput, backlog = _throughput(sample), _backlog(sample)
        return (sample.offered_rate + backlog / self.clear_seconds) / throughput

    def _backlogged(self, sample: Sample, names: tuple[str, ...]) -> bool:
        return backlog_seconds(sample) > self.high_backlog and _cpu(sample, names) >= self.min_cpu

    def _idle(self, sample: Sample, names: tuple[str, ...]) -> bool:
        return backlog_seconds(sample) < self.low_backlog and _cpu(sample, names) < self.utilisation

    def _lasting(self, observation: Observation, holds: Callable[[Sample], bool]) -> bool:
        """Whether something has held in all windows under the plan in force, for as long as it must."""
        begin = observation.latest.end - self.patience + 1e-6
        for sample in reversed(observation.samples):
            ran = all(operator.parallelism == observation.plan[name] for name, operator in sample.operators.items())
            if not ran or not holds(sample):
                return False
            if sample.t <= begin:  # what was before need not have been measured
                return True
        return False


def backlog_seconds(sample: Sample) -> float:
    """How long the job would take to process what waits in the source, if nothing more came.

    >>> backlog_seconds(Sample(t=0, seconds=10, operators={}, backlog=3000, throughput=200))
    15.0
    """
    backlog = _backlog(sample)
    return backlog / _throughput(sample) if backlog else 0.0


def _backlog(sample: Sample) -> float:
    if sample.backlog is None:
        raise MissingFigureError("backlog")
    return sample.backlog


def _throughput(sample: Sample) -> float:
    if not sample.throughput:  # a job that completes nothing does not show what a worker can do
        raise MissingFigureError("throughput")
    return sample.throughput


def _useful_seconds(sample: Sample, name: str) -> float:
    operator = sample.operators.get(name)
    if operator is None or operator.useful_seconds is None:
        raise MissingFigureError("useful_seconds", name)
    return operator.useful_seconds


def _cpu(sample: Sample, names: tuple[str, ...]) -> float:
    useful = sum(_useful_seconds(sample, name) for name in names)
    return useful / (sample.seconds * sum(sample.operators[name].parallelism for name in names))


def _whole(number: float) -> int:
    return math.ceil(number - ROUNDING)
