"""The expected effect of a plan: throughput from the true rates, latency from queueing theory, both corrected by
what was measured under the plan in force."""

from __future__ import annotations

import math
from collections.abc import Mapping

from penstock.model import Expected, MissingFigureError, Observation, Plan, Topology
from penstock.performance.critical_path import critical_path
from penstock.performance.jackson import Station
from penstock.performance.true_rates import TrueRates, arriving, headroom, input_rates, true_rates


def expect(observation: Observation, plan: Plan) -> Expected | None:
    """The expected effect of `plan`; None if too little was measured to predict it."""
    try:
        rates, inputs = true_rates(observation), input_rates(observation)
    except MissingFigureError:
        return None
    offered = observation.latest.offered_rate
    if observation.forecast is not None and offered > 0:
        offered = observation.forecast.input_rate
    load = arriving(observation.topology, rates, inputs)
    times = headroom(plan.parallelism, rates, load, observation.topology)
    throughput = offered * min(1.0, times)
    if times <= 1.0:  # queues grow for as long as the load lasts: there is no steady latency
        return Expected(throughput=throughput)
    capacity = times * offered if offered > 0 else None  # an idle job does not show what it could take
    return Expected(throughput, *_latencies(observation, plan, rates, load, capacity))


def _latencies(
    observation: Observation,
    plan: Plan,
    rates: Mapping[str, TrueRates],
    load: Mapping[str, float],
    capacity: float | None,
) -> tuple[float | None, float | None]:
    measured = observation.latest.processing_latency_ms
    if measured is None or measured.mean is None:
        return None, None
    if plan == observation.plan:
        processing = measured.mean
    else:
        topology = observation.topology
        now = sojourn_ms(topology, observation.plan, rates, load)
        then = sojourn_ms(topology, plan, rates, load)
        # What queueing theory does not explain of today's latency (buffers, network) stays as it is.
        unexplained = max(0.0, measured.mean - now) if math.isfinite(now) else 0.0
        processing = unexplained + then
    return processing, _event_latency(processing, observation.latest.backlog, capacity)


def _event_latency(processing: float, backlog: float | None, capacity: float | None) -> float | None:
    """The processing latency, and the time that the job takes to work off the backlog."""
    if backlog == 0:
        return processing
    return None if backlog is None or capacity is None else processing + 1e3 * backlog / capacity


def sojourn_ms(topology: Topology, plan: Plan, rates: Mapping[str, TrueRates], load: Mapping[str, float]) -> float:
    """Mean milliseconds through the critical path if every operator were an M/M/k queue; may be infinite."""
    sojourns = {n: 1e3 * Station.of(plan[n], load[n], rates[n].processing).sojourn for n in topology.names}
    return sum(sojourns[name] for name in critical_path(topology, sojourns))
