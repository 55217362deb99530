"""What a user writes for a stateful query: a function of the plan. Penstock starts it and steers it.

def sessions(spark, plan):
    bids = spark.readStream.schema(SCHEMA).parquet("s3://...")
    return count_by_session(bids).writeStream.foreachBatch(keep)

NativeQuery("sessions", sessions).run(spark, slo=Slo(event_latency="30 s"), checkpoint="s3://...")
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Unpack

from pyspark.sql import SparkSession

from penstock.control.assembly import OPTIONS, Steering, SteeringOptions
from penstock.model import Cycle, InvalidValueError, Operator, Plan, Slo, Topology, duration
from penstock.model.keywords import knows_its_keywords
from penstock.model.slo import check_slo
from penstock.spark.executors.supplier import supplier
from penstock.spark.graph import MOST_INSTANCES
from penstock.spark.job import RunningJob, StartOptions, check_checkpoint, ignore, steer
from penstock.spark.native.engine import STATE, Build, NativeEngine
from penstock.spark.native.state_checkpoint import Checkpoint
from penstock.spark.versions import STATE_REPARTITION, require


@dataclass(frozen=True)
class NativeQuery:
    """A stateful query of Structured Streaming. Nothing runs before `run` or `start`.

    name      what the store calls it
    build     makes the query for a session and a plan, up to its sink; Penstock adds the checkpoint and starts it
    min, max  the fewest and the most partitions that its state may have; without `max` the most is what its checkpoint
              has, and at least 16

    >>> NativeQuery("sessions", build=lambda spark, plan: None).topology(partitions=200)["state"].max
    200
    """

    name: str
    build: Build
    min: int = 1
    max: int | None = None

    def __post_init__(self) -> None:
        if not callable(self.build):
            raise InvalidValueError("build", f"must make a query from a session and a plan, not {self.build!r}")
        self.topology()

    def topology(self, partitions: int | None = None) -> Topology:
        """All stateful operators of a query share one number of partitions: to the policies they are one operator.

        partitions  those that the state has now, if there is any
        """
        actuation = NativeEngine.actuation
        most = max(self.min, MOST_INSTANCES, partitions or 0) if self.max is None else self.max
        return Topology((Operator(STATE, min=self.min, max=most, stateful=True, actuation=actuation, tie=STATE),))

    @knows_its_keywords(OPTIONS)
    def start(
        self,
        spark: SparkSession,
        *,
        slo: Slo,
        checkpoint: str,
        plan: Plan | None = None,
        batch: str | timedelta | None = None,
        executors: tuple[int, int] | None = None,
        wait: str | timedelta = "2 min",
        on_cycle: Callable[[Cycle], None] = ignore,
        **steering: Unpack[SteeringOptions],
    ) -> RunningJob:
        """Start the query with Penstock beside it, and return while it runs.

        slo         the target that the query is kept within
        checkpoint  the folder from which the query goes on after a stop; it keeps the partitions that its state has
        plan        the first plan of a new checkpoint; none: that of the store, else the smallest
        batch       from one batch to the next; none: the trigger that the query has
        executors   the fewest and the most executors that it may have: they come before a plan that needs them, and
                    are released after one that does not; none: it keeps those that the application has
        wait        how long a change waits for executors; if they do not come, the plan in force stays
        on_cycle    called with every cycle of the loop

        The other keywords are those of `penstock.control.assembly.Steering`.
        """
        require("a native query that changes its partitions", STATE_REPARTITION)
        check_slo("slo", slo)
        seconds = None if batch is None else duration("batch", batch).total_seconds()
        chosen = Steering(**steering)
        check_checkpoint(checkpoint)
        slots = supplier(spark, executors, wait)
        topology = self.topology(Checkpoint(spark, checkpoint).partitions)
        engine = NativeEngine(spark, self.build, topology, checkpoint, batch_seconds=seconds, slots=slots)
        return steer(engine, self.name, slo, checkpoint, chosen, plan, on_cycle)

    @knows_its_keywords(OPTIONS)
    def run(self, spark: SparkSession, *, slo: Slo, checkpoint: str, **options: Unpack[StartOptions]) -> None:
        """As `start`, and wait until the query ends."""
        with self.start(spark, slo=slo, checkpoint=checkpoint, **options) as job:
            job.wait()
