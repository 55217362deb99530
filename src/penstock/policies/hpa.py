"""Kubernetes' horizontal pod autoscaler on CPU use, with its tolerance, stabilisation windows and rate policies.

For each operator, whose instances are the pods and request one core each:

    utilization  useful seconds / (instances * seconds), as a whole percentage: what is used of the cores requested
    ratio        utilization / average_utilization
    desired      ceil(ratio * instances), unless the ratio is within the tolerance of 1

The sample has no CPU time of its own: useful time stands for it, as an instance that works on a record keeps its core.
An operator that is busy all the time hides how much more it would need: one step grows it by 100 / average_utilization.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from penstock.model import InvalidValueError, MissingFigureError, Observation
from penstock.model.options import option
from penstock.policies._replicas import Recommendation, ReplicaScaler


@dataclass
class Hpa(ReplicaScaler):
    """Keeps the average CPU use of each operator's instances near a target; shrinks after five minutes only."""

    name: ClassVar[str] = "hpa"
    source: ClassVar[str] = (
        "Kubernetes, HorizontalPodAutoscaler autoscaling/v2: replica_calculator.go and horizontal.go of "
        "pkg/controller/podautoscaler, defaults of its documentation"
    )

    average_utilization: int = option(
        80, "the CPU use aimed at (metrics.resource.target.averageUtilization; 80 where no metric is named)", "%"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.average_utilization < 1:
            raise InvalidValueError("average_utilization", f"must be at least 1, not {self.average_utilization!r}")

    @property
    def utilisation(self) -> float:
        return min(1.0, self.average_utilization / 100)

    def _recommend(self, observation: Observation) -> Recommendation:
        sample, plan = observation.latest, observation.plan
        utilization, replicas = {}, {}
        for name in observation.topology.names:
            operator = sample.operators.get(name)
            if operator is None or operator.useful_seconds is None:
                raise MissingFigureError("useful_seconds", name)
            ready = operator.parallelism
            utilization[name] = int(100 * operator.useful_seconds / (ready * sample.seconds) + 1e-9)
            ratio = utilization[name] / self.average_utilization
            replicas[name] = plan[name] if self._within_tolerance(ratio) else math.ceil(ratio * ready)
        busiest = max(utilization, key=lambda name: utilization[name])
        why = f"{busiest} uses {utilization[busiest]} % of its CPU, {self.average_utilization} % is the target"
        return Recommendation(replicas, why, {"utilization": utilization})
