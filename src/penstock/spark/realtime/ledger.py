"""What a segment has done so far: its finished batches, and what is known while one is still running."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from penstock.spark.realtime.segment_batch import SegmentBatch
from penstock.spark.realtime.segment_query import Wiring
from penstock.spark.topics.growth import Growth


@dataclass(frozen=True, slots=True)
class OperatorFlow:
    """An operator over a span of time. Useful seconds are None where no batch has shown them yet."""

    records_in: float
    records_out: float
    useful_seconds: float | None


@dataclass(frozen=True, slots=True)
class Flow:
    """A segment over a span of time.

    records_in  records taken for the first time: those that come again after a stop are work, but no progress
    operators   what each operator did
    waiting     records that wait at the end
    """

    records_in: float
    operators: Mapping[str, OperatorFlow]
    waiting: float | None


class Ledger:
    """Adds up what one segment has done."""

    def __init__(self, wiring: Wiring, consumed: Mapping[str, int], started: float, remembered: int = 100) -> None:
        self.wiring = wiring
        self.batches: deque[SegmentBatch] = deque(maxlen=remembered)
        self.records_in = 0
        self.records_out = 0
        self.began_at = dict(consumed)
        self._consumed = dict(consumed)
        self._resumed_at = started  # since then the output is that of the running batch
        self._reached = 0.0  # the farthest that a stopped batch had come, in records consumed
        self._typical: SegmentBatch | None = None  # the newest one with records: its costs and ratios

    def add(self, batches: Iterable[SegmentBatch]) -> None:
        for batch in batches:
            if batch.began_at is not None:  # the end of the batch before it may never have been reported
                self.settle(batch.began_at)
            self.batches.append(batch)
            self.records_in += batch.records_in
            self.records_out += batch.operators[self.wiring.segment.name].records_out
            self._consumed = dict(batch.consumed)
            self._resumed_at = batch.end
            if batch.records_in and not batch.warm_up:
                self._typical = batch

    def settle(self, consumed: Mapping[str, int]) -> None:
        """The query goes on from here: what was counted beyond is undone, and what is missing is added."""
        ratio = self.records_out_per_record
        difference = sum(consumed.values()) - sum(self._consumed.values())
        self.records_in += difference
        self.records_out += round(ratio * difference)
        self._consumed = dict(consumed)

    def stopped(self, consumed: Mapping[str, int], at: float, growth: Growth) -> None:
        """The query was stopped, and goes on from here: whatever it had taken beyond comes again."""
        self._reached = max(self._reached, self._progress(at, growth))
        self.settle(consumed)
        self._resumed_at = at

    def written(self, at: float, growth: Growth) -> dict[str, float]:
        """Records that each of its topics got from the batch that runs, or was stopped, by `at`."""
        return {topic: growth.between(topic, self._resumed_at, at) or 0.0 for topic in self.wiring.writes}

    @property
    def records_out_per_record(self) -> float:
        """What one record becomes on its way through the segment; 1 until a record has come through."""
        return self.records_out / self.records_in if self.records_in else 1.0

    def flow(self, start: float, end: float, growth: Growth) -> Flow:
        """What happened between two times: from the batch that covers most of the span, else from the topics."""
        batch = max(self.batches, key=lambda b: min(b.end, end) - max(b.start, start), default=None)
        if batch is not None and min(batch.end, end) - max(batch.start, start) >= (end - start) / 2:
            scale = (end - start) / (batch.end - batch.start)
            return Flow(
                scale * batch.records_in,
                {name: _scaled(flow, scale) for name, flow in operators_of(batch).items()},
                self._waiting(batch.consumed, 0.0, batch.end, growth),
            )
        return self._from_topics(start, end, growth)

    def _from_topics(self, start: float, end: float, growth: Growth) -> Flow:
        """While a batch runs, what came out in the span shows what went in, at the ratios and costs last measured."""
        taken = self._taken(start, end, growth)
        further = self._progress(end, growth) - self._progress(start, growth)
        if self._typical is None:
            operators = {name: OperatorFlow(taken, taken, None) for name in self.wiring.segment.operators}
        else:
            scale = taken / self._typical.records_in
            operators = {name: _scaled(flow, scale) for name, flow in operators_of(self._typical).items()}
        since = self._taken(self._resumed_at, end, growth)
        return Flow(further, operators, self._waiting(self._consumed, since, end, growth))

    def _progress(self, t: float, growth: Growth) -> float:
        """Records consumed by `t`, finished or not; those that come again after a stop are not counted twice."""
        done = sum(self._consumed.values())
        if t < self._resumed_at:
            return max(self._reached, done) - self._taken(t, self._resumed_at, growth)
        return max(self._reached, done + self._taken(self._resumed_at, t, growth))

    def _taken(self, start: float, end: float, growth: Growth) -> float:
        """Records that must have been taken for what came out between two times."""
        return (growth.between(self.wiring.writes[0], start, end) or 0.0) / (self.records_out_per_record or 1.0)

    def _waiting(self, consumed: Mapping[str, int], since: float, at: float, growth: Growth) -> float | None:
        lengths = [growth.at(topic, at) for topic in self.wiring.reads]
        if not consumed or any(length is None for length in lengths):
            return None
        return max(0.0, sum(filter(None, lengths)) - sum(consumed.values()) - since)


def operators_of(batch: SegmentBatch) -> dict[str, OperatorFlow]:
    """Each operator takes what the one before it emitted.

    Time inside an operator is exact where it waits, but leaves out what Spark does to move records in and out of it;
    the CPU time of its stage has that, but no waiting. The larger one is nearer to the truth.
    """
    flows = {}
    records_in = batch.records_in
    for name, measured in batch.operators.items():
        inside = None if measured.seconds_per_record is None else measured.seconds_per_record * records_in
        known = [seconds for seconds in (inside, measured.cpu_seconds) if seconds is not None]
        flows[name] = OperatorFlow(records_in, measured.records_out, max(known, default=None))
        records_in = measured.records_out
    return flows


def _scaled(flow: OperatorFlow, scale: float) -> OperatorFlow:
    useful = None if flow.useful_seconds is None else scale * flow.useful_seconds
    return OperatorFlow(scale * flow.records_in, scale * flow.records_out, useful)
