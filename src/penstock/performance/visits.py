"""How often a record from outside visits each operator: shares of the edges, multiplied along the graph.

Glossary (PSPS, equations 2b and 2c):

    theta_i^p  share of an edge: records that operator i received from p, for each record that p processed
    theta_i    visits: records that reach operator i, for each record that enters the job at a root
"""

from __future__ import annotations

from collections.abc import Mapping

from penstock.model import MissingFigureError, Sample, Topology

Shares = Mapping[str, Mapping[str, float]]
"""Child -> parent -> theta_i^p."""


def edge_shares(topology: Topology, samples: tuple[Sample, ...]) -> dict[str, dict[str, float]]:
    """The share of every edge, each from the newest sample in which its parent processed something (2c).

    A child without `records_from` is taken to have received all that its parent emitted.
    """
    return {
        child: {parent: _share(parent, child, samples) for parent in topology.parents[child]}
        for child in topology.names
    }


def _share(parent: str, child: str, samples: tuple[Sample, ...]) -> float:
    missing = "records_in"
    for sample in reversed(samples):
        sender, receiver = sample.operators.get(parent), sample.operators.get(child)
        if sender is None or not sender.records_in:
            continue
        received = receiver.records_from if receiver is not None else None
        if received is not None and parent in received:
            return received[parent] / sender.records_in
        if sender.records_out is not None:
            return sender.records_out / sender.records_in
        missing = "records_out"
    raise MissingFigureError(missing, parent)


def visits(topology: Topology, shares: Shares) -> dict[str, dict[str, float]]:
    """For every operator, the visits that one record entering at each root brings it (2b).

    A job with several roots has several streams, whose rates may change independently: each has visits of its own.

    >>> from penstock.model import Operator
    >>> names, edges = ("o1", "o2", "o3", "o4"), (("o1", "o2"), ("o1", "o3"), ("o2", "o4"), ("o3", "o4"))
    >>> diamond = Topology(tuple(map(Operator, names)), edges)
    >>> theta = visits(diamond, {"o2": {"o1": 0.7}, "o3": {"o1": 0.3}, "o4": {"o2": 0.4, "o3": 1.0}})
    >>> round(theta["o4"]["o1"], 12)
    0.58
    """
    theta: dict[str, dict[str, float]] = {}
    for name in topology.order:
        theta[name] = {name: 1.0} if not topology.parents[name] else {}
        for parent in topology.parents[name]:
            for root, reached in theta[parent].items():
                theta[name][root] = theta[name].get(root, 0.0) + shares[name][parent] * reached
    return {name: theta[name] for name in topology.names}
