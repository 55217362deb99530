"""Spark Streaming's old dynamic allocation: executors by the ratio of a batch's processing time to its interval.

Every `scaling_interval`, with the ratio averaged over the batches that ended since:

    ratio >= scaling_up_ratio     max(round(ratio), 1) executors are added
    ratio <= scaling_down_ratio   one executor is killed

How its notions appear in a sample:

    ratio     a batch of one interval takes as long as its slowest operator: the highest, over all operators, of the
              load that reaches it over what its instances can do. Above 1 batches queue up, as in Spark Streaming.
              Where operators run sequentially, the samples show what all of them need together
    executor  room for `tasks_per_executor` tasks of every operator, so that all operators have the same parallelism
    receiver  there are none: any executor may be killed, and min_executors is 1
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar

from penstock.model import Decision, InvalidValueError, MissingFigureError, Observation, Plan
from penstock.model.errors import check_whole
from penstock.model.options import option
from penstock.performance.true_rates import arriving, input_rates, true_rates
from penstock.policies import Policy, State


@dataclass
class Dstreams(Policy):
    """Adds executors when batches take nearly their interval, kills one at a time when they take little of it."""

    name: ClassVar[str] = "dstreams"
    source: ClassVar[str] = (
        "Apache Spark, streaming.scheduler.ExecutorAllocationManager (spark.streaming.dynamicAllocation.*)"
    )

    scaling_interval: float = option(60.0, "from one decision to the next (scalingInterval)", "s")
    scaling_up_ratio: float = option(0.9, "processing time over interval from which it adds (scalingUpRatio)", "ratio")
    scaling_down_ratio: float = option(0.3, "the same up to which it kills one (scalingDownRatio)", "ratio")
    min_executors: int = option(1, "executors that are always kept (minExecutors)")
    max_executors: int | None = option(None, "executors that are never exceeded (maxExecutors); none: as many as fit")
    tasks_per_executor: int = option(1, "tasks of each operator that an executor has room for")

    _began: float | None = field(init=False, repr=False, default=None)
    _ratios: list[float] = field(init=False, repr=False, default_factory=list)
    _due: tuple[float, float] | None = field(init=False, repr=False, default=None)  # at what cycle, with what average

    def __post_init__(self) -> None:
        if not 0 < self.scaling_interval < math.inf:
            raise InvalidValueError("scaling_interval", f"must be positive, not {self.scaling_interval!r}")
        if not 0 < self.scaling_down_ratio < self.scaling_up_ratio:
            raise InvalidValueError(
                "scaling_down_ratio",
                f"must be between 0 and scaling_up_ratio ({self.scaling_up_ratio:g}), not {self.scaling_down_ratio!r}",
            )
        check_whole("tasks_per_executor", self.tasks_per_executor, 1)
        check_whole("min_executors", self.min_executors, 1)
        if self.max_executors is not None:
            check_whole("max_executors", self.max_executors, self.min_executors)

    def learn(self, observation: Observation) -> None:
        latest = observation.latest
        self._began = latest.t if self._began is None else self._began
        with suppress(MissingFigureError):  # a batch that was not measured counts as none
            self._ratios.append(max(ratios(observation).values()))
        if latest.end >= self._began + self.scaling_interval - 1e-6:
            if self._ratios:
                self._due = (observation.t, sum(self._ratios) / len(self._ratios))
            self._began, self._ratios = latest.end, []

    def decide(self, observation: Observation) -> Decision:
        plan, each = observation.plan, ratios(observation)
        executors = math.ceil(plan.widest / self.tasks_per_executor)
        figures = {"ratio": each, "executors": executors}
        if self._due is None or self._due[0] != observation.t:
            return Decision.move(plan, plan, "the scaling interval has not passed", figures=figures)
        average = self._due[1]
        if average >= self.scaling_up_ratio:
            executors = self._bounded(executors + max(math.floor(average + 0.5), 1))
        elif average <= self.scaling_down_ratio and executors > self.min_executors:
            executors -= 1
        slowest = max(each, key=lambda name: each[name])
        why = f"a batch takes {average:.0%} of its interval; {slowest} is the slowest"
        target = self._plan(observation, executors)
        return Decision.move(plan, target, why, figures={**figures, "average_ratio": average, "wanted": executors})

    def _bounded(self, executors: int) -> int:
        most = executors if self.max_executors is None else min(executors, self.max_executors)
        return max(most, self.min_executors)

    def _plan(self, observation: Observation, executors: int) -> Plan:
        """The same parallelism for every operator; an allocation that stays as it is changes nothing."""
        plan, topology = observation.plan, observation.topology
        if executors == math.ceil(plan.widest / self.tasks_per_executor):
            return plan
        slots = executors * self.tasks_per_executor
        return plan.changed({name: topology.clamp(name, slots) for name in topology.names})

    def state(self) -> State:
        return {"began": self._began, "ratios": list(self._ratios), "due": None if self._due is None else [*self._due]}

    def restore(self, state: Mapping[str, Any]) -> None:
        self._began, self._ratios = state["began"], list(state["ratios"])
        self._due = None if state["due"] is None else (state["due"][0], state["due"][1])


def ratios(observation: Observation) -> dict[str, float]:
    """The share of an interval that each operator takes for the records of one."""
    rates = true_rates(observation)
    load = arriving(observation.topology, rates, input_rates(observation))
    return {name: load[name] / (rates[name].processing * observation.plan[name]) for name in observation.topology.names}
