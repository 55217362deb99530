"""Measures the micro-batches of a job: what Spark reports of them, the stages of some, and what waits in the source."""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from pyspark.sql.streaming.query import StreamingQuery

from penstock.control.ports import SteadyClock
from penstock.model import Latency, OperatorSample, Plan, Sample
from penstock.model.topology import Topology
from penstock.spark.chains import Chain
from penstock.spark.dry_run import DryRun
from penstock.spark.executors.slots import SlotSupplier
from penstock.spark.graph import Graph
from penstock.spark.measure.progress import BatchProgress, ProgressReader
from penstock.spark.measure.running_batch import LATE
from penstock.spark.measure.stages import JobRange, StageReader
from penstock.spark.microbatch.attribution import Metering, OperatorWork, attribute
from penstock.spark.microbatch.batches import QUANTILES, MicroBatch, samples
from penstock.spark.segments import Segment

REMEMBERED_BATCHES = 1_000
MEASURED_BATCHES = 3
"""About this many batches of a window are measured: a few show what all are like."""
MOST_METERING = 0.005
"""The largest share of the time that looking at batches may take, unless that is one in a window; measuring inside
operators may take the same again, so both take a hundredth at most. Where records are very cheap, operators are
measured inside less often than once a window. The other batches that are measured show how long a stage took, and the
last one that was measured inside how much of that is each operator's."""
LOOK_SECONDS = 0.1
"""What it takes to look up the stages of a batch, and to sample its records."""
METERING_SECONDS = 0.1
"""What a batch that is measured inside takes longer, on two cores: its frames have more columns, and other code."""
METERING_SECONDS_A_RECORD = 35e-9
"""For each operator that it passes (`python -m benchmarks microbatch`)."""


@dataclass(frozen=True, slots=True)
class SegmentJobs:
    """The Spark jobs of one segment in one batch.

    segment  its operators
    chains   those of them that shared their instances
    jobs     the jobs
    counted  records that left it; None: they were not counted
    """

    segment: Segment
    chains: tuple[Chain, ...]
    jobs: JobRange
    counted: int | None


@dataclass(frozen=True, slots=True)
class Look:
    """What a batch that is measured left behind, before its stages are read.

    segments        the jobs of each segment
    created         times of creation of some of its records, in microseconds
    useful_seconds  of the operators that measure themselves
    metered         what was measured inside operators that shared their instances; None: that was not measured
    """

    segments: tuple[SegmentJobs, ...]
    created: tuple[int, ...]
    useful_seconds: Mapping[str, float]
    metered: Mapping[str, Metering] | None


@dataclass(frozen=True, slots=True)
class Running:
    """A batch that runs: since when, in Unix seconds, under which plan, and whether it is one of the first under it."""

    began: float
    plan: Plan
    warm_up: bool


@dataclass(frozen=True, slots=True)
class RanBatch:
    """A batch that has run, before its progress is read.

    number  as Spark counts them
    look    what it left behind; None: it is not one that is measured
    """

    batch: MicroBatch
    number: int
    look: Look | None


@dataclass(frozen=True, slots=True)
class MeteredBatch:
    """The last batch that was measured inside its operators: its plan, its records, and what that showed."""

    plan: Plan
    records: float
    metered: Mapping[str, Metering]

    def scaled(self, records: float) -> Mapping[str, Metering]:
        """What a batch of so many records would have shown."""
        return {name: each.scaled(records / self.records) for name, each in self.metered.items()}


class BatchMonitor:
    """Turns the batches of one job into samples. The engine adds them as they end, from a thread of its own."""

    def __init__(
        self,
        graph: Graph,
        topology: Topology,
        dry_runs: Mapping[str, DryRun],
        stages: StageReader,
        slots: SlotSupplier,
        clock: SteadyClock,
    ) -> None:
        self._graph = graph
        self._topology = topology
        self._dry_runs = dry_runs
        self._stages = stages
        self._slots = slots
        self._clock = clock
        self._lock = threading.Lock()
        self._progress: ProgressReader | None = None
        self._reported: dict[int, BatchProgress] = {}  # by the number of the batch, until it is read
        self._newest: BatchProgress | None = None
        self._ran: deque[RanBatch] = deque(maxlen=REMEMBERED_BATCHES)
        # When the last one was measured, on a clock that nobody sets, and seconds to the next one.
        self._measured_at, self._measure_after = -math.inf, 0.0
        self._metered_at, self._meter_after = -math.inf, 0.0  # the same of those that are measured inside
        self._metered: MeteredBatch | None = None
        self._read_until = self._offered_at = 0.0  # Unix seconds
        self._running: Running | None = None
        self._longest = 0.0  # seconds of a batch in the newest window
        self._done = 0.0
        self._offered: float | None = None
        self.backlog: float | None = None

    def begin(self, query: StreamingQuery, t: float) -> None:
        """The job runs as this query since `t`."""
        self._progress = ProgressReader(query)
        self._read_until = self._offered_at = t

    def is_measured(self) -> bool:
        """Whether a batch that begins now is one of those that are measured."""
        now = self._clock.steady()
        if now - self._measured_at < self._measure_after:
            return False
        self._measured_at = now
        return True

    def is_metered(self, running: Running) -> bool:
        """Whether a batch that is measured is also measured inside its operators: not if one was not long ago."""
        known = self._metered is not None and self._metered.plan == running.plan and not running.warm_up
        now = self._clock.steady()
        if known and now - self._metered_at < self._meter_after:
            return False
        self._metered_at = now
        return True

    def begins(self, running: Running) -> None:
        with self._lock:
            self._running = running

    def add(self, ran: RanBatch) -> None:
        with self._lock:
            self._running = None
            self._ran.append(ran)

    def take_progress(self) -> None:
        """Take what Spark has reported, before it forgets it."""
        with self._lock:
            self._take_progress()

    def read(self, plan: Plan) -> Sequence[Sample]:
        """The windows that ended since the last call; `plan` is in force."""
        ran = self._finished()
        input_rate = self._input_rate()
        since = self._read_until
        if not ran:
            return self._late(since, input_rate) or self._idle(plan, since, input_rate)
        self._read_until = ran[-1].batch.ended
        self._longest = max(one.batch.seconds for one in ran)
        self._measure_after = _seconds_between_looks(len(ran), self._read_until - since)
        self._meter_after = self._metering_seconds(ran) / MOST_METERING
        measured = [one.number for one in ran if one.look is not None]
        chosen = {measured[index] for index in _spread(len(measured), MEASURED_BATCHES)}
        batches = []
        for one in ran:
            self._remember(one)
            batches.append(self._measured(one.batch, one.look if one.number in chosen else None))
        return samples(self._topology, batches, since, input_rate, self.backlog, self._slots.executors())

    def _metering_seconds(self, ran: Sequence[RanBatch]) -> float:
        """What one of these batches takes longer if it is measured inside its operators."""
        records = sum(one.batch.records for one in ran) / len(ran) * len(self._topology.names)
        return METERING_SECONDS + METERING_SECONDS_A_RECORD * records / ran[-1].batch.plan.widest

    def _remember(self, one: RanBatch) -> None:
        """Keep what was measured inside a batch, for those in which that is not done.

        One that warmed up is slow in parts of its own.
        """
        metered = None if one.look is None or one.batch.warm_up else one.look.metered
        if metered and not any(each.missed for each in metered.values()):
            self._metered = MeteredBatch(one.batch.plan, one.batch.records, metered)

    def _take_progress(self) -> None:
        for progress in [] if self._progress is None else self._progress.new():
            self._reported[progress.number] = self._newest = progress
        while len(self._reported) > REMEMBERED_BATCHES:
            del self._reported[min(self._reported)]

    def _finished(self) -> list[RanBatch]:
        """The batches that ended since the last call, as far as Spark has reported them."""
        finished = []
        with self._lock:
            self._take_progress()
            while self._ran and self._newest is not None and self._ran[0].number <= self._newest.number:
                one = self._ran.popleft()
                progress = self._reported.pop(one.number, None)
                if progress is None:  # Spark has forgotten it
                    continue
                self._done += progress.records
                batch = replace(one.batch, records=progress.records, trigger_seconds=progress.seconds)
                finished.append(replace(one, batch=batch))
        # Spark begins with an empty one. What one took during which the clock was set back nobody knows.
        return [one for one in finished if one.batch.records and one.batch.seconds >= 0]

    def _input_rate(self) -> float | None:
        """Records per second that came since the last call: done since then, or waiting now and not before."""
        now, newest = self._clock.now(), self._newest
        self.backlog = None if newest is None else self._graph.source.backlog(newest.sources[0].end, now)
        offered = None if self.backlog is None else self._done + self.backlog
        before, since = self._offered, self._offered_at
        self._offered, self._offered_at = offered, now
        if offered is None or before is None or now <= since:
            return None
        return max(0.0, (offered - before) / (now - since))

    def _idle(self, plan: Plan, since: float, input_rate: float | None) -> Sequence[Sample]:
        """No batch ended. If nothing waits either, the job is idle, and that is a measurement too."""
        now = self._clock.now()
        if self.backlog != 0 or now <= since:
            return ()
        self._read_until = now
        idle = {name: OperatorSample(plan[name], 0.0, 0.0, 0.0, queue=0.0) for name in self._topology.names}
        return [Sample(
            t=since, seconds=now - since, operators=idle, input_rate=input_rate, throughput=0.0, backlog=0.0,
            executors=self._slots.executors(),
        )]  # fmt: skip

    def _late(self, since: float, input_rate: float | None) -> Sequence[Sample]:
        """A window of a batch that is overdue and still runs. How fast records come is known before it ends, and that
        it takes longer than so long; its records are not completed, so it has no throughput."""
        with self._lock:
            running = self._running
        now = self._clock.now()
        if running is None or not self._longest or now - running.began <= LATE * self._longest:
            return ()
        return [Sample(
            t=since, seconds=max(now - since, 1e-3), input_rate=input_rate, backlog=self.backlog,
            operators={name: OperatorSample(running.plan[name]) for name in self._topology.names},
            processing_latency_ms=Latency(mean=1e3 * (now - running.began)),
            executors=self._slots.executors(), warm_up=running.warm_up,
        )]  # fmt: skip

    def _measured(self, batch: MicroBatch, look: Look | None) -> MicroBatch:
        """The batch with what its stages and its records show."""
        work = None if look is None else self._work(batch, look)
        if look is None or work is None:
            return batch
        if not look.created:
            return replace(batch, work=work)
        created = np.array(look.created) / 1e6
        return replace(
            batch, work=work, created=tuple(np.quantile(created, QUANTILES)), mean_created=float(created.mean())
        )

    def _work(self, batch: MicroBatch, look: Look) -> Mapping[str, OperatorWork] | None:
        """What each operator did; None if that cannot be told."""
        metered = look.metered
        if metered is None:
            metered = {} if self._metered is None else self._metered.scaled(batch.records)
        shared = [chain for each in look.segments for chain in each.chains if len(chain.operators) > 1]
        if any(name not in metered for chain in shared for name in chain.operators):
            return None
        work: dict[str, OperatorWork] = {}
        counted = {each.segment.name: each.counted or 0 for each in look.segments}
        for each in look.segments:
            names, after = each.segment.operators, each.segment.after
            own = attribute(
                each.chains,
                self._stages.of_jobs(each.jobs) or (),
                sum(counted[parent] for parent in after) if after else round(batch.records),
                exchanges={name: self._dry_runs[name].exchanges for name in names},
                metered={name: metered[name] for name in names if name in metered},
                counted=each.counted,
            )
            if own is None:
                return None
            work |= own
        for name, seconds in look.useful_seconds.items():
            work[name] = work[name].lasting(seconds, batch.plan[name])
        return work


def _seconds_between_looks(batches: int, window: float) -> float:
    """From one batch that is measured to the next one. Where a window has few batches, each is measured."""
    if batches <= MEASURED_BATCHES:
        return 0.0
    return min(window, max(window / MEASURED_BATCHES, LOOK_SECONDS / MOST_METERING))


def _spread(count: int, wanted: int) -> set[int]:
    """Indices spread evenly over a sequence, the last one among them.

    >>> sorted(_spread(10, 4)), sorted(_spread(2, 4))
    ([1, 4, 7, 9], [0, 1])
    """
    return {round((i + 1) * count / wanted) - 1 for i in range(wanted)} if count > wanted else set(range(count))
