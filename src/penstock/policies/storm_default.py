"""Storm's default scheduler: the parallelism the user gave, spread evenly over all workers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from penstock.model import Decision, Observation, ReasonCode
from penstock.performance.placement import round_robin
from penstock.policies import Policy


@dataclass(frozen=True)
class StormDefault(Policy):
    """Never changes the parallelism; places the instances round robin, once, where the workers are known."""

    name: ClassVar[str] = "storm_default"
    source: ClassVar[str] = "Storm's even scheduler, the baseline of AUTOSCALE (2017) and Dp-Stream (2022)"

    def decide(self, observation: Observation) -> Decision:
        plan, workers = observation.plan, observation.workers
        names = {worker.name for worker in workers}
        here = {worker for places in (plan.placement or {}).values() for worker in places}
        if not workers or (plan.placement is not None and here <= names):
            return Decision.hold(plan, ReasonCode.STEADY, "the default scheduler never changes a running job")
        placement = round_robin(observation.topology, plan.parallelism, workers, plan.placement)
        text = f"{plan.total} instances are spread evenly over {len(workers)} workers"
        return Decision.move(
            plan,
            replace(plan, placement=placement),
            text,
            figures={"placement": {name: list(places) for name, places in placement.items()}},
        )
