"""Turns what the segments and the topics of a real-time job show into the samples that policies read.

Normally a window is one batch of the last segment. A batch that cannot drain its queues does not end, and Spark says
nothing of it until then: then a window ends without it, and has what Kafka's own offsets show. So it does in the middle
of a batch if more records come than the job can take: that is known before the batch is late. And a long batch has
several windows: rates and what waits are read while it runs. Latency, and what a record costs, Spark tells with the end
of the tasks only: the window in which a batch ends has its latency, and those before it the costs of the batch before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from penstock.model import Latency, OperatorSample, Plan, Sample
from penstock.performance.latency_mixture import together
from penstock.spark.realtime.ledger import BEHIND_SECONDS, Flow, Ledger
from penstock.spark.realtime.segment_batch import SegmentBatch
from penstock.spark.topics.growth import Growth

GRACE_SECONDS = 3.0

LONGEST_SECONDS = 10.0
"""A window inside a batch is so long, unless the batch ends soon after."""

JUMP = 1.25
"""The load has jumped if its last moments have so many times as much of it as the time before. Chance makes less of a
difference between two parts of a steady load that keeps a job busy."""

SHORTEST_PART = 0.05
"""Two queries that hand over may end batches at one moment: a window is at least this part of a batch long."""


def late_after(batch_seconds: float) -> float:
    """A batch that takes longer than this cannot drain its queues. Ending a batch takes a moment in itself."""
    return batch_seconds + max(GRACE_SECONDS, batch_seconds / 2)


class Windows:
    """Cuts the time of a job into windows."""

    def __init__(self, ledgers: Sequence[Ledger], growth: Growth, batch_seconds: float, started: float) -> None:
        self._ledgers = ledgers
        self._growth = growth
        self._batch_seconds = batch_seconds
        self._end = started  # of the last window
        self._settled = started
        self._compiled = started + batch_seconds
        self._by_last_operator = {ledger.wiring.segment.name: ledger for ledger in ledgers}
        self._measures_latency = next((ledger for ledger in ledgers if ledger.wiring.latency_at is not None), None)

    def settle_until(self, t: float) -> None:
        """Windows that begin before `t` are warm-up."""
        self._settled = max(self._settled, t)

    def read(self, now: float, plan: Plan, executors: int | None = None) -> list[Sample]:
        """The windows that ended since the last call."""
        samples = []
        for batch in list(self._ledgers[-1].batches):
            if batch.end > self._end + SHORTEST_PART * self._batch_seconds:
                samples.append(self._sample(max(batch.start, self._end), batch.end, plan, executors))
                self._end = batch.end
        if self._ends_without_a_batch(now):
            for end in self._parted(self._end, now):
                samples.append(self._sample(self._end, end, plan, executors))
                self._end = end
        return samples

    def _parted(self, start: float, end: float) -> list[float]:
        """Where the windows of a span end: where the load has just jumped, its last moments are one of their own.

        Else it would be what came on average before and after that, and a plan that is made for it is too small.
        """
        jumped = end - BEHIND_SECONDS
        before, since = (self._came(*span) for span in ((start, jumped), (jumped, end)))
        if jumped - start < BEHIND_SECONDS or before is None or since is None:
            return [end]
        return [jumped, end] if since / BEHIND_SECONDS > JUMP * before / (jumped - start) else [end]

    def _came(self, start: float, end: float) -> float | None:
        """Records that came to the source; None if that is not known."""
        came = [self._growth.between(topic, start, end) for topic in self._ledgers[0].wiring.reads]
        return None if None in came else sum(filter(None, came))

    def _ends_without_a_batch(self, now: float) -> bool:
        open_for = now - self._end
        if open_for > late_after(self._batch_seconds) or self._ends_inside_a_long_batch(now):
            return True
        settled = now >= self._settled and open_for > self._batch_seconds / 2
        return settled and any(self._is_behind(ledger, now) for ledger in self._ledgers)

    def _ends_inside_a_long_batch(self, now: float) -> bool:
        """Nothing is known of what a record costs before a batch has ended."""
        if now - self._end < LONGEST_SECONDS or any(ledger.typical is None for ledger in self._ledgers):
            return False
        due = self._ledgers[-1].batches[-1].end + self._batch_seconds
        return due - now > LONGEST_SECONDS / 2

    def _is_behind(self, ledger: Ledger, now: float) -> bool:
        """What a record costs is then that of the newest batch: not of the first one, in which Spark compiles what it
        has not seen."""
        newest = ledger.typical
        return newest is not None and newest.start >= self._compiled and ledger.is_behind(now, self._growth)

    def _sample(self, start: float, end: float, plan: Plan, executors: int | None) -> Sample:
        seconds = end - start
        flows = {ledger.wiring.segment.name: ledger.flow(start, end, self._growth) for ledger in self._ledgers}
        came = self._came(start, end)
        roots = [flows[ledger.wiring.segment.name] for ledger in self._ledgers if ledger.wiring.schema is None]
        waiting = [flow.waiting for flow in roots]
        processing, event = self._latency(end)
        return Sample(
            t=start,
            seconds=seconds,
            operators={name: sample for ledger in self._ledgers for name, sample in _operators(ledger, flows, plan)},
            input_rate=None if came is None else came / seconds,
            throughput=self._throughput(flows, seconds),
            # Roots read the same topic: what the slowest of them has not read is what waits.
            backlog=None if None in waiting else max(w for w in waiting if w is not None),
            processing_latency_ms=processing,
            event_latency_ms=event,
            executors=executors,
            warm_up=start < self._settled,
        )

    def _throughput(self, flows: dict[str, Flow], seconds: float) -> float:
        """Source records per second that came through: at the slowest of the segments that end in a sink."""
        per_source_record: dict[str, float] = {}
        completed = []
        for ledger in self._ledgers:
            segment = ledger.wiring.segment
            parents = [self._by_last_operator[name] for name in segment.after]
            share = sum(
                per_source_record[parent.wiring.segment.name] * parent.records_out_per_record for parent in parents
            ) if parents else 1.0  # fmt: skip
            per_source_record[segment.name] = share
            if segment.sinks and share > 0:
                completed.append(flows[segment.name].records_in / share / seconds)
        return min(completed, default=0.0)

    def _latency(self, end: float) -> tuple[Latency | None, Latency | None]:
        """Processing and event latency, as measured on records of the batches that ended since the last window did: of
        more than one while a segment is handed over, of which the old query has the late records."""
        ledger = self._measures_latency
        ended = [] if ledger is None else [batch for batch in ledger.batches if self._end < batch.end <= end]
        return _together(ended, lambda batch: batch.processing), _together(ended, lambda batch: batch.event)


def _together(
    batches: Sequence[SegmentBatch], latency: Callable[[SegmentBatch], Latency | None]
) -> Latency | None:  # fmt: skip
    known = [(batch.records_in, measured) for batch in batches if (measured := latency(batch)) is not None]
    return together(known) if any(records for records, _ in known) else None


def _operators(ledger: Ledger, flows: dict[str, Flow], plan: Plan) -> list[tuple[str, OperatorSample]]:
    """What waits for a segment waits for its slowest operator: the others emit faster than it takes.

    What waits for a root is the job's backlog, and is not counted twice.
    """
    segment = ledger.wiring.segment
    flow = flows[segment.name]
    slowest = max(segment.operators, key=lambda name: (flow.operators[name].useful_seconds or 0.0) / plan[name])
    root = segment.operators[0] if ledger.wiring.schema is None else None
    return [
        (
            name,
            OperatorSample(
                plan[name],
                records_in=each.records_in,
                records_out=each.records_out,
                useful_seconds=each.useful_seconds,
                queue=flow.waiting if name == slowest and name != root else 0.0,
            ),
        )
        for name, each in flow.operators.items()
    ]
