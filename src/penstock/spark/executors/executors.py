"""The executors of a running application: how many, who, and how to get more or let some go.

Spark has one set of calls for this, whatever the cluster manager: standalone, YARN and Kubernetes. A request names
the total that the application should have; nobody is ever killed by it. Those who go are decommissioned: they take no
new task, finish the ones they have, and leave.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from py4j.java_gateway import is_instance_of
from pyspark import SparkContext

from penstock.model.errors import PenstockError, check_whole

ASK_EVERY_SECONDS = 0.2


class ExecutorsError(PenstockError):
    """Executors cannot be changed here, or the cluster has none to give."""


@dataclass(frozen=True, slots=True)
class Executor:
    """One executor as the driver sees it.

    slots          tasks that it can run at the same time: its cores, unless spark.task.cpus says otherwise
    active_tasks   tasks that it runs now
    cached_blocks  blocks of cached data that it holds
    """

    id: str
    slots: int
    active_tasks: int = 0
    cached_blocks: int = 0

    @property
    def busy(self) -> bool:
        return self.active_tasks > 0


class Executors:
    """The executors of one application, and the number that was last asked for.

    Refuses at once, in one sentence, where they cannot be changed.
    """

    def __init__(self, context: SparkContext) -> None:
        check_context(context)
        self._context = context
        self._jvm: Any = context._jvm
        self._scala: Any = context._jsc.sc()
        self.cores_each, self.slots_each = sizes(context)
        self.requested: int | None = None

    def present(self) -> list[Executor]:
        """Those that take tasks: registered, and not on their way out. Oldest first."""
        backend, known = self._scala.schedulerBackend(), self._scala.statusStore().executorList(True)
        summaries = (known.apply(i) for i in range(known.size()))
        found = [
            Executor(s.id(), s.maxTasks(), s.activeTasks(), s.rddBlocks())
            for s in summaries
            if s.id() != "driver" and backend.isExecutorActive(s.id())
        ]
        return sorted(found, key=lambda executor: (len(executor.id), executor.id))

    @property
    def slots(self) -> int:
        return sum(executor.slots for executor in self.present())

    @property
    def most(self) -> int | None:
        """How many the application may have by its own configuration; None where nothing limits it."""
        cap = self._context.getConf().get("spark.cores.max")
        return None if cap is None else int(cap) // self.cores_each

    @property
    def _cores(self) -> str:
        return "1 core" if self.cores_each == 1 else f"{self.cores_each} cores"

    def request(self, total: int) -> None:
        """Ask the cluster for `total` executors in all. They come when they come: see `wait_for`."""
        check_whole("total", total, 1)
        if self.most is not None and total > self.most:
            cap = self._context.getConf().get("spark.cores.max")
            raise ExecutorsError(
                f"{total} executors of {self._cores} are more than spark.cores.max ({cap}) has room for; "
                f"raise it, or ask for at most {self.most}"
            )
        nowhere = self._jvm.PythonUtils.toScalaMap({})  # no wish to be near some data
        if not self._scala.requestTotalExecutors(total, 0, nowhere):
            raise ExecutorsError(f"the cluster manager of {self._context.master} did not take the request for {total}")
        self.requested = total

    def release(self, count: int, holders: Collection[str] = ()) -> list[str]:
        """Let `count` executors go, and return who. Those in `holders` (say, of state) are the last to be chosen."""
        check_whole("count", count, 1)
        executors = self.present()
        if count >= len(executors):
            raise ExecutorsError(f"{count} executors cannot go: there are {len(executors)}, and one has to stay")
        leaving = [executor.id for executor in leave_first(executors, holders)[:count]]
        self.request(len(executors) - count)  # first, or the cluster would replace those who leave
        no_host = getattr(getattr(self._jvm.scala, "None$"), "MODULE$")  # its worker stays
        why = self._jvm.org.apache.spark.scheduler.ExecutorDecommissionInfo("Penstock needs fewer", no_host)
        for each in leaving:
            # The target is set already; and it is the driver that wishes this, not the executor.
            self._scala.schedulerBackend().decommissionExecutor(each, why, False, False)
        return leaving

    def wait_for(self, slots: int, limit: float, given_up: Callable[[], bool] = lambda: False) -> None:
        """Return once there are `slots`; after `limit` seconds, or when `given_up` says so, raise with the reason."""
        until = time.monotonic() + limit
        while (there := self.slots) < slots:
            if given_up():
                raise ExecutorsError("nobody waits for these executors any more")
            if time.monotonic() > until:
                given, wanted = there // self.slots_each, math.ceil(slots / self.slots_each)
                raise ExecutorsError(
                    f"the cluster gave {given} of {wanted} executors within {limit:g} s: no worker has {self._cores} "
                    "and the memory of an executor free, or others are served first"
                )
            time.sleep(ASK_EVERY_SECONDS)


def leave_first(executors: Collection[Executor], holders: Collection[str] = ()) -> list[Executor]:
    """Who can go with the least loss: without state and cached data, then idle, then the youngest.

    >>> [e.id for e in leave_first([Executor("0", 2), Executor("1", 2, 1), Executor("2", 2, 0, 7)])]
    ['0', '1', '2']
    """
    youngest = sorted(executors, key=lambda executor: (len(executor.id), executor.id), reverse=True)
    return sorted(youngest, key=lambda e: (e.id in holders, e.cached_blocks, e.active_tasks))


def sizes(context: SparkContext) -> tuple[int, int]:
    """Cores of one executor, and tasks that it runs at the same time."""
    configuration = context.getConf()
    cores = int(configuration.get("spark.executor.cores") or 1)
    return cores, max(1, cores // int(configuration.get("spark.task.cpus") or 1))


def check_context(context: SparkContext) -> None:
    """Refuse an application whose executors cannot be changed while it runs."""
    master = context.master or ""
    check_settings(master, dict(context.getConf().getAll()))
    backend = context._jsc.sc().schedulerBackend()
    if not is_instance_of(context._gateway, backend, "org.apache.spark.ExecutorAllocationClient"):
        raise ExecutorsError(f"master {master} cannot change executors while a job runs")


def check_settings(master: str, settings: Mapping[str, str]) -> None:
    """Refuse a configuration under which executors cannot be changed, or not without harm.

    >>> check_settings("yarn", {"spark.decommission.enabled": "true"})
    """
    if master == "local" or master.startswith("local["):
        raise ExecutorsError(f"master {master} has no executors to change: it runs everything inside the driver")
    if settings.get("spark.dynamicAllocation.enabled", "").lower() == "true":
        raise ExecutorsError("spark.dynamicAllocation.enabled must be false: two controllers would fight each other")
    if settings.get("spark.decommission.enabled", "").lower() != "true":
        raise ExecutorsError("spark.decommission.enabled must be true: executors leave by decommissioning")
    if master.startswith(("spark://", "local-cluster")):
        for setting in ("spark.executor.cores", "spark.cores.max"):
            if setting not in settings:
                raise ExecutorsError(f"{setting} must be set: a standalone application takes every core otherwise")
