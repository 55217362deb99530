"""How a job runs: the parallelism of each operator, the executors, and what that costs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from penstock.model.errors import InvalidValueError, check_required_number, check_whole, unknown
from penstock.model.frozen import FrozenMap
from penstock.model.topology import Topology


@dataclass(frozen=True, slots=True)
class Worker:
    """A machine, or the part of it that the job may use.

    name       what a placement calls it
    cores      cores that instances may claim
    memory_mb  megabytes that they may claim
    slots      processes in which they run, each with at most one instance of an operator, as Storm's workers; None
               means that there are always enough
    """

    name: str
    cores: float
    memory_mb: float = math.inf
    slots: int | None = None

    def __post_init__(self) -> None:
        check_required_number(f"worker {self.name}: cores", self.cores)
        if self.memory_mb != math.inf:
            check_required_number(f"worker {self.name}: memory_mb", self.memory_mb)
        if self.slots is not None:
            check_whole(f"worker {self.name}: slots", self.slots, 1)


@dataclass(frozen=True, slots=True)
class Plan:
    """Parallelism per operator, and the number of executors where the cluster can change it.

    `placement` names a worker for each instance of each operator; without it the cluster places them itself.
    `memory_level` is how often the memory that instances have for their state was doubled; without it they have what
    the job was started with.

    >>> plan = Plan({"split": 2, "count": 3})
    >>> plan["count"], plan.total, str(plan.changed(split=4))
    (3, 5, 'split 4, count 3')
    """

    parallelism: Mapping[str, int]
    executors: int | None = None
    placement: Mapping[str, tuple[str, ...]] | None = None
    memory_level: int | None = None

    def __post_init__(self) -> None:
        if not self.parallelism:
            raise InvalidValueError("parallelism", "must name at least one operator")
        for name, k in self.parallelism.items():
            if type(k) is not int or k < 1:
                check_whole(f"parallelism of {name}", k, 1)
        if self.executors is not None:
            check_whole("executors", self.executors)
        if self.memory_level is not None:
            check_whole("memory_level", self.memory_level)
        if type(self.parallelism) is not FrozenMap:
            object.__setattr__(self, "parallelism", FrozenMap(self.parallelism))
        if self.placement is not None:
            for name, workers in self.placement.items():
                if len(workers) != self.parallelism.get(name):
                    raise InvalidValueError(f"placement of {name}", "must name one worker for each instance")
            placement = FrozenMap({name: tuple(workers) for name, workers in self.placement.items()})
            object.__setattr__(self, "placement", placement)

    @classmethod
    def smallest(cls, topology: Topology) -> Plan:
        """Every operator at its min, and those of one tie at the largest min among them."""
        least = {operator.tie: 1 for operator in topology.operators}
        for operator in topology.operators:
            least[operator.tie] = max(least[operator.tie], operator.min)
        return cls({each.name: each.min if each.tie is None else least[each.tie] for each in topology.operators})

    @classmethod
    def largest(cls, topology: Topology) -> Plan:
        return cls({name: topology.ceiling(name) for name in topology.names})

    def __getitem__(self, name: str) -> int:
        return self.parallelism[name]

    def __str__(self) -> str:
        text = ", ".join(f"{name} {k}" for name, k in self.parallelism.items())
        if self.memory_level:
            text = f"{text}, memory of state times {2**self.memory_level}"
        if self.executors is None:
            return text
        return f"{text}; {self.executors} executor{'' if self.executors == 1 else 's'}"

    @property
    def total(self) -> int:
        """Sum of all parallelism: what the papers count as resources."""
        return sum(self.parallelism.values())

    @property
    def widest(self) -> int:
        return max(self.parallelism.values())

    def changed(self, parallelism: Mapping[str, int] | None = None, /, **by_name: int) -> Plan:
        """The same plan with some operators at another parallelism; where their instances go is open again."""
        merged = FrozenMap({**self.parallelism, **(parallelism or {}), **by_name})
        return self if merged == self.parallelism else replace(self, parallelism=merged, placement=None)

    def settled(self, in_force: Plan) -> Plan:
        """This plan, or the one in force if they differ only in that this one leaves the placement open.

        A policy that says nothing of memory leaves it as it is.
        """
        plan = self
        if self.memory_level is None and in_force.memory_level is not None:
            plan = replace(self, memory_level=in_force.memory_level)
        same = plan.placement is None and replace(in_force, placement=None) == plan
        return in_force if same else plan

    def check(self, topology: Topology) -> None:
        """Refuse a plan that is not for this job: an operator too many or too few."""
        if self.parallelism.keys() == set(topology.names):
            return
        for name in self.parallelism:
            if name not in topology.names:
                raise InvalidValueError("plan: operator", unknown(name, topology.names))
        missing = ", ".join(name for name in topology.names if name not in self.parallelism)
        raise InvalidValueError("plan", f"must give a parallelism for every operator, but not for {missing}")

    def check_bounds(self, topology: Topology) -> None:
        """Refuse a plan that leaves the bounds of an operator of this job, or parts operators that are tied."""
        self.check(topology)
        for operator in topology.operators:
            if not operator.min <= self[operator.name] <= operator.max:
                raise InvalidValueError(
                    f"plan: operator {operator.name}",
                    f"must have from {operator.min} (its min) to {operator.max} (its max) instances, "
                    f"not {self[operator.name]}",
                )
        tied: dict[str, str] = {}
        for operator in topology.operators:
            other = operator.name if operator.tie is None else tied.setdefault(operator.tie, operator.name)
            if self[other] != self[operator.name]:
                raise InvalidValueError(
                    f"plan: operator {operator.name}",
                    f"must have as many instances as {other}, with which it is tied, not {self[operator.name]} "
                    f"beside {self[other]}",
                )


class Execution(StrEnum):
    """How an engine runs the operators of one job, which decides what a plan costs.

    >>> plan, job = Plan({"split": 2, "count": 3}), Topology.chain("split", "count")
    >>> Execution.CONCURRENT.slots(plan, job), Execution.SEQUENTIAL.slots(plan, job)
    (5, 3)
    """

    CONCURRENT = "concurrent"  # each instance has a slot of its own: real-time mode, Storm, Flink
    SEQUENTIAL = "sequential"  # the operators of a micro-batch follow each other on the same slots

    def slots(self, plan: Plan, topology: Topology) -> int:
        """Slots that a plan takes: operators that share their instances share their slots too."""
        if self is Execution.SEQUENTIAL:
            return plan.widest
        if not topology.may_chain:
            return plan.total
        instances = sum(plan[chain[0]] for chain in topology.chains(plan.parallelism))
        return instances + topology.readers(plan.parallelism)
