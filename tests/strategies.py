"""What hypothesis draws from when a law must hold for any job."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from penstock.model import Latency, Observation, Operator, OperatorSample, Plan, Sample, Slo, Topology, Worker


@st.composite
def topologies(draw: st.DrawFn, most: int = 6, bounded: bool = True) -> Topology:
    """Any directed acyclic graph: one operator, chains, diamonds, several roots, loose parts.

    Operators are given in any order, so a parent may stand behind its child. `bounded` draws minima, maxima
    and the partitions of the source; otherwise there is always room.
    """
    count = draw(st.integers(1, most))
    names = [f"op{i}" for i in range(count)]
    pairs = [(names[i], names[j]) for i in range(count) for j in range(i + 1, count)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    if not bounded:
        return Topology(tuple(Operator(name, max=10_000) for name in draw(st.permutations(names))), tuple(edges))
    least = st.integers(1, 3)
    operators = [Operator(name, min=(low := draw(least)), max=low + draw(st.integers(0, 20))) for name in names]
    partitions = draw(st.none() | st.integers(1, 12))
    return Topology(tuple(draw(st.permutations(operators))), tuple(edges), partitions)


@st.composite
def plans(draw: st.DrawFn, topology: Topology) -> Plan:
    """Any plan within the bounds of a job."""
    return Plan({name: draw(st.integers(topology[name].min, topology.ceiling(name))) for name in topology.names})


@dataclass(frozen=True)
class LinearJob:
    """A job without noise: an instance's true rate never changes, and instances add up.

    Where an operator is too slow, the whole job slows down with it (back-pressure) and the rest waits in the
    source; spare capacity drains what waits.
    """

    topology: Topology
    true_rate: Mapping[str, float]
    selectivity: Mapping[str, float]
    input_rate: float
    seconds: float = 60.0

    @property
    def load(self) -> dict[str, float]:
        """Records per second that reach each operator if all keep up."""
        load: dict[str, float] = {}
        for name in self.topology.order:
            parents = self.topology.parents[name]
            load[name] = sum(load[p] * self.selectivity[p] for p in parents) if parents else self.input_rate
        return load

    def respond(self, plan: Plan, before: Sample | None = None) -> Sample:
        """The window that follows `before`."""
        t, backlog = (0.0, 0.0) if before is None else (before.end, before.backlog or 0.0)
        load, offered = self.load, self.input_rate * self.seconds
        headroom = min((plan[n] * self.true_rate[n] / load[n] for n in load if load[n] > 0), default=math.inf)
        pace = min(headroom, (offered + backlog) / offered) if offered else 0.0  # 1: takes all that is offered
        left = max(0.0, offered + backlog - pace * offered)
        records = {n: pace * load[n] * self.seconds for n in load}
        operators = {n: self._operator(n, plan[n], records) for n in load}
        latency = 1e3 * sum(1 / self.true_rate[n] for n in load) / max(1e-3, 1 - min(1.0, pace / headroom))
        return Sample(
            t=t, seconds=self.seconds, operators=operators, input_rate=self.input_rate,
            throughput=pace * self.input_rate, backlog=left, dropped=0.0,
            processing_latency_ms=Latency(latency, latency, latency, latency),
            event_latency_ms=Latency(*4 * [latency + (1e3 * left / (pace * self.input_rate) if pace else 0.0)]),
        )  # fmt: skip

    def _operator(self, name: str, k: int, records: Mapping[str, float]) -> OperatorSample:
        useful = records[name] / self.true_rate[name]
        parents = self.topology.parents[name]
        return OperatorSample(
            parallelism=k, records_in=records[name], records_out=records[name] * self.selectivity[name],
            useful_seconds=useful, waiting_seconds=max(0.0, k * self.seconds - useful), queue=0.0,
            latency_ms=1e3 / self.true_rate[name],
            records_from={p: records[p] * self.selectivity[p] for p in parents} or None,
        )  # fmt: skip

    def observe(self, plan: Plan, samples: Sequence[Sample]) -> Observation:
        return Observation(
            t=samples[-1].end, topology=self.topology, plan=plan, samples=tuple(samples),
            slo=Slo(processing_latency="2 s", event_latency="5 s", drain="6 min"),
            workers=(Worker("one", cores=1e6), Worker("two", cores=1e6)),
        )  # fmt: skip


@st.composite
def linear_jobs(draw: st.DrawFn, bounded: bool = True) -> LinearJob:
    """Any job of that kind. Without bounds there is room for whatever it needs."""
    topology = draw(topologies(bounded=bounded))
    rates = {name: draw(st.integers(20, 200)) for name in topology.names}
    selectivity = {name: draw(st.sampled_from([0.25, 0.5, 1.0, 2.0])) for name in topology.names}
    return LinearJob(topology, rates, selectivity, float(draw(st.integers(1, 500))))
