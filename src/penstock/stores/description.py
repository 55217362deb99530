"""The description of a job as JSON and back."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.model import Execution, Operator, Topology
from penstock.model.description import JobDescription
from penstock.stores.codec import SloInNumbers, from_json, to_json


@dataclass(frozen=True, slots=True)
class _Graph:
    operators: tuple[Operator, ...]
    edges: tuple[tuple[str, str], ...] = ()
    source_partitions: int | None = None


@dataclass(frozen=True, slots=True)
class _Form:
    topology: _Graph
    slo: SloInNumbers
    execution: Execution
    policy: str
    interval_seconds: float


def description_json(description: JobDescription) -> str:
    return to_json(description)


def read_description(text: str) -> JobDescription:
    """
    >>> from penstock.model import Slo
    >>> job = JobDescription(Topology.chain("a", "b"), Slo(event_latency="5 s"), Execution.SEQUENTIAL, "ds2", 30.0)
    >>> read_description(description_json(job)) == job
    True
    """
    form = from_json(_Form, text)
    graph = Topology(form.topology.operators, form.topology.edges, form.topology.source_partitions)
    return JobDescription(graph, form.slo.slo(), form.execution, form.policy, form.interval_seconds)
