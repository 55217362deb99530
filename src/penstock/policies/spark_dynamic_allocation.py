"""Spark's dynamic allocation: executors are added while tasks wait for a slot, and released once idle for long.

How Spark's notions appear in a sample of a streaming job, which is one pool of slots:

    slot           room for one task: `tasks_per_executor` in each executor. Sequential operators each use all slots;
                   concurrent operators have an equal part of them each, which the others cannot use
    task           what one slot does in one window. The operator with most tasks counts, as all get the same
                   parallelism: sequentially its tasks are the pool's, concurrently every operator needs as many slots
    running tasks  slots at work: useful seconds / window
    pending tasks  what waits at the window's end (the queue, and the source's backlog at a root) times the useful
                   time of a record / window
    backlogged     there are pending tasks; a queue at the end of a window is taken to have waited all through it
    idle executor  one beyond those that hold all running and pending tasks. Tasks are packed onto as few executors
                   as can hold them; Spark spreads them, and then often finds no executor idle at all
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from penstock.model import Decision, Execution, InvalidValueError, MissingFigureError, Observation, Plan
from penstock.model.errors import check_whole
from penstock.model.options import option
from penstock.performance.waiting import execution_seconds, waiting_records
from penstock.policies import Policy, State

ROUNDING = 1e-9
"""2.0000000001 tasks are 2."""


@dataclass(frozen=True, slots=True)
class Tasks:
    """What Spark's scheduler would see of the newest window."""

    running: int
    pending: int

    @property
    def total(self) -> int:
        return self.running + self.pending


@dataclass
class SparkDynamicAllocation(Policy):
    """Adds 1, 2, 4 ... executors while tasks wait for a slot; releases those that were idle for a minute.

    The number of executors never exceeds what all running and pending tasks could fill. Too high a target is
    lowered immediately, but existing executors stay until they have been idle for long enough.
    """

    name: ClassVar[str] = "spark_dynamic_allocation"
    source: ClassVar[str] = "Apache Spark, ExecutorAllocationManager (spark.dynamicAllocation.*)"
    actuation: ClassVar[str | None] = "live"  # executors join and leave a running job

    scheduler_backlog_timeout: float = option(1.0, "how long tasks wait before executors are first added", "s")
    sustained_scheduler_backlog_timeout: float | None = option(
        None, "how long they wait from then on; none: as scheduler_backlog_timeout", "s"
    )
    executor_idle_timeout: float = option(60.0, "how long an executor is idle before it is released", "s")
    executor_allocation_ratio: float = option(1.0, "executors asked for, of those that all tasks could fill", "ratio")
    tasks_per_executor: int = option(1, "slots of an executor: its cores over those of a task")
    min_executors: int = option(0, "executors that are always kept; never fewer than the smallest plan needs")
    max_executors: int | None = option(None, "executors that are never exceeded; none: what the largest plan can use")

    _target: int | None = field(init=False, default=None)
    _to_add: int = field(init=False, default=1)
    _add_time: float | None = field(init=False, default=None)  # when executors are added if tasks still wait
    _idle_since: list[float | None] = field(init=False, default_factory=list)  # for each executor, busy ones first

    def __post_init__(self) -> None:
        for name in ("scheduler_backlog_timeout", "sustained_scheduler_backlog_timeout", "executor_idle_timeout"):
            seconds = getattr(self, name)
            if seconds is not None and not 0 < seconds < math.inf:
                raise InvalidValueError(name, f"must be positive, not {seconds!r}")
        if not 0 < self.executor_allocation_ratio <= 1:
            ratio = self.executor_allocation_ratio
            raise InvalidValueError("executor_allocation_ratio", f"must be more than 0 and at most 1, not {ratio!r}")
        check_whole("tasks_per_executor", self.tasks_per_executor, 1)
        check_whole("min_executors", self.min_executors)
        if self.max_executors is not None:
            check_whole("max_executors", self.max_executors, max(1, self.min_executors))

    def learn(self, observation: Observation) -> None:
        try:
            tasks = _tasks(observation)
        except MissingFigureError:
            return  # `decide` says what is missing; the timers stop meanwhile
        self._time_the_backlog(tasks, observation.latest.t)
        self._aim(tasks, observation)
        self._time_the_idle(tasks, observation)

    def decide(self, observation: Observation) -> Decision:
        tasks = _tasks(observation)
        before, alive = observation.plan, self._alive(observation)
        target = alive if self._target is None else self._target
        expired = self._expired(observation)
        executors = max(target, alive - expired)
        return Decision.move(
            before,
            self._plan(observation, executors),
            f"{tasks.running} tasks run and {tasks.pending} wait for a slot on {alive} executors",
            figures={
                "running_tasks": tasks.running,
                "pending_tasks": tasks.pending,
                "executors_needed": self._needed(tasks),
                "executors_target": target,
                "executors_to_add": self._to_add,
                "executors_idle": sum(since is not None for since in self._idle_since),
                "executors_idle_for_long": expired,
                "executors": executors,
            },
        )

    def state(self) -> State:
        return {
            "target": self._target,
            "to_add": self._to_add,
            "add_time": self._add_time,
            "idle_since": list(self._idle_since),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        self._target, self._to_add, self._add_time = state["target"], state["to_add"], state["add_time"]
        self._idle_since = list(state["idle_since"])

    # Adding ----------------------------------------------------------------------------------------------------

    def _time_the_backlog(self, tasks: Tasks, window_start: float) -> None:
        if not tasks.pending:
            self._add_time, self._to_add = None, 1
        elif self._add_time is None:
            self._add_time = window_start + self.scheduler_backlog_timeout

    def _aim(self, tasks: Tasks, observation: Observation) -> None:
        """Lower the target to what is needed, or else raise it once for each time-out that passed."""
        needed, now = self._needed(tasks), observation.latest.end
        least, most = self._bounds(observation)
        if self._target is None:
            self._target = self._alive(observation)
        if needed < self._target:
            self._target, self._to_add = max(needed, least), 1
            return
        again = self.sustained_scheduler_backlog_timeout or self.scheduler_backlog_timeout
        while self._add_time is not None and self._add_time <= now:
            before = self._target
            # Executors that exist already need not be asked for again.
            wanted = max(self._target, self._alive(observation)) + self._to_add
            self._target = max(min(wanted, needed, most), least)
            added = self._target - before
            self._to_add = 2 * self._to_add if added == self._to_add else 1
            # A round that fell due while the target was too high anyway is made up for once, not many times.
            self._add_time = max(self._add_time, observation.latest.t) + again
            if added <= 0:  # nor would the next round add any, until something changes
                self._add_time = now + again

    def _needed(self, tasks: Tasks) -> int:
        """Executors that all running and pending tasks could fill, times the ratio."""
        return _whole(tasks.total * self.executor_allocation_ratio / self.tasks_per_executor)

    # Releasing -------------------------------------------------------------------------------------------------

    def _time_the_idle(self, tasks: Tasks, observation: Observation) -> None:
        alive, busy = self._alive(observation), _whole(tasks.total / self.tasks_per_executor)
        known = self._idle_since[:alive] + [None] * (alive - len(self._idle_since))
        window_start = observation.latest.t
        self._idle_since = [
            None if place < busy else window_start if since is None else since for place, since in enumerate(known)
        ]

    def _expired(self, observation: Observation) -> int:
        """How many executors have been idle for as long as the time-out."""
        since_when = observation.latest.end - self.executor_idle_timeout
        return sum(since is not None and since <= since_when for since in self._idle_since)

    # Executors and plans ---------------------------------------------------------------------------------------

    def _alive(self, observation: Observation) -> int:
        plan = observation.plan
        return self._holding(observation, plan) if plan.executors is None else plan.executors

    def _holding(self, observation: Observation, plan: Plan) -> int:
        return math.ceil(observation.execution.slots(plan, observation.topology) / self.tasks_per_executor)

    def _bounds(self, observation: Observation) -> tuple[int, int]:
        topology = observation.topology
        least = max(self.min_executors, self._holding(observation, Plan.smallest(topology)))
        most = self._holding(observation, Plan.largest(topology)) if self.max_executors is None else self.max_executors
        return least, max(least, most)

    def _plan(self, observation: Observation, executors: int) -> Plan:
        """A plan with the same parallelism for every operator; it names executors only if the plan in force does."""
        topology, plan = observation.topology, observation.plan
        slots = executors * self.tasks_per_executor
        each = slots if observation.execution is Execution.SEQUENTIAL else slots // len(topology.names)
        changed = plan.changed({name: topology.clamp(name, each) for name in topology.names})
        return changed if plan.executors is None else replace(changed, executors=executors)


def _tasks(observation: Observation) -> Tasks:
    latest, waiting = observation.latest, waiting_records(observation)
    most = Tasks(0, 0)
    for name in observation.topology.names:
        operator = latest.operators.get(name)
        if operator is None or operator.useful_seconds is None:
            raise MissingFigureError("useful_seconds", name)
        work = waiting[name] * execution_seconds(name, observation.samples) if waiting[name] > 0 else 0.0
        tasks = Tasks(_whole(operator.useful_seconds / latest.seconds), _whole(work / latest.seconds))
        most = max(most, tasks, key=lambda tasks: tasks.total)
    copies = 1 if observation.execution is Execution.SEQUENTIAL else len(observation.topology.names)
    return Tasks(copies * most.running, copies * most.pending)


def _whole(number: float) -> int:
    return math.ceil(number - ROUNDING)
