"""Which worker runs which instance: resource-aware best fit, and Storm's even spread.

A placement names one worker for each instance of each operator, as `Plan.placement` does. Both ways of placing keep
the instances that already have a place, so a change moves nothing that need not move.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from penstock.model import FrozenMap, InvalidValueError, Observation, Operator, Plan, Topology, Worker

Placement = Mapping[str, tuple[str, ...]]
"""Operator -> the worker of each of its instances."""

EXACT = 1e-9
"""Claims are sums of decimals such as 0.2: a lack of a billionth of a core is rounding."""


@dataclass(frozen=True, slots=True)
class Room:
    """What is free on a worker; negative where more is claimed than there is."""

    cores: float
    memory_mb: float

    def without(self, operator: Operator, instances: int = 1) -> Room:
        """What is left once so many more instances of an operator run here."""
        return Room(self.cores - instances * operator.cpu_cores, self.memory_mb - instances * operator.memory_mb)

    @property
    def overcommitted(self) -> bool:
        return self.cores < -EXACT or self.memory_mb < -EXACT


def room(workers: Iterable[Worker], topology: Topology, placement: Placement) -> dict[str, Room]:
    """The free cores and memory of each worker; instances on a worker that is not listed take nothing.

    >>> job = Topology((Operator("split", cpu_cores=0.5, memory_mb=256),))
    >>> room([Worker("a", 2, 1024), Worker("b", 2, 1024)], job, {"split": ("a", "a")})["a"]
    Room(cores=1.0, memory_mb=512)
    """
    free = {worker.name: Room(worker.cores, worker.memory_mb) for worker in workers}
    for name, places in placement.items():
        for worker in places:
            if worker in free:
                free[worker] = free[worker].without(topology[name])
    return free


def best_fit(
    topology: Topology,
    parallelism: Mapping[str, int],
    workers: Sequence[Worker],
    keep: Placement | None = None,
    *,
    used_first: bool = True,
) -> Placement:
    """Fill as few workers as possible.

    A new instance goes to the worker it fits on that then has the least room left; with `used_first`, to one already
    in use before an idle one. A worker with slots takes no more instances of one operator than it has slots. Where an
    instance fits nowhere, the worker with the most room takes it: `room` then shows what is over-committed. An
    instance to be removed is released from the worker with the most room.

    >>> job = Topology((Operator("split"), Operator("count")), (("split", "count"),))
    >>> best_fit(job, {"split": 1, "count": 2}, [Worker("a", 2), Worker("b", 2)])
    FrozenMap({'split': ('a',), 'count': ('a', 'b')})
    """
    size = _sizes(workers)
    slots = {worker.name: math.inf if worker.slots is None else worker.slots for worker in workers}

    def fitting(state: _State, operator: Operator) -> str:
        left = {worker: state.free[worker].without(operator) for worker in state.free}
        open_ = [worker for worker in left if state.instances[worker, operator.name] < slots[worker]]
        fits = [worker for worker in open_ if not left[worker].overcommitted]
        if not fits:
            return max(open_ or left, key=lambda worker: size(left[worker]))
        return min(fits, key=lambda worker: (used_first and not state.load[worker], size(left[worker])))

    def roomiest(state: _State, hosts: Iterable[str]) -> str:
        return max(hosts, key=lambda worker: size(state.free[worker]))

    return _place(topology, parallelism, workers, keep, fitting, roomiest)


def round_robin(
    topology: Topology, parallelism: Mapping[str, int], workers: Sequence[Worker], keep: Placement | None = None
) -> Placement:
    """Storm's default scheduler: the same number of instances on every worker, whatever they claim.

    >>> job = Topology((Operator("split"), Operator("count")), (("split", "count"),))
    >>> round_robin(job, {"split": 1, "count": 2}, [Worker("a", 2), Worker("b", 2)])
    FrozenMap({'split': ('a',), 'count': ('b', 'a')})
    """

    def emptiest(state: _State, operator: Operator) -> str:
        return min(state.load, key=lambda worker: state.load[worker])

    def fullest(state: _State, hosts: Iterable[str]) -> str:
        return max(hosts, key=lambda worker: state.load[worker])

    return _place(topology, parallelism, workers, keep, emptiest, fullest)


def placed(
    observation: Observation,
    target: Plan,
    *,
    afresh: bool = False,
    cpu_overcommit: float = 1.0,
    used_first: bool = True,
) -> Plan:
    """A target plan with its instances placed by best fit, where the cluster reports its workers.

    A plan that changes no parallelism stays as it is: to move instances for tidiness alone costs more than it brings.
    `afresh` moves instances that stay as well: for policies that restart the whole job anyway and want few workers in
    use. `cpu_overcommit` is how many times a worker's cores may be claimed, as few instances use all that they claim.
    Memory is never claimed twice.
    """
    if not observation.workers or target.parallelism == observation.plan.parallelism:
        return target
    keep = None if afresh else observation.plan.placement
    workers = [replace(worker, cores=worker.cores * cpu_overcommit) for worker in observation.workers]
    placement = best_fit(observation.topology, target.parallelism, workers, keep, used_first=used_first)
    return replace(target, placement=placement)


@dataclass(frozen=True, slots=True)
class _State:
    """What is free on each worker and how many instances run there, in all and by operator, while placing."""

    free: dict[str, Room]
    load: dict[str, int]
    instances: Counter[tuple[str, str]]

    def change(self, worker: str, operator: Operator, instances: int) -> None:
        self.free[worker] = self.free[worker].without(operator, instances)
        self.load[worker] += instances
        self.instances[worker, operator.name] += instances


def _place(
    topology: Topology,
    parallelism: Mapping[str, int],
    workers: Sequence[Worker],
    keep: Placement | None,
    place_on: Callable[[_State, Operator], str],
    release_from: Callable[[_State, Iterable[str]], str],
) -> Placement:
    if not workers:
        raise InvalidValueError("workers", "must not be empty")
    state = _State(room(workers, topology, {}), {worker.name: 0 for worker in workers}, Counter())
    # The instances of a worker that is gone are gone with it.
    here = {name: [w for w in (keep or {}).get(name, ()) if w in state.free] for name in parallelism}
    for name, places in here.items():
        for worker in places:
            state.change(worker, topology[name], +1)
    for name in parallelism:  # release first: what it frees is there for the others
        while len(here[name]) > parallelism[name]:
            worker = release_from(state, dict.fromkeys(reversed(here[name])))  # among equals the newest goes
            newest = max(i for i, host in enumerate(here[name]) if host == worker)
            del here[name][newest]
            state.change(worker, topology[name], -1)
    for name in topology.order:  # parents first, so neighbours in the graph tend to share a worker
        while len(here.get(name, ())) < parallelism.get(name, 0):
            worker = place_on(state, topology[name])
            here[name].append(worker)
            state.change(worker, topology[name], +1)
    return FrozenMap({name: tuple(places) for name, places in here.items()})


def _sizes(workers: Sequence[Worker]) -> Callable[[Room], float]:
    """Room as one number: cores plus memory, each as a share of the largest worker's."""
    cores = max((worker.cores for worker in workers), default=0.0) or 1.0
    finite = [worker.memory_mb for worker in workers if math.isfinite(worker.memory_mb)]
    memory = max(finite, default=0.0) or 1.0

    def size(free: Room) -> float:
        share = free.memory_mb / memory if math.isfinite(free.memory_mb) else 1.0
        return free.cores / cores + share

    return size
