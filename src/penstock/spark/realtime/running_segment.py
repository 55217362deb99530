"""A segment of a real-time job while it runs: normally one query, and more while it is handed over."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from penstock.model import Plan
from penstock.spark.chains import Chain, Exchange, Partitioning, chains
from penstock.spark.dry_run import DryRun
from penstock.spark.graph import Graph
from penstock.spark.hadoop_folder import HadoopFolder
from penstock.spark.realtime.checkpoint import PartitionOffsets, committed, records_by_topic
from penstock.spark.realtime.cut import forget
from penstock.spark.realtime.generations import Generation, GenerationLog, one_again
from penstock.spark.realtime.segment_query import SegmentQuery, Wiring
from penstock.spark.realtime.shuffles import explained, inner_shuffles, marked

STATEFUL = re.compile(r"StateStore|WithState|StreamingDeduplicate|StreamingGlobalLimit|SymmetricHashJoin|SessionWindow")
"""What Spark calls the steps of a query that keep something from one record to a later one."""


class RunningSegment:
    """Runs one segment, through all its generations.

    queries   one for each generation, oldest first; the last one has the plan in force
    told_to   the executors that know the cuts of all old queries
    stateful  whether it keeps something from one record to a later one
    readers   partitions of all topics that it reads
    shuffles  partitions of the shuffles inside each operator that has some
    """

    def __init__(
        self,
        spark: SparkSession,
        graph: Graph,
        dry_runs: Mapping[str, DryRun],
        wiring: Wiring,
        checkpoint: str,
        *,
        batch_seconds: float,
        metering: bool,
        hands_over: bool,
        chaining: bool,
    ) -> None:
        """
        checkpoint  the folder of the job
        hands_over  whether it may be handed over
        chaining    whether its operators may share their instances
        """
        self.wiring = wiring
        self.segment = wiring.segment
        self.stateful = False
        self.readers = 1
        self.shuffles: dict[str, int] = {}
        self._spark = spark
        self._graph = graph
        self._dry_runs = dry_runs
        self._chaining = chaining
        self._batch_seconds = batch_seconds
        self._metering = metering
        self._hands_over = hands_over
        self._log = GenerationLog(HadoopFolder(spark, checkpoint), wiring.place.folder)
        self._batches_before = self._most_batches = 0
        self.told_to: set[str] = set()
        self._told_before: Mapping[str, str] = {}
        self.queries = [self._query(generation) for generation in self._log.read()]

    def _query(self, generation: Generation) -> SegmentQuery:
        return SegmentQuery(
            self._spark, self._graph, self.wiring, self._batch_seconds, self._metering, generation,
            self._log.place(generation), self.can_be_handed_over, self.chains,
        )  # fmt: skip

    @property
    def can_be_handed_over(self) -> bool:
        return self._hands_over and not self.stateful

    # Slots -----------------------------------------------------------------------------------------------------

    def chains(self, plan: Plan) -> tuple[Chain, ...]:
        """Which of its operators share their instances. With as many instances as there are partitions to read, the
        first ones share those of the readers."""
        read = Partitioning(self.readers)
        return chains(self.segment, self._graph, self._dry_runs, plan, read, chaining=self._chaining, live=True)

    def slots_needed(self, plan: Plan) -> int:
        """A slot for each partition that it reads, for each instance behind a shuffle, and for each partition of an
        inner shuffle."""
        shuffled = [chain.parallelism for chain in self.chains(plan) if chain.exchange is Exchange.SHUFFLE]
        return self.readers + sum(shuffled) + sum(self.shuffles.values())

    def slots_taken(self) -> int:
        """Those that its queries have now."""
        return sum(self.slots_needed(query.plan) for query in self.queries if query.plan is not None)

    def slots_of_old(self) -> int:
        """Those that old queries have while the segment is handed over."""
        return sum(self.slots_needed(query.plan) for query in self.queries[:-1] if query.plan is not None)

    def look_inside(self) -> None:
        """Ask Spark for the shuffles inside the operators, and whether they keep state."""
        last, plan = self.queries[0].committed(), marked(self.segment.operators)
        text = explained(self.queries[-1].frame(self.chains(plan)), None if last is None else last.partitions)
        self.shuffles = inner_shuffles(text, plan.parallelism)
        self.stateful = STATEFUL.search(text) is not None
        self.queries = [self._query(query.generation) for query in self.queries]

    # One query -------------------------------------------------------------------------------------------------

    def prepare(self, plan: Plan) -> DataStreamWriter | None:
        """What can be done before a restart; None if there are more queries, which are one again afterwards."""
        return self.queries[0].prepare(plan) if len(self.queries) == 1 else None

    def start(self, plan: Plan, prepared: DataStreamWriter | None = None) -> None:
        """Begin, or go on where it was stopped, with one query."""
        if len(self.queries) > 1:
            generation = self._alone()
            self._log.write(generation)
            self._retire(self.told)
            known = [query for query in self.queries if query.generation == generation]
            self.queries = known or [self._query(generation)]
        self._log.clean()
        self.queries[0].until = None
        self.queries[0].start(plan, prepared)

    def stop(self) -> None:
        for query in self.queries:
            query.stop()

    def resumes_at(self) -> dict[str, int] | None:
        """Records of each topic before the one that the next start goes on with; None: it begins at the beginning."""
        generation = self.queries[0].generation if len(self.queries) == 1 else self._alone()
        last = committed(self._spark, self._log.place(generation))
        read = generation.starts if last is None else last.offsets
        return None if read is None else records_by_topic([generation.owned(read)])

    def _alone(self) -> Generation:
        read = [None if last is None else last.offsets for last in (query.committed() for query in self.queries)]
        return one_again([query.generation for query in self.queries], read, self._log.next_number())

    def rewind(self) -> None:
        """After a stop, when its batches have been read: what was not committed will be run again."""
        for query in self.queries:
            last = query.committed()
            query.rewind(-1 if last is None else last.batch)

    # More than one ---------------------------------------------------------------------------------------------

    @property
    def cut(self) -> PartitionOffsets:
        """Where the records of the newest query begin."""
        return self.queries[-1].generation.first

    @property
    def told(self) -> dict[str, str]:
        """The properties that tell the old queries their cuts."""
        return {name: value for query in self.queries[:-1] for name, value in query.told.items()}

    def prepare_handover(self, starts: PartitionOffsets, cut: PartitionOffsets) -> None:
        """Write down a new generation, whose query is not started yet."""
        old = self.queries[-1]
        assert old.cut is not None, "a segment that cannot be cut is not handed over"
        generation = Generation(self._log.next_number(), starts, cut)
        self._log.write(*(query.generation for query in self.queries), generation)
        old.until = cut
        self.queries.append(self._query(generation))
        self.queries[-1].expect(old.expected)

    def start_new(self, plan: Plan) -> None:
        self.queries[-1].start(plan)

    @property
    def is_handed_over(self) -> bool:
        """Whether the oldest query has written all that is its own, and the one after it works."""
        old, new, *_ = self.queries
        return new.works and old.ended_beyond(new.generation.first)

    def finish(self) -> SegmentQuery:
        """End the oldest query; returns it, with batches that nobody has read yet."""
        old, *rest = self.queries
        old.stop()
        self._log.write(*(query.generation for query in rest))
        self._retire(old.told)
        self.queries = rest
        self._log.clean()
        return old

    def _retire(self, told: Mapping[str, str]) -> None:
        """The properties stay until the next cut: tasks of a query that was stopped may still read for a moment."""
        forget(self._spark, self._told_before)
        self._told_before = told
        self._batches_before = self._most_batches

    # What it does ----------------------------------------------------------------------------------------------

    @property
    def running(self) -> bool:
        return all(query.running for query in self.queries)

    def runs(self, plan: Plan) -> bool:
        """Whether it runs with this plan, and one query. Partitions that were added to a topic part its readers from
        operators with which they shared their instances."""
        *old, newest = self.queries
        return self.running and not old and newest.chains == self.chains(plan)

    @property
    def failure(self) -> str | None:
        """Why a query ended, in one line."""
        return next((query.failure for query in self.queries if query.failure is not None), None)

    @property
    def place_of_failure(self) -> str | None:
        """The records that a failed query had to read; None if it is not known, or nothing failed."""
        return next((query.place_of_failure for query in self.queries if query.failure is not None), None)

    @property
    def started_at(self) -> float:
        return self.queries[-1].started_at

    @property
    def last_batch(self) -> int:
        """The number of the batch that ended last, counted through all generations; less than before if none has."""
        number = self._batches_before + self.queries[-1].last_batch
        self._most_batches = max(self._most_batches, number + 1)
        return number

    def state_holders(self) -> set[str]:
        """The executors that hold its state."""
        return {holder for query in self.queries for holder in query.state_holders()}
