"""A fixed plan: the baseline of every other policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from penstock.model import Decision, InvalidValueError, Observation, Plan, Topology
from penstock.model.errors import check_choice, check_whole, unknown
from penstock.model.options import option
from penstock.policies import Policy

AS_IS, MINIMAL, EXPERT, OVER_PROVISIONED = "as_is", "minimal", "expert", "over_provisioned"
KINDS = (AS_IS, MINIMAL, EXPERT, OVER_PROVISIONED)


@dataclass(frozen=True)
class Static(Policy):
    """Goes to one plan and stays there, whatever the load.

    as_is             the plan in force
    minimal           every operator at its min
    expert            what `parallelism` says; operators that it leaves out stay as they are
    over_provisioned  every operator at the highest parallelism it can use
    """

    name: ClassVar[str] = "static"
    source: ClassVar[str] = "AUTOSCALE (2017) and PSPS (2022), as the fixed sizings they compare with"

    kind: str | None = option(None, f"{', '.join(KINDS)}; by default expert with a parallelism, else as_is")
    parallelism: Mapping[str, int] | None = option(None, "of each operator by name, for the kind expert", "instances")

    def __post_init__(self) -> None:
        if self.kind is None:
            object.__setattr__(self, "kind", AS_IS if self.parallelism is None else EXPERT)
        check_choice("kind", str(self.kind), KINDS)
        if (self.kind == EXPERT) != (self.parallelism is not None):
            must = "must be given" if self.kind == EXPERT else "must not be given"
            raise InvalidValueError("parallelism", f"{must} with the kind {self.kind}")
        for operator, k in (self.parallelism or {}).items():
            check_whole(f"parallelism of {operator}", k, 1)

    def decide(self, observation: Observation) -> Decision:
        topology = observation.topology
        chosen = self._chosen(observation.plan, topology)
        target = observation.plan.changed({name: topology.clamp(name, chosen[name]) for name in topology.names})
        return Decision.move(observation.plan, target, f"the plan is fixed: {self.kind}", figures={"kind": self.kind})

    def _chosen(self, plan: Plan, topology: Topology) -> Plan:
        if self.kind == MINIMAL:
            return Plan.smallest(topology)
        if self.kind == OVER_PROVISIONED:
            return Plan.largest(topology)
        fixed = self.parallelism or {}
        for name in fixed:
            if name not in topology.names:
                raise InvalidValueError("parallelism", unknown(name, topology.names))
        return plan.changed(fixed)
