"""Slots from executors that come and go while the application runs.

Spark has one set of calls for this, whatever the cluster manager: standalone, YARN and Kubernetes. A request names the
total that the application should have, and never kills an executor. Those that go are decommissioned: they take no new
task, finish the ones they have, and leave.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from py4j.java_gateway import is_instance_of
from pyspark import SparkContext

from penstock.control.clock import WallClock
from penstock.model.errors import InvalidValueError, PenstockError, check_whole
from penstock.spark.executors.bounds import Bounds
from penstock.spark.executors.claim import Claim, claim
from penstock.spark.executors.core_seconds import ExecutorBill, ExecutorCost
from penstock.spark.executors.slots import Holders, NotEnoughSlotsError, SlotSupplier
from penstock.spark.measure.status_json import StatusJson

WAIT_SECONDS = 120.0
LOOK_SECONDS = 0.2


class ExecutorsError(PenstockError):
    """Executors cannot be changed, or the cluster has none to give."""


@dataclass(frozen=True, slots=True)
class Executor:
    """One executor as the driver sees it.

    id             its number in the application
    slots          tasks that it can run at the same time: its cores, unless spark.task.cpus says otherwise
    active_tasks   tasks that it runs now
    cached_blocks  blocks of cached data that it holds
    tasks          tasks that it has been given so far
    """

    id: str
    slots: int
    active_tasks: int = 0
    cached_blocks: int = 0
    tasks: int = 0


class ExecutorSlots(SlotSupplier):
    """Slots by the executor: requests them, waits for them, and releases them.

    cores_each, slots_each  the cores of one executor, and the tasks that it runs at the same time
    requested               the number of executors that was last requested; None before the first request
    """

    def __init__(
        self,
        context: SparkContext,
        *,
        bounds: Bounds | None = None,
        wait_seconds: float = WAIT_SECONDS,
        holders: Holders = tuple,
    ) -> None:
        """
        bounds        the fewest and the most executors; None: one, and as many as the configuration allows
        wait_seconds  how long to wait for executors
        holders       the ids of executors that hold something, such as state: they are the last to be released
        """
        check_context(context)
        self._context = context
        self._jvm: Any = context._jvm
        self._scala: Any = context._jsc.sc()
        self._json = StatusJson(context)
        self.wait_seconds = wait_seconds
        self._bounds = bounds
        self._holders = holders
        self._cancelled = threading.Event()
        self.cores_each, self.slots_each = sizes(context)
        self.requested: int | None = None
        if bounds is not None and self._allowed is not None and bounds.most > self._allowed:
            raise InvalidValueError(
                "executors", f"must be at most {self._allowed}: spark.cores.max has room for no more"
            )

    def present(self) -> list[Executor]:
        """Those that take tasks: registered, and not being decommissioned. Oldest first."""
        active = self._scala.schedulerBackend().isExecutorActive
        found = [
            Executor(each["id"], each["maxTasks"], each["activeTasks"], each["rddBlocks"], each["totalTasks"])
            for each in self._registered()
            if active(each["id"])
        ]
        return sorted(found, key=lambda executor: (len(executor.id), executor.id))

    def leaving(self) -> int:
        """Those that take no new task any more, and cost until they are gone."""
        active = self._scala.schedulerBackend().isExecutorActive
        return sum(not active(each["id"]) for each in self._registered())

    def _registered(self) -> list[dict[str, Any]]:
        """As Spark lists them, in one call: with thousands of them, asking figure by figure takes ten times as long."""
        listed: list[dict[str, Any]] = self._json.read(self._scala.statusStore().executorList(True))
        return [each for each in listed if each["id"] != "driver"]

    def slots(self) -> int:
        return sum(executor.slots for executor in self.present())

    def executors(self) -> int:
        return len(self.present())

    @property
    def fewest(self) -> int:
        return 1 if self._bounds is None else self._bounds.fewest

    @property
    def most(self) -> int | None:
        """The most executors that the application may have; None where nothing limits them."""
        return self._allowed if self._bounds is None else self._bounds.most

    @property
    def _allowed(self) -> int | None:
        """The most executors that the application's own configuration allows; None where nothing limits them."""
        cap = self._context.getConf().get("spark.cores.max")
        return None if cap is None else int(cap) // self.cores_each

    def most_slots(self) -> int:
        return sys.maxsize if self.most is None else self.most * self.slots_each

    def executors_for(self, slots: int) -> int:
        """Whole executors, inside the bounds."""
        wanted = max(self.fewest, math.ceil(slots / self.slots_each))
        return wanted if self.most is None else min(wanted, self.most)

    def slots_for(self, slots: int) -> int:
        return self.executors_for(slots) * self.slots_each

    def require(self, slots: int, ahead: int = 0) -> None:
        """Request executors and wait for them. If not all come in time, those that came stay."""
        if slots > self.most_slots() and self._bounds is not None:
            limit = f"`executors` allows at most {self.most}, with {self.slots_each} slots each"
            raise NotEnoughSlotsError(slots, self.most_slots(), limit)
        total = max(math.ceil(slots / self.slots_each), self.executors_for(max(ahead, self.slots())))
        try:
            self.request(total)
            self.wait_for(slots, self.wait_seconds)
        except ExecutorsError as error:
            self.request(max(self.fewest, self.executors()))
            raise NotEnoughSlotsError(slots, self.slots(), str(error)) from error

    def give_back(self, slots: int, holders: Holders = tuple) -> None:
        """Decommission the executors beyond: idle ones without state or cached data first. The fewest stay."""
        total, there = self.executors_for(slots), self.present()
        if len(there) <= total == self.requested:
            return
        leaving = leave_first(there, {*holders(), *self._holders()})[: max(0, len(there) - total)]
        self.request(total)  # first, or the cluster would replace those who leave
        no_host = getattr(getattr(self._jvm.scala, "None$"), "MODULE$")  # its worker stays
        why = self._jvm.org.apache.spark.scheduler.ExecutorDecommissionInfo("Penstock needs fewer", no_host)
        for each in leaving:
            # The target is set already; and the driver decides this, not the executor.
            self._scala.schedulerBackend().decommissionExecutor(each.id, why, False, False)

    def request(self, total: int) -> None:
        """Request `total` executors from the cluster. They come later: see `wait_for`."""
        check_whole("total", total, 1)
        if self._allowed is not None and total > self._allowed:
            cap = self._context.getConf().get("spark.cores.max")
            raise ExecutorsError(
                f"{total} executors of {self._cores} are more than spark.cores.max ({cap}) has room for; "
                f"raise it, or request at most {self._allowed}"
            )
        no_preference = self._jvm.PythonUtils.toScalaMap({})  # for hosts that have some data
        if not self._scala.requestTotalExecutors(total, 0, no_preference):
            raise ExecutorsError(f"the cluster manager of {self._context.master} did not take the request for {total}")
        self.requested = total

    def wait_for(self, slots: int, limit_seconds: float) -> None:
        """Return once there are as many slots; raises ExecutorsError with the reason after `limit_seconds`."""
        until = time.monotonic() + limit_seconds
        while (there := self.slots()) < slots:
            if time.monotonic() > until:
                given, wanted = there // self.slots_each, math.ceil(slots / self.slots_each)
                raise ExecutorsError(
                    f"the cluster gave {given} of {wanted} executors within {limit_seconds:g} s: no worker has "
                    f"{self._cores} and the memory of an executor free, or other applications are served first"
                )
            if self._cancelled.wait(LOOK_SECONDS):
                raise ExecutorsError("the wait for executors was cancelled")

    def cancel(self) -> None:
        self._cancelled.set()

    def bill(self) -> ExecutorBill:
        cost = ExecutorCost(self._context, WallClock().now())
        return ExecutorBill(cost.core_seconds, self.cores_each, self.most)

    def claim(self, who: str) -> Claim:
        return claim(self._context, who)

    @property
    def _cores(self) -> str:
        return "1 core" if self.cores_each == 1 else f"{self.cores_each} cores"


def leave_first(executors: Collection[Executor], holders: Collection[str] = ()) -> list[Executor]:
    """The executors in the order of least loss: without state and cached data, then idle, then the youngest.

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
        raise ExecutorsError("spark.dynamicAllocation.enabled must be false: it is a second controller")
    if settings.get("spark.decommission.enabled", "").lower() != "true":
        raise ExecutorsError("spark.decommission.enabled must be true: executors leave by decommissioning")
    if master.startswith(("spark://", "local-cluster")):
        for setting in ("spark.executor.cores", "spark.cores.max"):
            if setting not in settings:
                raise ExecutorsError(f"{setting} must be set: a standalone application takes every core otherwise")
