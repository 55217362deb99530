"""What a user writes for a stateful query: a function of the plan. Penstock starts it, steers it, and moves its state.

def sessions(spark, plan):
    bids = spark.readStream.schema(SCHEMA).parquet("s3://...")
    return count_by_session(bids).writeStream.foreachBatch(keep)

NativeQuery("sessions", sessions).run(spark, slo=Slo(event_latency="30 s"), checkpoint="s3://...")
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.model import Actuation, InvalidValueError, Operator, Plan, Slo, Topology
from penstock.spark.pipeline import MOST_INSTANCES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from penstock.spark.job import RunningJob

STATE = "state"
"""What plans and samples call the stateful operators of a query."""


@dataclass(frozen=True)
class NativeQuery:
    """A stateful query of Structured Streaming. Nothing runs before `run` or `start`.

    name      what the store calls it
    build     makes the query for a session and a plan, up to its sink; checkpoint and start are Penstock's business
    min, max  the fewest and the most partitions that its state may have

    >>> NativeQuery("sessions", build=lambda spark, plan: None, max=8).topology()["state"].max
    8
    """

    name: str
    build: Callable[[SparkSession, Plan], DataStreamWriter]
    min: int = 1
    max: int = MOST_INSTANCES

    def __post_init__(self) -> None:
        if not callable(self.build):
            raise InvalidValueError("build", f"must make a query from a session and a plan, not {self.build!r}")
        self.topology()

    def topology(self) -> Topology:
        """All stateful operators of a query share one number of partitions: to the policies they are one operator."""
        actuation = Actuation.STATE_REPARTITION
        return Topology((Operator(STATE, min=self.min, max=self.max, stateful=True, actuation=actuation, tie=STATE),))

    def start(self, spark: SparkSession, *, slo: Slo, checkpoint: str, **options: Any) -> RunningJob:
        """Start the query with Penstock beside it, and return at once.

        The options are those of `penstock.spark.job.Options`.
        """
        from penstock.spark.job import Options, check_checkpoint, steer
        from penstock.spark.native.engine import NativeEngine

        chosen = Options(**options)
        check_checkpoint(checkpoint)
        plan = chosen.plan or Plan.smallest(self.topology())
        engine = NativeEngine(spark, self, plan, checkpoint, slo, batch_seconds=chosen.batch_seconds)
        return steer(engine, self.name, slo, checkpoint, chosen)

    def run(self, spark: SparkSession, *, slo: Slo, checkpoint: str, **options: Any) -> None:
        """As `start`, and wait until the query ends."""
        with self.start(spark, slo=slo, checkpoint=checkpoint, **options) as job:
            job.wait()
