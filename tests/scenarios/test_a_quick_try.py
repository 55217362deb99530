"""Ten minutes with the quick profile beside somebody's micro-batch query: the default policy must be seen to act.

The query stands in for one on a standalone cluster: a batch every second, 10 ms for each record, executors of one slot.
What it shows is what `QueryMonitor` shows of a real one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

import pytest

from penstock.control.assembly import assemble
from penstock.control.loop import Loop
from penstock.model import Batch, Cycle, Execution, Latency, Operator, OperatorSample, Plan, Sample, Slo, Topology
from penstock.spark.application.defaults import chosen_steering
from penstock.stores.memory import MemoryStore

CALM, SURGE = 20.0, 180.0
TRIGGER, OVERHEAD, FIXED, PER_RECORD, MOST_RECORDS = 1.0, 0.25, 0.15, 0.010, 600.0
ARRIVES, LOOKS = 8.0, 0.5


@dataclass
class Query:
    """A query whose batches take as long as their records, one clock for all of it."""

    slots: int = 3
    fixed: float = FIXED
    rate: float = CALM
    t: float = 1_000.0
    lag: float = 0.0
    settled_at: float = 0.0
    random: Random = field(default_factory=lambda: Random(1))
    begun: float = 1_000.0
    ended: float = 1_000.0
    windows: list[Sample] = field(default_factory=list)

    def pass_by(self, seconds: float) -> None:
        until = self.t + seconds
        while True:
            start = max(self.ended, self.begun + TRIGGER)
            came = self.lag + self.rate * (start - self.begun)
            records = min(came, MOST_RECORDS)
            useful = (self.fixed + PER_RECORD * records) * self.random.uniform(0.8, 1.3)
            stages = useful / self.slots * 1.1
            if start + OVERHEAD + stages > until:
                break
            self._end(start, records, came - records, useful, stages)
        self.t = until

    def _end(self, start: float, records: float, left: float, useful: float, stages: float) -> None:
        began, seconds = self.ended, OVERHEAD + stages
        waited = (start - self.begun) / 2 + self.lag / max(self.rate, 1e-9)
        self.ended, self.begun, self.lag = start + seconds, start, left
        self.windows.append(Sample(
            t=began, seconds=self.ended - began, input_rate=self.rate, throughput=records / (self.ended - began),
            backlog=left + self.rate * seconds, executors=self.slots,
            operators={"job": OperatorSample(self.slots, records, records, useful, latency_ms=1e3 * seconds)},
            processing_latency_ms=Latency(mean=1e3 * seconds), event_latency_ms=Latency(mean=1e3 * (waited + seconds)),
            batches=(Batch(records, seconds, useful, stages),), warm_up=began < self.settled_at,
        ))  # fmt: skip

    def now(self) -> float:
        return self.t

    def read(self) -> Sequence[Sample]:
        windows, self.windows = self.windows, []
        return windows

    def plan(self) -> Plan:
        return Plan({"job": self.slots}, executors=self.slots)

    def apply(self, plan: Plan) -> None:
        if plan["job"] > self.slots:
            self.pass_by(ARRIVES)  # the change is in force once the executors are there
        self.slots, self.settled_at = plan["job"], self.t


def beside(query: Query) -> Loop:
    return assemble(
        chosen_steering({"mode": "active"}, quick=True),
        topology=Topology((Operator("job", max=3),)), slo=Slo(event_latency="10 s"),
        monitor=query, actuator=query, clock=query, store=MemoryStore(),
        execution=Execution.SEQUENTIAL, trigger_seconds=TRIGGER,
    )  # fmt: skip


def steer(query: Query, loop: Loop, seconds: float, until: int | None = None) -> list[Cycle]:
    """Run for so long, or until the query has so many slots."""
    cycles: list[Cycle] = []
    began = decided = query.t
    while query.t - began < seconds and query.slots != until:
        query.pass_by(LOOKS)
        if query.t - decided >= loop.settings.interval_seconds or loop.overtaken():
            cycles.append(loop.run_once())
            decided = query.t
    return cycles


@pytest.mark.parametrize("seed", range(5))
def test_a_try_of_ten_minutes_shows_the_way_down_up_and_down_again(seed: int) -> None:
    query = Query(random=Random(seed))
    loop = beside(query)
    took = []
    for rate, slots in ((CALM, 1), (SURGE, 3), (CALM, 1)):
        query.rate, began = rate, query.t
        steer(query, loop, 600.0, until=slots)
        took.append(query.t - began)
        steer(query, loop, 60.0)
    assert max(took) < 60.0, took


def test_batches_that_are_alike_do_not_keep_executors_that_may_be_superfluous() -> None:
    """They do not tell whether one slot is enough. A change of executors costs nothing, so that it is tried."""
    query = Query(fixed=0.6)
    loop = beside(query)
    steer(query, loop, 300.0, until=1)
    assert query.slots == 1
    cycles = steer(query, loop, 300.0)
    assert {cycle.decision.plan["job"] for cycle in cycles} == {1}


def test_batches_that_differ_by_chance_do_not_make_the_model_wrong() -> None:
    query = Query()
    loop = beside(query)
    steer(query, loop, 60.0)
    cycles = steer(query, loop, 300.0)
    fuller = [w for cycle in cycles for w in cycle.samples if (w.throughput or 0.0) > 1.01 * CALM]
    assert len(fuller) > 50  # more came out than in, although nothing had waited
    assert [cycle for cycle in cycles if "wrong" in cycle.decision.reason.text] == []
