"""A query of micro-batches back to back, reckoned from what its batches cost. It is monitor, actuator and clock."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from penstock.control.assembly import Steering, assemble
from penstock.control.loop import Loop
from penstock.model import Batch, Cycle, Execution, Latency, Operator, OperatorSample, Plan, Sample, Slo, Topology
from penstock.performance.batch_cost import BatchCost
from penstock.stores.memory import MemoryStore

TEN_SECONDS = Slo(event_latency="10 s")  # batches may take 5 s
LEAST_SECONDS = 0.01


@dataclass
class MicroBatchQuery:
    """
    cost     what a batch costs at a moment
    rate     records per second that come at a moment
    slots    slots that it has
    noise    standard deviation of what a batch costs, as a part of it
    records  records that wait when it begins
    """

    cost: Callable[[float], BatchCost]
    rate: Callable[[float], float]
    slots: int = 1
    noise: float = 0.0
    seed: int = 0
    records: float = 0.0
    t: float = 0.0
    ended: list[Batch] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._read, self._read_at = 0, 0.0

    def run(self, until: float) -> None:
        while self.t < until:
            self._batch()

    def _batch(self) -> None:
        cost, records = self.cost(self.t), self.records
        useful = cost.of(records) * max(0.3, self._random.gauss(1.0, self.noise))
        overhead = cost.overhead * max(0.3, self._random.gauss(1.0, self.noise))
        seconds = max(LEAST_SECONDS, overhead + useful / self.slots)
        self.ended.append(Batch(records, seconds, useful, useful / self.slots))
        self.records = self.rate(self.t) * seconds
        self.t += seconds

    # The ports ---------------------------------------------------------------------------------------------------

    def now(self) -> float:
        return self.t

    def plan(self) -> Plan:
        return Plan({"job": self.slots})

    def apply(self, plan: Plan) -> None:
        self.slots = plan["job"]

    def read(self) -> Sequence[Sample]:
        batches, began = self.ended[self._read :], self._read_at
        self._read, self._read_at = len(self.ended), self.t
        if not batches:
            return ()
        seconds, records = self.t - began, sum(batch.records for batch in batches)
        length = seconds / len(batches)
        useful = sum(batch.useful_seconds for batch in batches)
        return [Sample(
            t=began, seconds=seconds, input_rate=self.rate(self.t), throughput=records / seconds, backlog=self.records,
            operators={"job": OperatorSample(self.slots, records, records, useful)},
            processing_latency_ms=Latency(mean=1e3 * length), event_latency_ms=Latency(mean=1.5e3 * length),
            batches=tuple(batches),
        )]  # fmt: skip


def steered(query: MicroBatchQuery, steering: Steering, most: int = 20) -> Loop:
    return assemble(
        steering, topology=Topology((Operator("job", max=most),)), slo=TEN_SECONDS, monitor=query, actuator=query,
        clock=query, store=MemoryStore(), execution=Execution.SEQUENTIAL, policy_limit_seconds=None,
    )  # fmt: skip


def cycles_of(query: MicroBatchQuery, loop: Loop, seconds: float) -> list[Cycle]:
    """The cycles of that many seconds, at the interval of the loop."""
    cycles, end = [], query.t + seconds
    while query.t < end:
        query.run(query.t + loop.settings.interval_seconds)
        cycles.append(loop.run_once())
    return cycles
