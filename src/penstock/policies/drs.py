"""DRS: the fewest instances at which a Jackson network meets the latency target, found greedily.

Glossary: performance/jackson.py.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from penstock.model import Decision, Observation, Topology
from penstock.model.errors import check_choice, check_whole
from penstock.model.options import option
from penstock.performance.jackson import Station, mean_sojourn, stable_instances
from penstock.performance.true_rates import arriving, input_rates, true_rates
from penstock.policies import Policy

RATES = ("true", "observed")

NEAR = 1.01
"""A target below the service time cannot be met; then waiting is limited to 1 % of the service time."""


@dataclass(frozen=True)
class Drs(Policy):
    """Gives one instance at a time to the operator that shortens the mean sojourn most, until the target is met.

    It starts from the smallest stable plan, and stays there if there is no target. The target is that of the
    processing latency, else that of the event latency. Waiting times fall ever more slowly as instances are added,
    so the greedy plan is the best of its size, and the smallest that meets the target.

    Observed rates count the whole window as working time, waiting included: an instance with little to do looks
    slow. DRS then grows without need, which is what AuTraScale shows.

    Queueing theory leaves out networks and buffers. The authors' own system therefore scales its estimate by the ratio
    of measured to estimated latency under the plan in force; `calibrated` does the same.
    """

    name: ClassVar[str] = "drs"
    source: ClassVar[str] = "DRS (ToN 2017), as AuTraScale (2021) compares with it"

    rates: str = option("true", "processing rates per second of useful time (true) or of the window (observed)")
    max_total: int | None = option(None, "most instances of all operators together; none: as their maxima allow")
    calibrated: bool = option(False, "scale the model's sojourn to the latency that was measured, as DRS's authors do")

    def __post_init__(self) -> None:
        check_choice("rates", self.rates, RATES)
        if self.max_total is not None:
            check_whole("max_total", self.max_total, 1)

    def decide(self, observation: Observation) -> Decision:
        topology = observation.topology
        rates = true_rates(observation if self.rates == "true" else _with_waiting_as_work(observation))
        inputs = input_rates(observation)
        load = arriving(topology, rates, inputs)
        service = {name: rates[name].processing for name in topology.names}
        entering = sum(inputs.values())
        target = None if observation.slo.latency_ms is None else observation.slo.latency_ms / 1e3
        if self.calibrated and target is not None:
            target /= _underestimate(observation, load, service, entering)
        limit = math.inf if self.max_total is None else self.max_total

        stable = {name: stable_instances(load[name], service[name]) for name in topology.names}
        start = {name: topology.clamp(name, k) for name, k in stable.items()}
        if sum(start.values()) > limit:
            plan = _ration(topology, load, service, limit)
        elif target is None or entering <= 0:
            plan = start
        else:
            stations = {name: Station.of(start[name], load[name], service[name]) for name in topology.names}
            plan = _grow(topology, stations, entering, target, limit)
        sojourn = mean_sojourn({n: Station.of(plan[n], load[n], service[n]) for n in topology.names}, entering)
        return Decision.move(
            observation.plan,
            observation.plan.changed(plan),
            _why(sojourn, target),
            figures={
                "arrival_rate": load,
                "service_rate": service,
                "smallest_stable": stable,
                "target_ms": None if target is None else 1e3 * target,
                "sojourn_ms": 1e3 * sojourn if math.isfinite(sojourn) else None,
            },
        )


def _with_waiting_as_work(observation: Observation) -> Observation:
    """The observation with waiting counted as work."""
    samples = tuple(
        replace(
            sample,
            operators={
                name: replace(operator, useful_seconds=operator.parallelism * sample.seconds)
                for name, operator in sample.operators.items()
            },
        )
        for sample in observation.samples
    )
    return replace(observation, samples=samples)


def _underestimate(
    observation: Observation, load: Mapping[str, float], service: Mapping[str, float], entering: float
) -> float:
    """The ratio of measured to estimated latency under the plan in force; at least 1, as networks take time too."""
    plan, slo = observation.plan, observation.slo
    stations = {name: Station.of(plan[name], load[name], service[name]) for name in observation.topology.names}
    estimated = mean_sojourn(stations, entering)
    latency = observation.latest.processing_latency_ms
    measured = None if latency is None else latency.at(slo.statistic)
    if measured is None or not 0 < estimated < math.inf:
        return 1.0
    return max(1.0, measured / 1e3 / estimated)


def _grow(
    topology: Topology, stations: Mapping[str, Station], entering: float, target: float, limit: float
) -> dict[str, int]:
    """Add instances where they help most, until the mean sojourn meets the target or the limit is reached."""
    now = {name: station for name, station in stations.items() if station.arrival_rate > 0}
    visits = {name: station.arrival_rate / entering for name, station in now.items()}
    service_alone = math.fsum(visits[name] / station.service_rate for name, station in now.items())
    if target <= service_alone:
        target = NEAR * service_alone
    parts = {name: visits[name] * station.sojourn for name, station in now.items()}
    room = limit - sum(station.instances for station in stations.values())

    gains: list[tuple[float, int, str, Station]] = []  # the largest gain first, among equals in graph order

    def offer(place: int, name: str) -> None:
        if now[name].instances < topology.ceiling(name):
            more = now[name].grown()
            heapq.heappush(gains, (-visits[name] * (now[name].wait - more.wait), place, name, more))

    for place, name in enumerate(topology.order):
        if name in now:
            offer(place, name)
    # The sum is taken anew each time: near saturation the first terms are so large that differences lose the rest.
    while gains and room > 0 and sum(parts.values()) > target:
        _, place, name, now[name] = heapq.heappop(gains)
        parts[name] = visits[name] * now[name].sojourn
        room -= 1
        offer(place, name)
    return {name: now.get(name, station).instances for name, station in stations.items()}


def _ration(
    topology: Topology, load: Mapping[str, float], service: Mapping[str, float], limit: float
) -> dict[str, int]:
    """Share out too few instances for a stable job: each goes to the operator that is busiest without it."""
    plan = {name: topology[name].min for name in topology.names}
    room = limit - sum(plan.values())
    busiest = [(-load[n] / service[n] / plan[n], n) for n in topology.names if plan[n] < topology.ceiling(n)]
    heapq.heapify(busiest)
    while busiest and room > 0:
        _, name = heapq.heappop(busiest)
        plan[name] += 1
        room -= 1
        if plan[name] < topology.ceiling(name):
            heapq.heappush(busiest, (-load[name] / service[name] / plan[name], name))
    return plan


def _why(sojourn: float, target: float | None) -> str:
    if not math.isfinite(sojourn):
        return "some operator cannot keep up even with all the instances that it may have"
    spent = f"by queueing theory a record spends {1e3 * sojourn:,.1f} ms in the job"
    if target is None:
        return f"{spent}; no target asks for less"
    return f"{spent}, {'within' if sojourn <= target else 'not within'} the target of {1e3 * target:,.1f} ms"
