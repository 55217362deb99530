"""A model of a job whose operators run concurrently, learnt from its windows, that is not bound to one rate.

Glossary, for operator i with k instances at an input rate r of the whole job:

    v_i   visits: records that reach it for each one offered to the job
    s_i   useful seconds of one record with k instances (`service_curve`)
    rho   utilisation: r v_i s_i / k
    q_i   the mean wait in an M/M/k queue, by Erlang C
    b_i   burstiness: the wait that was measured, as a multiple of q_i
    x     sum of s_i + b_i q_i along the heaviest path; the latency is what `latency_fit` makes of it, and what the
          hops between chains take where operators may share their instances (`hop_cost`)

What a plan can carry follows from these in `ladder`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.model import OperatorSample, Sample, Slo, Topology
from penstock.performance.backlog import works_off
from penstock.performance.chained_ladder import ChainedStations, hops, longest_path
from penstock.performance.hop_cost import HopCost
from penstock.performance.ladder import BUSIEST, Station, Stations, wait
from penstock.performance.latency_fit import LEAST, LatencyFit, latency_ms
from penstock.performance.rungs import Rung
from penstock.performance.service_curve import ServiceCurve

FADE = 0.995
"""What a window counts for in the burstiness after the next one."""

PACE = 0.1
"""How much of the newest window goes into a share of the flow."""

WAITING_SECONDS = 1.0
"""More work than this in front of an operator is a queue that built up, not the waiting of a steady state."""


@dataclass
class OperatorModel:
    """What is known of one operator.

    waited, queueing  sums with forgetting of the wait that was measured and of q; their quotient is the burstiness
    shares            records that it gets for each one that a parent processes; under "" of the input, for a root
    """

    curve: ServiceCurve = field(default_factory=ServiceCurve)
    waited: float = 0.0
    queueing: float = 0.0
    shares: dict[str, float] = field(default_factory=dict)

    @property
    def burstiness(self) -> float:
        return self.waited / self.queueing if self.queueing > 0 else 1.0

    def state(self) -> dict[str, Any]:
        return {
            "curve": self.curve.state(), "waited": self.waited, "queueing": self.queueing, "shares": dict(self.shares)
        }  # fmt: skip

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> OperatorModel:
        return cls(ServiceCurve.restored(state["curve"]), state["waited"], state["queueing"], dict(state["shares"]))


class JobModel:
    """The operators of a job, and its latency."""

    def __init__(self) -> None:
        self.operators: dict[str, OperatorModel] = {}
        self.latency_fit = LatencyFit()
        self.hop_cost = HopCost()
        self.outside = 0.0  # seconds by which the event latency exceeds the one that `latency_fit` follows
        self.windows = 0

    # Learn -----------------------------------------------------------------------------------------------------------

    def learn(self, sample: Sample, topology: Topology, slo: Slo) -> None:
        """Take in a window; a figure that it lacks leaves what was known."""
        calm = not works_off(sample, slo)
        for name in topology.names:
            operator = sample.operators.get(name)
            if operator is not None:
                self._learn_operator(name, operator, sample, topology, calm)
        self.windows += 1
        if calm:
            self._learn_latency(sample, topology, slo)

    def _learn_operator(
        self, name: str, operator: OperatorSample, sample: Sample, topology: Topology, calm: bool
    ) -> None:
        known = self.operators.setdefault(name, OperatorModel())
        _learn_shares(name, known.shares, operator, sample, topology)
        records, useful, k = operator.records_in, operator.useful_seconds, operator.parallelism
        if not records or not useful:
            return
        known.curve.learn(k, max(useful, _held(name, sample, topology)) / records)
        seconds = known.curve.at(k)
        if topology.may_chain:
            chain = _chain_of(name, sample, topology)
            if name != chain[0]:
                return  # a record waits in front of the first only
            seconds *= (_useful(chain, sample) or useful) / useful
        rho = records / sample.seconds * seconds / k
        queued = (operator.queue or 0.0) * seconds / k > WAITING_SECONDS
        if operator.latency_ms is not None and calm and rho < BUSIEST and not queued:
            known.waited = FADE * known.waited + max(0.0, operator.latency_ms / 1e3 - useful / records)
            known.queueing = FADE * known.queueing + wait(k, rho, seconds)

    def _learn_latency(self, sample: Sample, topology: Topology, slo: Slo) -> None:
        processing, event = latency_ms(sample, slo)
        measured = event if processing is None else processing
        if event is not None and processing is not None:
            self.outside += PACE * (max(0.0, event - processing) / 1e3 - self.outside)
        plan = {name: each.parallelism for name, each in sample.operators.items()}
        if measured is None or not sample.job_input_rate or not self.knows(topology) or len(plan) < len(topology.names):
            return
        stations = self._stations(topology, slo)
        x = stations.time_inside(plan, sample.job_input_rate, BUSIEST)
        if not math.isfinite(x):
            return
        if topology.may_chain:
            self.hop_cost.learn(hops(topology, plan), measured / 1e3 - self.latency_fit.factor * x)
        self.latency_fit.learn(x, measured / 1e3 - self._hopping(topology, plan))

    def waiting(self, sample: Sample) -> float:
        """Records that wait, in the source and in front of operators."""
        return sample.waiting

    # Predict ---------------------------------------------------------------------------------------------------------

    def knows(self, topology: Topology) -> bool:
        """Whether something was measured of every operator."""
        return all(name in self.operators and self.operators[name].curve for name in topology.names)

    def latency(self, parallelism: Mapping[str, int], rate: float, topology: Topology, slo: Slo) -> float:
        """Seconds by the statistic of the slo; infinite where queues grow."""
        stations = self._stations(topology, slo)
        return self.latency_fit.at(stations.time_inside(parallelism, rate)) + self._hopping(topology, parallelism)

    def sooner(self, parallelism: Mapping[str, int], topology: Topology) -> float | None:
        """Seconds that records save on hops under a plan, against instances of its own for each operator."""
        if (hop := self.hop_cost.seconds) is None:
            return None
        apart = longest_path(topology) - 1 + any(operator.readers for operator in topology.operators)
        return hop * (apart - hops(topology, parallelism))

    def rung(self, parallelism: Mapping[str, int], topology: Topology, slo: Slo) -> Rung:
        return self._stations(topology, slo).rung(parallelism)

    def ladder(self, rates: Sequence[float], topology: Topology, slo: Slo) -> list[Rung]:
        return self._stations(topology, slo).ladder(rates)

    def noise(self, topology: Topology) -> float:
        """The standard deviation of what a plan carries from one window to the next, as a share of it."""
        return max(self.operators[name].curve.noise for name in topology.names)

    def _stations(self, topology: Topology, slo: Slo) -> Stations | ChainedStations:
        visits: dict[str, float] = {}
        for name in topology.order:
            shares, parents = self.operators[name].shares, topology.parents[name]
            visits[name] = sum(visits[p] * shares.get(p, 1.0) for p in parents) if parents else shares.get("", 1.0)
        stations = {
            name: Station(each.curve, visits[name], each.burstiness) for name, each in self.operators.items()
            if name in visits
        }  # fmt: skip
        target, hop = target_seconds(slo, self.outside), self.hop_cost.seconds or 0.0
        if topology.may_chain:
            return ChainedStations(
                topology, stations, lambda hops: self.latency_fit.budget(max(LEAST * target, target - hop * hops))
            )
        return Stations(topology, stations, self.latency_fit.budget(target))

    def _hopping(self, topology: Topology, parallelism: Mapping[str, int]) -> float:
        """Seconds that hops take under a plan, as far as they are known."""
        hop = self.hop_cost.seconds
        return hop * hops(topology, parallelism) if hop and topology.may_chain else 0.0

    # Remember --------------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        return {
            "operators": {name: each.state() for name, each in self.operators.items()},
            "latency_fit": self.latency_fit.state(),
            "hop_cost": self.hop_cost.state(),
            "outside": self.outside,
            "windows": self.windows,
        }

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> JobModel:
        model = cls()
        model.operators = {name: OperatorModel.restored(each) for name, each in state["operators"].items()}
        model.latency_fit = LatencyFit.restored(state["latency_fit"])
        model.hop_cost = HopCost.restored(state.get("hop_cost", {}))  # older stores have none
        model.outside, model.windows = state["outside"], state["windows"]
        return model


def target_seconds(slo: Slo, outside: float) -> float:
    """What the processing latency may be, if records wait `outside` seconds in the source before it.

    >>> target_seconds(Slo(event_latency="500 ms"), 0.1), target_seconds(Slo(processing_latency="2 s"), 0.1)
    (0.4, 2.0)
    """
    targets = []
    if slo.processing_latency_ms is not None:
        targets.append(slo.processing_latency_ms / 1e3)
    if slo.event_latency_ms is not None or not targets:
        targets.append(max(0.1 * slo.tolerated_lag_seconds, slo.tolerated_lag_seconds - outside))
    return min(targets)


def _learn_shares(
    name: str, shares: dict[str, float], operator: OperatorSample, sample: Sample, topology: Topology
) -> None:
    parents = topology.parents[name]
    if not parents:
        offered, whole = sample.input_rate_of(name), sample.job_input_rate
        if offered is not None and whole:
            _blend(shares, "", offered / whole)
    for parent in parents:
        sender = sample.operators.get(parent)
        if sender is None or not sender.records_in:
            continue
        received = (operator.records_from or {}).get(parent, sender.records_out)
        if received is not None:
            _blend(shares, parent, received / sender.records_in)


def _blend(shares: dict[str, float], key: str, value: float) -> None:
    shares[key] = value if key not in shares else shares[key] + PACE * (value - shares[key])


def _held(name: str, sample: Sample, topology: Topology) -> float:
    """Seconds that the instances of an operator were held, if records waited in front of it and not behind it: all.

    What it did then is all that it can do, however little of the time it seems to have worked: on busy cores an
    instance waits for its turn, and that is no useful time. Operators that read themselves have the source in front of
    them.
    """
    operator = sample.operators[name]
    rate = (operator.records_in or 0.0) / sample.seconds
    chain = _chain_of(name, sample, topology)
    reads = topology.may_chain and topology[chain[0]].readers == operator.parallelism
    queue = (operator.queue or 0.0) + (sample.backlog or 0.0 if reads else 0.0)
    if not rate or queue < WAITING_SECONDS * rate:
        return 0.0
    behind = (sample.operators.get(child) for child in topology.children[chain[-1]])
    blocked = any(each is not None and (each.queue or 0.0) > WAITING_SECONDS * rate for each in behind)
    share = (operator.useful_seconds or 0.0) / useful if (useful := _useful(chain, sample)) else 1.0
    return 0.0 if blocked else share * operator.parallelism * sample.seconds


def _chain_of(name: str, sample: Sample, topology: Topology) -> tuple[str, ...]:
    """The operators that shared their instances with this one, itself included."""
    if not topology.may_chain or sample.operators.keys() != set(topology.names):
        return (name,)
    parallelism = {each: operator.parallelism for each, operator in sample.operators.items()}
    return next(chain for chain in topology.chains(parallelism) if name in chain)


def _useful(chain: Sequence[str], sample: Sample) -> float:
    return sum(sample.operators[name].useful_seconds or 0.0 for name in chain)
