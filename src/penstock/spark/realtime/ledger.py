"""What a segment has done so far: its finished batches, and what is known while one is still running."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from penstock.spark.realtime.segment_batch import SegmentBatch
from penstock.spark.realtime.segment_query import Wiring
from penstock.spark.topics.growth import Growth

BEHIND_SECONDS = 1.0
"""A segment for which records wait that came longer ago than this is behind. Between two batches they wait for a third
of it."""
MOST_BATCHES_SPAN = 2.0
"""A batch tells of a span of time if it is at most so many times as long."""
FEW_OUTPUTS = 10
"""What waits is read off what was written, where so many more or less are chance."""


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
    """Adds up what one segment has done, with one query or, while it is handed over, with more.

    Batches of several queries at the same time each show a part only. As long as there are so many, what happens is
    read from the topics, as while a batch runs.
    """

    def __init__(self, wiring: Wiring, consumed: Mapping[str, int], started: float, remembered: int = 100) -> None:
        self.wiring = wiring
        self.batches: deque[SegmentBatch] = deque(maxlen=remembered)
        self.records_in = 0
        self.records_out = 0
        self.began_at = dict(consumed)
        self._by_query = [dict(consumed)]  # what each query has consumed, oldest first
        self._cuts: list[dict[str, int]] = []  # where each query but the oldest begins
        self._consumed = dict(consumed)  # by all, when there was one query last
        # Records consumed, and a time since which all output is that of batches beyond them; the newest is the last.
        self._resumptions = deque([(sum(consumed.values()), started)], maxlen=remembered)
        self._alone_since = started
        self._reached = 0.0  # the farthest that a stopped batch had come, in records consumed
        self.typical: SegmentBatch | None = None  # the newest one with records: its costs and ratios

    def add(self, batches: Iterable[SegmentBatch], query: int = 0) -> None:
        """Add what a query has finished; `query` counts them, the oldest is 0."""
        for batch in batches:
            if batch.began_at is not None:  # the end of the batch before it may never have been reported
                self.settle(batch.began_at, query)
            shared = len(self._by_query) > 1 or batch.start < self._alone_since
            self.batches.append(replace(batch, shared=True) if shared else batch)
            self.records_in += batch.records_in
            self.records_out += batch.operators[self.wiring.segment.name].records_out
            self._by_query[query] = dict(batch.consumed)
            if len(self._by_query) == 1 and batch.end >= self._alone_since:
                self._consumed = dict(batch.consumed)
                self._resumptions.append((sum(batch.consumed.values()), batch.end))
            if batch.records_in and not batch.warm_up:
                self.typical = batch

    def settle(self, consumed: Mapping[str, int], query: int = 0) -> None:
        """A query goes on from here: what was counted beyond is undone, and what is missing is added."""
        self._correct(sum(consumed.values()) - sum(self._by_query[query].values()))
        self._by_query[query] = dict(consumed)
        if len(self._by_query) == 1:
            self._consumed = dict(consumed)

    def _correct(self, records: int) -> None:
        ratio = self.records_out_per_record
        self.records_in += records
        self.records_out += round(ratio * records)

    def divided(self, cut: Mapping[str, int]) -> None:
        """One more query takes the records from the cut on."""
        self._by_query.append(dict(cut))
        self._cuts.append(dict(cut))

    def handed_over(self, at: float) -> None:
        """The oldest query has finished all that is its own, and was stopped; the batches of all are added."""
        self.settle(self._cuts.pop(0), 0)
        self._by_query = self._by_query[1:]
        if len(self._by_query) == 1:
            self._alone_since = at

    def stopped(self, consumed: Mapping[str, int], at: float, growth: Growth) -> None:
        """Every query was stopped, and one goes on from here: whatever they had taken beyond comes again."""
        self._reached = max(self._reached, self._progress(at, growth))
        taken = sum(sum(each.values()) for each in self._by_query) - sum(sum(cut.values()) for cut in self._cuts)
        self._correct(sum(consumed.values()) - taken)
        self._by_query, self._cuts, self._consumed = [dict(consumed)], [], dict(consumed)
        self._alone_since = at
        self._resumptions.clear()
        self._resumptions.append((sum(consumed.values()), at))

    def unfinished_since(self, consumed: Mapping[str, int]) -> float:
        """The time since which all output comes again if a query goes on from here.

        That is the end of the last batch that was committed: one that was reported after it may not be.
        """
        done = sum(consumed.values())
        ends = [at for records, at in self._resumptions if records <= done]
        return ends[-1] if ends else self._resumptions[0][1]

    @property
    def _resumed_at(self) -> float:
        """Since then the output is that of running batches."""
        return self._resumptions[-1][1]

    @property
    def records_out_per_record(self) -> float:
        """What one record becomes on its way through the segment; 1 until a record has come through."""
        return self.records_out / self.records_in if self.records_in else 1.0

    def flow(self, start: float, end: float, growth: Growth) -> Flow:
        """What happened between two times: from the batch that covers most of the span, else from the topics. They also
        tell of a small part of a long batch, as nobody knows how its records were spread over it."""
        whole = [b for b in self.batches if not b.shared and b.end - b.start <= MOST_BATCHES_SPAN * (end - start)]
        batch = max(whole, key=lambda b: min(b.end, end) - max(b.start, start), default=None)
        if batch is not None and min(batch.end, end) - max(batch.start, start) >= (end - start) / 2:
            scale = (end - start) / (batch.end - batch.start)
            return Flow(
                scale * batch.records_in,
                {name: _scaled(flow, scale) for name, flow in operators_of(batch).items()},
                self._waiting(batch.consumed, 0.0, batch.end, growth),
            )
        return self._from_topics(start, end, growth)

    def waiting(self, at: float, growth: Growth) -> float | None:
        """Records that wait at `at`; None if that is not known."""
        return self._waiting(self._consumed, self.taken(self._resumed_at, at, growth), at, growth)

    def is_behind(self, at: float, growth: Growth) -> bool:
        """Whether more records wait than came in the last moments, as far as its output shows."""
        if not self.records_out:
            return False
        came = [growth.between(topic, at - BEHIND_SECONDS, at) for topic in self.wiring.reads]
        waiting = self.waiting(at, growth)
        if waiting is None or None in came:
            return False
        return waiting > sum(filter(None, came)) + FEW_OUTPUTS / self.records_out_per_record

    def _from_topics(self, start: float, end: float, growth: Growth) -> Flow:
        """While a batch runs, what came out in the span shows what went in, at the ratios and costs last measured."""
        taken = self.taken(start, end, growth)
        further = self._progress(end, growth) - self._progress(start, growth)
        if self.typical is None:
            operators = {name: OperatorFlow(taken, taken, None) for name in self.wiring.segment.operators}
        else:
            scale = taken / self.typical.records_in
            operators = {name: _scaled(flow, scale) for name, flow in operators_of(self.typical).items()}
        return Flow(further, operators, self.waiting(end, growth))

    def _progress(self, t: float, growth: Growth) -> float:
        """Records consumed by `t`, finished or not; those that come again after a stop are not counted twice."""
        done = sum(self._consumed.values())
        if t < self._resumed_at:
            return max(self._reached, done) - self.taken(t, self._resumed_at, growth)
        return max(self._reached, done + self.taken(self._resumed_at, t, growth))

    def taken(self, start: float, end: float, growth: Growth) -> float:
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
