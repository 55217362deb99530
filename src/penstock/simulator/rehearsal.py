"""A simulated job that can go back to an earlier moment and try another plan from there."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from penstock.load.trace import Trace
from penstock.model import Execution, Plan, Slo
from penstock.simulator.arrays import Ints, Layout, State, Waiting
from penstock.simulator.cluster import SimulatedCluster
from penstock.simulator.conditions import Conditions
from penstock.simulator.executors import ExecutorPool
from penstock.simulator.job import Change, Job
from penstock.simulator.sequential import END, LATE, TRIGGER

CALM_PART = 0.02
"""A job in which less than this part of a second's records waits is calm: what came before does not matter any more."""

OF_BATCHES = 1.2
"""Micro-batches are calm as long as no more records wait than this many trigger intervals bring."""


@dataclass(frozen=True)
class Moment:
    """Everything that the future of a simulated job depends on. Nobody may change its arrays."""

    steps: int
    down_until: float
    plan: Plan
    layout: Layout
    waiting: tuple[float, Plan] | None
    pool: ExecutorPool | None
    state: State
    waiting_since: Waiting

    @property
    def waiting_records(self) -> float:
        """Records that wait in the source and inside the job."""
        return float(self.state.backlog.sum() + self.state.queue.sum())


class Rehearsal(SimulatedCluster):
    """Tries plans, an interval at a time. Service times do not wander, and records arrive exactly along the curve."""

    def __init__(
        self, job: Job, trace: Trace, slo: Slo, *, step_seconds: float, change: Change | None, conditions: Conditions
    ) -> None:
        calm = replace(job, engine=replace(job.engine, noise=0.0))
        self._layouts: dict[Plan, Layout] = {}
        self._all_arrivals: Ints | None = None
        super().__init__(
            calm, trace, slo, step_seconds=step_seconds, change=change, conditions=replace(conditions, arrivals=None)
        )
        self._all_arrivals = super()._arrivals(max(1, round(trace.seconds / step_seconds)))

    def go_on(self, plan: Plan, steps: int) -> float:
        """Put a plan in force and simulate; returns the seconds in which a target was missed."""
        before = float(self._window.seconds[1])
        self.apply(plan)
        self._advance_until(self._steps + steps)
        return float(self._window.seconds[1]) - before

    def moment(self) -> Moment:
        waiting = self.state.cohort_size.any()  # without a backlog, the ages that it had do not matter
        copied = (
            values if name.startswith("cohort_") and values.ndim == 2 and not waiting else values.copy()
            for name, values in self.state._asdict().items()
        )  # fmt: skip
        pool = copy(self._pool)
        waits: Waiting = Waiting._make(values.copy() for values in self.waiting)
        return Moment(self._steps, self._down_until, self._plan, self._layout, self._next, pool, State(*copied), waits)

    def go_back(self, to: Moment) -> None:
        self._steps, self._down_until = to.steps, to.down_until
        self._plan, self._layout, self._next, self._pool = to.plan, to.layout, to.waiting, copy(to.pool)
        self._t = to.steps * self.step_seconds
        self.supply.clear()
        for here, there in zip((*self.state, *self.waiting), (*to.state, *to.waiting_since), strict=True):
            if here is not there:
                np.copyto(here, there)

    def phase(self, rate: float, phases: int) -> int | None:
        """Where the job is, if nothing is left of the past: no change under way, hardly a record waiting at this rate.

        Operators that run concurrently are at 0 then, micro-batches at one of so many `phases` between two triggers.
        Moments of one plan in the same phase go on in the same way. None means that the past still matters.
        """
        if self._next is not None or self._down_until > self._t:
            return None
        backlog, queues = int(self.state.backlog.sum()), int(self.state.queue.sum())
        if self.job.engine.execution is Execution.CONCURRENT:
            return 0 if backlog == 0 and queues <= max(CALM_PART * rate, float(self._plan.total)) else None
        usual = OF_BATCHES * rate * self.job.engine.batch_seconds + 1
        if backlog > usual or queues > usual or self.state.batch[LATE]:
            return None
        ahead = max(0.0, float(self.state.batch[TRIGGER]) - self._t, float(self.state.batch[END]) - self._t)
        return min(phases - 1, int(phases * ahead / self.job.engine.batch_seconds))

    def _arrivals(self, steps: int) -> Ints:
        if self._all_arrivals is None:
            return super()._arrivals(steps)
        return self._all_arrivals[self._steps : self._steps + steps]

    def _lay_out(self, plan: Plan) -> Layout:
        if plan not in self._layouts:
            self._layouts[plan] = super()._lay_out(plan)
        return self._layouts[plan]


def later(moment: Moment, steps: int) -> Moment:
    """The same moment so many steps later, for operators that run concurrently and have nothing waiting."""
    return replace(moment, steps=moment.steps + steps)
