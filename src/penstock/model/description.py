"""What a job is, as its store keeps it beside the cycles: whoever reads the history later knows what it is about."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.model.plan import Execution
from penstock.model.slo import Slo
from penstock.model.topology import Topology


@dataclass(frozen=True, slots=True)
class JobDescription:
    """A job and how it is steered.

    topology          its operators and how records flow between them
    slo               its targets
    execution         how the engine runs its operators, which decides what a plan costs
    policy            the name of the policy that steers it
    interval_seconds  from one decision to the next
    """

    topology: Topology
    slo: Slo
    execution: Execution
    policy: str
    interval_seconds: float
