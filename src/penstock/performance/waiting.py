"""How many records wait, and how long one record takes: together, the work in front of each operator."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model import MissingFigureError, Observation, Sample
from penstock.performance.true_rates import newest_work


def waiting_records(observation: Observation, names: Iterable[str] | None = None) -> dict[str, float]:
    """Records that wait in front of each operator, or of those named, at the end of the newest window.

    In front of a root that is its queue and the source's backlog; which of the two holds the records depends on
    whether the source pushes or is pulled from, so one of them may be unmeasured. Several roots share the backlog
    in proportion to their input.
    """
    topology, latest = observation.topology, observation.latest
    waiting = {}
    for name in topology.names if names is None else names:
        operator = latest.operators.get(name)
        queue = None if operator is None else operator.queue
        backlog = _backlog_of(name, topology.roots, latest) if name in topology.roots else None
        if queue is None and backlog is None:
            raise MissingFigureError("queue", name)
        waiting[name] = (queue or 0.0) + (backlog or 0.0)
    return waiting


def _backlog_of(root: str, roots: tuple[str, ...], sample: Sample) -> float | None:
    if sample.backlog is None:
        return None
    offered = {name: sample.input_rate_of(name) or 0.0 for name in roots}
    total = sum(offered.values())
    return sample.backlog * (offered[root] / total if total > 0 else 1 / len(roots))


def execution_seconds(name: str, samples: tuple[Sample, ...]) -> float:
    """Useful seconds that one record takes at an operator, from the newest sample in which it had work.

    >>> from penstock.model import OperatorSample
    >>> busy = Sample(t=0, seconds=10, operators={"split": OperatorSample(2, records_in=400, useful_seconds=8)})
    >>> execution_seconds("split", (busy,))
    0.02
    """
    _, _, records, seconds = newest_work(name, samples)
    return seconds / records
