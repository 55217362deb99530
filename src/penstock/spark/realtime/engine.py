"""The real-time engine: Spark's real-time mode over Kafka. Operators run concurrently, each with its own parallelism.

Each segment is one streaming query, and internal topics join them. A change touches some segments, while the others run
on. A stateless one can be handed over to a second query beside the first, which stops nothing. Where that cannot be
had, a segment is restarted right after the end of a batch and from the same checkpoint: nothing is lost, and what is
done twice is counted.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from pyspark.sql import SparkSession

from penstock.control.think import sentence
from penstock.model import Actuation, Execution, PenstockError, Plan, Sample
from penstock.spark.chains import chained
from penstock.spark.dry_run import DryRun
from penstock.spark.engine import SparkEngine
from penstock.spark.executors.slots import FixedSlots, NotEnoughSlotsError, SlotSupplier
from penstock.spark.failure import JobFailedError, given_up
from penstock.spark.graph import Graph
from penstock.spark.hadoop_folder import HadoopFolder
from penstock.spark.job_note import read_note, write_note
from penstock.spark.realtime.change_cost import ChangeCost, cost_of, said_of
from penstock.spark.realtime.handover import MOST_QUERIES, Handover, HandoverRefusedError
from penstock.spark.realtime.measurements import Measurements
from penstock.spark.realtime.repair import Repair
from penstock.spark.realtime.rescale import CancelledError, Rescale, Restart
from penstock.spark.realtime.running_segment import RunningSegment
from penstock.spark.realtime.segment_slots import SegmentSlots
from penstock.spark.realtime.shuffles import refuse_too_many
from penstock.spark.realtime.wiring import readers_of, wire
from penstock.spark.segments import segments
from penstock.spark.topics.offsets import Offsets

log = logging.getLogger("penstock")

REMEMBERED_CHANGES = 1_000

HANDOVER, ORDERED, RESTART = WAYS = ("handover", "ordered", "restart")
"""How a plan changes. "handover": a new query takes over while the old one runs on, and where a segment is behind, new
records pass those that wait. "ordered": likewise, but a segment that is behind is restarted: records of one key pass
each other by milliseconds only. "restart": the segments that a change touches are stopped and started again."""


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
        change: str = HANDOVER,
        chaining: bool = True,
    ) -> None:
        """Everything is checked, and nothing is started yet.

        batch_seconds        the length of a batch
        slots                where slots come from; None: those that the application has
        internal_partitions  partitions of each topic between segments; a reader holds a slot for each
        metering             without it nothing is known of operators and latency; for comparisons
        change               how a plan changes: one of `WAYS`
        chaining             whether operators may share their instances
        """
        note = read_note(spark, checkpoint, "realtime")
        wirings = wire(graph, dry_runs, checkpoint, note.places)
        source = wirings[0].source
        self._offsets = Offsets(source.servers, source.admin_settings)
        self._internal_partitions = internal_partitions
        topology = graph.topology(self.actuation)
        if chaining:
            shared = chained(segments(graph), graph, dry_runs)
            readers = readers_of(wirings, graph, dry_runs, self._offsets, internal_partitions)
            topology = graph.topology(self.actuation, shared, readers)
        super().__init__(topology, slots or FixedSlots(spark))
        self._spark = spark
        self._checkpoint = checkpoint
        self._batch_seconds = batch_seconds
        self._way = change
        self._note = replace(note, places=tuple(wiring.place for wiring in wirings))
        self._segments = [
            RunningSegment(
                spark, graph, dry_runs, wiring, checkpoint, batch_seconds=batch_seconds, metering=metering,
                hands_over=change != RESTART, chaining=chaining,
            )
            for wiring in wirings
        ]  # fmt: skip
        self._held = SegmentSlots(self._segments)
        self._measurements = Measurements(self._segments, self._offsets, batch_seconds, self.now)
        self._handover = Handover(
            spark, self._offsets, self._measurements, batch_seconds=batch_seconds, free=self._free_slots,
            cancelled=lambda: self._stopping.is_set(),
        )  # fmt: skip
        self._changing = threading.RLock()
        self._stopping = threading.Event()
        self._ended = threading.Event()
        self._watch = threading.Thread(target=self._keep_watch, name="penstock-realtime", daemon=True)
        self.failure: str | None = None
        self.unfinished = 0  # records at the sinks that come again if the job, now stopped, is started again
        self.changes: deque[ChangeCost] = deque(maxlen=REMEMBERED_CHANGES)

    # The life of a job -----------------------------------------------------------------------------------------

    @property
    def local_checkpoint(self) -> Path | None:
        return HadoopFolder(self._spark, self._checkpoint).local

    def _prepare(self, plan: Plan) -> Plan:
        """Create the internal topics, and count the slots that no plan changes."""
        write_note(self._spark, self._checkpoint, self._note)
        for segment in self._segments:
            if segment.wiring.internal_sink is not None:
                self._offsets.create(segment.wiring.internal_sink.topic, self._internal_partitions)
        self._measurements.open()
        shuffles = {name: partitions for segment in self._segments for name, partitions in segment.shuffles.items()}
        refuse_too_many(shuffles, self.slots_needed(plan), self.slots.most_slots())
        return plan

    def _start(self, plan: Plan) -> None:
        """Start every segment, and restart those that fail."""
        self._plan = plan
        try:
            for segment in self._segments:
                segment.start(plan)
        except Exception:
            for segment in self._segments:
                segment.stop()
            raise
        self._measurements.settle(self._batch_seconds)
        self._watch.start()

    def stop(self) -> None:
        """End all queries. What they had read and not finished is read again by the next start."""
        self._stopping.set()  # a change that is being made gives up
        with self._changing:
            if not self._ended.is_set():
                self._ended.set()
                counted = [self._stopped(segment) is not None for segment in self._segments]
                self.unfinished = self._measurements.newest_duplicates if all(counted) else 0
        if self._watch.is_alive():
            self._watch.join()

    def _stopped(self, segment: RunningSegment) -> Mapping[str, int] | None:
        segment.stop()
        return self._measurements.stopped(segment)

    def _restarted(self, segment: RunningSegment, plan: Plan) -> None:
        self._stopped(segment)
        segment.start(plan)
        self._measurements.settle()

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
        return self._measurements.duplicates - self.unfinished

    def notes(self) -> list[str]:
        return said_of(self.changes)

    # Monitor and actuator --------------------------------------------------------------------------------------

    def read(self) -> Sequence[Sample]:
        """The windows that ended since the last call."""
        self._read_topics()
        return self._measurements.samples(self.plan(), self.slots.executors())

    def _change(self, plan: Plan) -> None:
        """Change the segments that `plan` touches; if that fails the old plan is in force again."""
        with self._changing:
            if not self._watch.is_alive():
                raise ChangeFailedError("the job does not run")
            before = self.plan()
            if touched := self._touched(before, plan):
                self.changes.append(self._changed(touched, before, plan))
            self._plan = plan

    def _touched(self, before: Plan, plan: Plan) -> list[RunningSegment]:
        """The segments that run otherwise under `plan`."""
        return [s for s in self._segments if any(plan[name] != before[name] for name in s.segment.operators)]

    def _changed(self, touched: Sequence[RunningSegment], before: Plan, plan: Plan) -> ChangeCost:
        t, began, known, why, started = self.now(), self.steady(), self.duplicates, None, 0.0
        changed: list[RunningSegment] = []
        restarts: list[Restart] = []
        try:
            if self._way != RESTART:
                started, why = self._hand_over(touched, before, plan, changed)
            handed_over = tuple(segment.segment.name for segment in changed)
            rest = [segment for segment in touched if segment not in changed]
            restarts = self._restart(rest, before, plan, changed) if rest else []
        except CancelledError:
            raise ChangeFailedError("the job is being stopped") from None
        except Exception as error:
            self._roll_back(touched, before)
            raise ChangeFailedError(f"{sentence(error)}; the old plan is in force again") from error
        finally:
            self._measurements.settle()
        if why is not None and restarts:
            log.warning("%s: restarted, as %s", ", ".join(r.segment.segment.name for r in restarts), why)
        return cost_of(
            before, plan, handed_over, restarts, t=t, seconds=self.steady() - began, start_seconds=started, why=why,
            duplicates=self.duplicates - known,
        )  # fmt: skip

    def _hand_over(
        self, touched: Sequence[RunningSegment], before: Plan, plan: Plan, changed: list[RunningSegment]
    ) -> tuple[float, str | None]:  # fmt: skip
        """Hand over what can be, all at once or one after the other as there are slots; adds it to `changed`. Returns
        the seconds of the longest start of a query, and why the others were not handed over."""
        refusals = {segment: self._refusal(segment) for segment in touched}
        why = next((f"{s.segment.name} {refusal}" for s, refusal in refusals.items() if refusal is not None), None)
        able = [segment for segment, refusal in refusals.items() if refusal is None]
        groups, longest = [able], 0.0
        while groups and able:
            group = groups.pop(0)
            try:
                self.slots.require(self._beside_old_queries(self._held.of_both(group, before, plan, changed)))
                longest = max(longest, self._handover.run(group, plan))
            except NotEnoughSlotsError as error:
                why = f"there are no slots for two queries: {error}"
                groups = [[segment] for segment in group] if len(group) > 1 else groups
            except HandoverRefusedError as refusal:
                why = str(refusal)
                changed += [segment for segment in group if segment.runs(plan)]
            else:
                changed += group
        return longest, why

    def _refusal(self, segment: RunningSegment) -> str | None:
        """Why a segment cannot be handed over; None: it can."""
        if segment.stateful:
            return "keeps state, which one query has"
        if not self._handover.wait_for_old_queries(segment, MOST_QUERIES - 1):
            return "is still being handed over by the changes before"
        if self._way == ORDERED and self._handover.is_behind(segment):
            return "is behind, and the records of a key would pass each other"
        return None

    def _restart(
        self, segments: Sequence[RunningSegment], before: Plan, plan: Plan, changed: Sequence[RunningSegment]
    ) -> list[Restart]:  # fmt: skip
        # The plan's slots were required before: there are as many, even if Spark does not count them all yet.
        available = max(self.slots.slots(), self._slots_used(plan))
        rescale = Rescale(
            plan, self._offsets, is_late=self._measurements.is_late, stopped=self._measurements.stopped,
            fits=lambda restarted: self._held.of_both((), before, plan, [*changed, *restarted]) <= available,
            cancelled=self._stopping.is_set,
        )  # fmt: skip
        rescale.run(segments)
        return rescale.restarts

    def _roll_back(self, touched: Sequence[RunningSegment], before: Plan) -> None:
        """Restart whatever a change that failed has touched, with the old plan."""
        for segment in touched:
            if not segment.runs(before):
                self._restarted(segment, before)

    # Slots -----------------------------------------------------------------------------------------------------

    def slots_needed(self, plan: Plan) -> int:
        return self._held.of_plan(plan)

    def _slots_used(self, plan: Plan) -> int:
        """Those of a plan, and of old queries that have not ended yet."""
        return self.slots_needed(plan) + self._held.of_old()

    def _slots_required(self, plan: Plan) -> int:
        return self._beside_old_queries(self.slots_needed(plan))

    def _slots_ahead(self, plan: Plan) -> int:
        """Those of both plans, where segments are handed over: executors for a hand-over come with those of the plan,
        and not after them. Where there cannot be as many, a hand-over finds another way."""
        if self._way == RESTART or self._plan is None:
            return 0
        needed = self._held.of_both(self._touched(self.plan(), plan), self.plan(), plan) + self._held.of_old()
        return needed if needed <= self.slots.most_slots() else 0

    def _beside_old_queries(self, needed: int) -> int:
        """As many slots and those of old queries, which the last hand-over has left. Where these leave too few they end
        first: that takes a batch at the most, unless they are behind."""
        if needed + self._held.of_old() > self.slots.most_slots():
            with self._changing:
                for segment in self._segments:
                    self._handover.wait_for_old_queries(segment)
        return needed + self._held.of_old()

    def _free_slots(self) -> int:
        return self.slots.slots() - self._held.taken()

    def _state_holders(self) -> set[str]:
        return {holder for segment in self._segments for holder in segment.state_holders()}

    # Watch -----------------------------------------------------------------------------------------------------

    def _read_topics(self) -> None:
        self._measurements.read_batches()
        if self._measurements.read_ends() is not None:
            self._count_readers()

    def _count_readers(self) -> None:
        """A partition that was added to a topic is read in a slot of its own, from the next batch on."""
        before = self.slots_needed(self.plan())
        for segment in self._segments:
            segment.readers = self._offsets.count(segment.wiring.reads)
        needed = self.slots_needed(self.plan())
        if needed > before:
            log.info("a topic has more partitions now: the plan needs %d slots and not %d", needed, before)
            try:
                self.slots.require(needed)
            except NotEnoughSlotsError as error:
                log.warning("the partitions that were added to a topic have no slots: %s", error)

    def _keep_watch(self) -> None:
        """Reads the lengths of the topics periodically, restarts segments that have failed, and ends old queries."""
        repairs = [Repair(segment) for segment in self._segments]
        while not self._ended.wait(min(0.5, self._batch_seconds / 5)):
            try:
                self._read_topics()
                for repair in repairs:
                    if self._changing.acquire(blocking=False):  # a change under way sees to its segments itself
                        try:
                            self._look_after(repair)
                        finally:
                            self._changing.release()
            except Exception as error:  # the job runs on
                log.warning("the job could not be watched for a moment: %s", sentence(error))

    def _look_after(self, repair: Repair) -> None:
        segment = repair.segment
        if self._ended.is_set():
            return
        if not segment.running:
            self._repair(repair)
        elif len(segment.queries) > 1:
            self._handover.finish(segment)
        elif not segment.runs(plan := self.plan()) and self.slots_needed(plan) <= self.slots.slots():
            # A topic got more partitions: who shared the instances of its readers has no more than the plan says.
            self.changes.append(self._changed([segment], plan, plan))

    def _repair(self, repair: Repair) -> None:
        if self._measurements.read_ends() is None:
            return  # without a broker it would fail again, through no fault of its own
        t, there, needed = self.now(), self.slots.slots(), self.slots_needed(self.plan())
        waits = repair.waits_for_slots(t, there >= needed)
        name = repair.segment.segment.name
        if repair.lacks_slots_too_long(t):
            self._give_up(repair.waited_for_slots(needed, there))
            return
        if repair.is_said(t):
            log.warning("%s waits for slots: the plan needs %d, and there are %d", name, needed, there)
        if waits or not repair.is_due(t):
            return
        why, place = repair.segment.failure, repair.segment.place_of_failure
        self._stopped(repair.segment)
        if repair.is_given_up:
            self._give_up(given_up(name, repair.failures, why, place))
            return
        log.warning("%s failed and is restarted: %s", name, why)
        repair.segment.start(self.plan())
        self._measurements.settle()

    def _give_up(self, why: str) -> None:
        self.failure = why
        log.error(why)
        threading.Thread(target=self.stop, name="penstock-stop").start()
