"""What a learner reads from an observation: the configuration that was really in force, and what was measured."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.model import MissingFigureError, Observation, Plan, Topology
from penstock.performance.backlog import catching_up
from penstock.performance.bayesian.rate_library import Measurement
from penstock.performance.bayesian.search_space import Configuration


@dataclass(frozen=True, slots=True)
class Reading:
    """The newest window; guards or the cluster may have put another configuration in force than was asked for."""

    configuration: Configuration
    measurement: Measurement


def read(observation: Observation) -> Reading:
    """Read the newest window; raises MissingFigureError. Latency is needed only where it has a target."""
    sample, slo = observation.latest, observation.slo
    if sample.throughput is None:
        raise MissingFigureError("throughput")
    for name in observation.topology.names:
        if name not in sample.operators:
            raise MissingFigureError("parallelism", name)
    latency = sample.processing_latency_ms
    latency_ms = None if latency is None else latency.at(slo.statistic)
    if latency_ms is None and slo.latency_ms is not None:
        raise MissingFigureError("processing_latency_ms")
    return Reading(
        tuple(sample.operators[name].parallelism for name in observation.topology.names),
        Measurement(sample.offered_rate, sample.throughput, latency_ms),
    )


def settling(observation: Observation, running_time: float, patience: float = 0.0) -> bool:
    """Whether the newest window shows the effects of a change of plan rather than the plan.

    It does when it began less than `running_time` seconds after the change, and for up to `patience` seconds more
    while the job completes more than comes in: then it works off what waited during the downtime. Once it has, a
    backlog that comes later is no effect of the change.
    """
    change, latest = observation.last_change, observation.latest
    if change is None:
        return False
    since = latest.t - change.t
    if since < running_time:
        return True
    return since < running_time + patience and all(map(catching_up, observation.since(change.t + running_time)))


def refused(observation: Observation, reading: Reading) -> Configuration | None:
    """The configuration that the last cycle asked for and did not get, for a reason that does not pass with time."""
    if not observation.history:
        return None
    cycle = observation.history[-1]
    wanted = configuration_of(cycle.decision.wanted, observation.topology)
    if not cycle.applied or wanted == reading.configuration or observation.latest.t < cycle.t:
        return None
    return None if any(verdict.reason.code.passes for verdict in cycle.decision.verdicts) else wanted


def configuration_of(plan: Plan, topology: Topology) -> Configuration:
    return tuple(plan[name] for name in topology.names)


def plan_of(configuration: Configuration, observation: Observation) -> Plan:
    return observation.plan.changed(by_name(configuration, observation.topology))


def by_name(configuration: Configuration, topology: Topology) -> dict[str, int]:
    return dict(zip(topology.names, configuration, strict=True))
