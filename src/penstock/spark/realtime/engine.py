"""The real-time engine: Spark's real-time mode over Kafka. Operators run concurrently, each with its own parallelism.

Each segment is one streaming query, and internal topics join them. A change restarts the segments that it touches,
right after the end of a batch and from the same checkpoint: nothing is lost, and what is done twice is counted.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import ClassVar

from pyspark.sql import SparkSession

from penstock.control.think import sentence
from penstock.model import Actuation, Execution, InvalidValueError, PenstockError, Plan, Sample
from penstock.spark.dry_run import DryRun
from penstock.spark.engine import SparkEngine
from penstock.spark.executors.slots import FixedSlots, NotEnoughSlotsError, SlotSupplier
from penstock.spark.failure import JobFailedError, given_up
from penstock.spark.graph import Graph
from penstock.spark.hadoop_folder import HadoopFolder
from penstock.spark.job_note import read_note, write_note
from penstock.spark.realtime.checkpoint import committed
from penstock.spark.realtime.duplicates import Duplicates
from penstock.spark.realtime.ledger import Ledger
from penstock.spark.realtime.repair import SLOTS_SECONDS, Repair
from penstock.spark.realtime.rescale import CancelledError, Rescale, Restart
from penstock.spark.realtime.restart_cost import RestartCost
from penstock.spark.realtime.segment_query import SegmentQuery
from penstock.spark.realtime.windows import Windows, late_after
from penstock.spark.realtime.wiring import wire
from penstock.spark.settings import PARTITIONS
from penstock.spark.topics.growth import Growth
from penstock.spark.topics.offsets import Offsets

log = logging.getLogger("penstock")


REMEMBERED_CHANGES = 1_000


class ChangeFailedError(PenstockError):
    """A change could not be made; the old plan is in force."""


class RealTimeEngine(SparkEngine):
    """Runs a graph of operators in real time."""

    execution: ClassVar[Execution] = Execution.CONCURRENT
    actuation: ClassVar[Actuation] = Actuation.RESTART

    def __init__(
        self,
        spark: SparkSession,
        graph: Graph,
        dry_runs: Mapping[str, DryRun],
        checkpoint: str,
        *,
        batch_seconds: float = 5.0,
        slots: SlotSupplier | None = None,
        internal_partitions: int = 1,
        metering: bool = True,
    ) -> None:
        """Everything is checked, and nothing is started yet.

        batch_seconds        the length of a batch
        slots                where slots come from; None: those that the application has
        internal_partitions  partitions of each topic between segments; a reader holds a slot for each
        metering             without it nothing is known of operators and latency; for comparisons
        """
        super().__init__(graph.topology(self.actuation), slots or FixedSlots(spark))
        self._spark = spark
        self._checkpoint = checkpoint
        self._batch_seconds = batch_seconds
        self._internal_partitions = internal_partitions
        note = read_note(spark, checkpoint, "realtime")
        wirings = wire(graph, dry_runs, checkpoint, note.places)
        self._note = replace(note, places=tuple(wiring.place for wiring in wirings))
        self._queries = [SegmentQuery(spark, graph, wiring, batch_seconds, metering) for wiring in wirings]
        self._source = wirings[0].source
        self._offsets = Offsets(self._source.servers, self._source.admin_settings)
        self._growth = Growth()
        self._ledgers: dict[str, Ledger] = {}
        self._topics = tuple(dict.fromkeys(t for w in wirings for t in (*w.reads, *w.writes)))
        self._changing = threading.RLock()
        self._reading = threading.Lock()  # of batches: each is added to its ledger once
        self._stopping = threading.Event()
        self._ended = threading.Event()
        self._watch = threading.Thread(target=self._keep_watch, name="penstock-realtime", daemon=True)
        self.failure: str | None = None
        self.unfinished = 0  # records at the sinks that come again if the job, now stopped, is started again
        self.changes: deque[RestartCost] = deque(maxlen=REMEMBERED_CHANGES)

    # The life of a job -----------------------------------------------------------------------------------------

    @property
    def local_checkpoint(self) -> Path | None:
        return HadoopFolder(self._spark, self._checkpoint).local

    def _prepare(self, plan: Plan) -> Plan:
        """Create the internal topics, and count the slots that no plan changes."""
        write_note(self._spark, self._checkpoint, self._note)
        for query in self._queries:
            if query.wiring.internal_sink is not None:
                self._offsets.create(query.wiring.internal_sink.topic, self._internal_partitions)
        self._open_ledgers()
        self._refuse_too_many_shuffles(plan)
        return plan

    def _start(self, plan: Plan) -> None:
        """Start every segment, and restart those that fail."""
        self._plan = plan
        try:
            for query in self._queries:
                query.start(plan)
        except Exception:
            for query in self._queries:
                query.stop()
            raise
        self._windows.settle_until(self.now() + self._batch_seconds)
        self._watch.start()

    def stop(self) -> None:
        """End all queries. What they had read and not finished is read again by the next start."""
        self._stopping.set()  # a change that is being made gives up
        with self._changing:
            if not self._ended.is_set():
                self._ended.set()
                counted = []
                for query in self._queries:
                    query.stop()
                    counted.append(self._account_for_stop(query) is not None)
                self.unfinished = self._duplicates.newest_at_sinks if all(counted) else 0
        if self._watch.is_alive():
            self._watch.join()

    @property
    def alive(self) -> bool:
        return not self._ended.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        ended = self._ended.wait(seconds)
        if self.failure is not None:
            raise JobFailedError(self.failure)
        return ended

    @property
    def duplicates(self) -> int:
        """Records that came twice at the sinks since the start, because queries were stopped."""
        return self._duplicates.at_sinks - self.unfinished

    def notes(self) -> list[str]:
        silences = [change.silence_seconds for change in self.changes if change.silence_seconds is not None]
        if not silences:
            return []
        longest = max(silences)
        return [f"a change silenced the output for {median(silences):.1f} s in the median, {longest:.1f} s at the most"]

    # Monitor and actuator --------------------------------------------------------------------------------------

    def read(self) -> Sequence[Sample]:
        """The windows that ended since the last call."""
        self._read_topics()
        return self._windows.read(self.now(), self.plan(), self.slots.executors())

    def _change(self, plan: Plan) -> None:
        """Restart the segments that `plan` touches; if that fails the old plan is in force again."""
        with self._changing:
            if not self._watch.is_alive():
                raise ChangeFailedError("the job does not run")
            before, t, known = self.plan(), self.now(), self.duplicates
            touched = [q for q in self._queries if any(plan[name] != before[name] for name in q.segment.operators)]
            if touched:
                restarts = self._rescale(touched, plan)
                silences = [r.silence_seconds for r in restarts if r.silence_seconds is not None]
                self.changes.append(RestartCost(
                    t=t, before=before, after=plan, segments=tuple(r.query.segment.name for r in restarts),
                    stop_seconds=max(r.stop_seconds for r in restarts),
                    start_seconds=max(r.start_seconds for r in restarts),
                    silence_seconds=max(silences, default=None),
                    cut_short=tuple(r.query.segment.name for r in restarts if r.cut_short),
                    duplicates=self.duplicates - known,
                ))  # fmt: skip
            self._plan = plan

    def _rescale(self, touched: Sequence[SegmentQuery], plan: Plan) -> list[Restart]:
        # The plan's slots were required before: there are as many, even if Spark does not count them all yet.
        before, available = self.plan(), max(self.slots.slots(), self.slots_needed(plan))

        def fits(changed: Sequence[SegmentQuery]) -> bool:
            return sum(q.slots_needed(plan if q in changed else before) for q in self._queries) <= available

        rescale = Rescale(
            plan, self._offsets, is_late=self._is_late, fits=fits, stopped=self._account_for_stop,
            cancelled=self._stopping.is_set,
        )  # fmt: skip
        try:
            rescale.run(touched)
        except CancelledError:
            raise ChangeFailedError("the job is being stopped") from None
        except Exception as error:
            for restart in rescale.restarts:
                restart.query.stop()
                self._account_for_stop(restart.query)
                restart.query.start(before)
            raise ChangeFailedError(f"{sentence(error)}; the old plan is in force again") from error
        finally:
            self._windows.settle_until(self.now())
        return rescale.restarts

    # Slots -----------------------------------------------------------------------------------------------------

    def slots_needed(self, plan: Plan) -> int:
        """All operators run concurrently, and what Spark shuffles inside them too."""
        return sum(query.slots_needed(plan) for query in self._queries)

    def _refuse_too_many_shuffles(self, plan: Plan) -> None:
        needed, most = self.slots_needed(plan), self.slots.most_slots()
        shuffles = {name: partitions for query in self._queries for name, partitions in query.shuffles.items()}
        if needed <= most or not shuffles:
            return
        widest = max(shuffles, key=shuffles.__getitem__)
        raise NotEnoughSlotsError(needed, most, (
            f"operator {widest} shuffles inside, into {shuffles[widest]} partitions with a slot each; "
            f"{PARTITIONS} says how many"
        ))  # fmt: skip

    def _state_holders(self) -> set[str]:
        return {holder for query in self._queries for holder in query.state_holders()}

    # Watch -----------------------------------------------------------------------------------------------------

    def _open_ledgers(self) -> None:
        """Begin all ledgers at what the topics and the checkpoints say now."""
        lengths, begins = self._offsets.ends(self._topics), self._offsets.begins(self._topics)
        if lengths is None or begins is None:
            raise InvalidValueError("source", f"cannot be read: Kafka at {self._source.servers} does not answer")
        now = self.now()
        for query in self._queries:
            wiring = query.wiring
            last = committed(self._spark, wiring.checkpoint)
            read = {topic: begins[topic] for topic in wiring.reads} if last is None else last.consumed
            self._ledgers[query.segment.name] = Ledger(wiring, read, now)
            query.readers = self._offsets.count(wiring.reads)
            query.count_shuffles(None if last is None else last.partitions)
        ledgers = list(self._ledgers.values())
        self._growth.add(now, lengths)
        self._duplicates = Duplicates(ledgers, lengths)
        self._windows = Windows(ledgers, self._growth, self._batch_seconds, now)

    def _account_for_stop(self, query: SegmentQuery) -> Mapping[str, int] | None:
        """Add to its ledger what a stopped query has finished, count what it wrote beyond; returns the lengths."""
        ledger, lengths, at = self._ledgers[query.segment.name], self._offsets.ends(self._topics), self.now()
        if lengths is not None:
            self._growth.add(at, lengths)
        with self._reading:
            ledger.add(query.new_batches())
            last = committed(self._spark, query.wiring.checkpoint)
            query.rewind(-1 if last is None else last.batch)
            written = ledger.written(at, self._growth)
            ledger.stopped(ledger.began_at if last is None else last.consumed, at, self._growth)
        if lengths is not None:
            self._duplicates.count(ledger, lengths, written)
        return lengths

    def _read_topics(self) -> None:
        with self._reading:
            for query in self._queries:
                self._ledgers[query.segment.name].add(query.new_batches())
        t, lengths = self.now(), self._offsets.ends(self._topics)
        if lengths is not None:
            self._growth.add(t, lengths)
            self._count_readers()

    def _count_readers(self) -> None:
        """A partition that was added to a topic is read in a slot of its own, from the next batch on."""
        before = self.slots_needed(self.plan())
        for query in self._queries:
            query.readers = self._offsets.count(query.wiring.reads)
        needed = self.slots_needed(self.plan())
        if needed > before:
            log.info("a topic has more partitions now: the plan needs %d slots and not %d", needed, before)
            try:
                self.slots.require(needed)
            except NotEnoughSlotsError as error:
                log.warning("the partitions that were added to a topic have no slots: %s", error)

    def _is_late(self, query: SegmentQuery) -> bool:
        """Whether the running batch should have ended long ago."""
        batches = self._ledgers[query.segment.name].batches
        since = max(query.started_at, batches[-1].end if batches else 0.0)
        return self.now() - since > late_after(self._batch_seconds)

    def _keep_watch(self) -> None:
        """Reads the lengths of the topics periodically, and restarts segments that have failed."""
        repairs = [Repair(query) for query in self._queries]
        while not self._ended.wait(min(0.5, self._batch_seconds / 5)):
            try:
                self._read_topics()
                for repair in repairs:
                    self._repair(repair)
            except Exception as error:  # the job runs on
                log.warning("the job could not be watched for a moment: %s", sentence(error))

    def _repair(self, repair: Repair) -> None:
        if repair.query.running or not self._changing.acquire(blocking=False):
            return  # a change under way restarts its segments itself
        try:
            if repair.query.running or self._ended.is_set():
                return
            if self._offsets.ends(self._topics) is None:
                return  # without a broker it would fail again, through no fault of its own
            t, there, needed = self.now(), self.slots.slots(), self.slots_needed(self.plan())
            waits = repair.waits_for_slots(t, there >= needed)
            name = repair.query.segment.name
            if repair.lacks_slots_too_long(t):
                minutes, why = SLOTS_SECONDS / 60, repair.query.failure
                waited = f"{name} waited {minutes:.0f} min for slots: the plan needs {needed}, and there are {there}"
                self._give_up(waited if why is None else f"{waited}; Spark says: {why}")
                return
            if repair.is_said(t):
                log.warning("%s waits for slots: the plan needs %d, and there are %d", name, needed, there)
            if waits or not repair.is_due(t):
                return
            why, place = repair.query.failure, repair.query.place_of_failure
            self._account_for_stop(repair.query)
            if repair.is_given_up:
                self._give_up(given_up(name, repair.failures, why, place))
                return
            log.warning("%s failed and is restarted: %s", name, why)
            repair.query.start(self.plan())
            self._windows.settle_until(self.now())
        finally:
            self._changing.release()

    def _give_up(self, why: str) -> None:
        self.failure = why
        log.error(why)
        threading.Thread(target=self.stop, name="penstock-stop").start()
