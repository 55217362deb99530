"""What a user writes and starts: a graph of operators on one of the two engines, with Penstock beside it.

    job = Pipeline("clicks", source=kafka("clicks", servers="localhost:9092"))
    parsed = job.operator("parse", parse)
    counted = job.operator("count", count_by_campaign, after=parsed, key="campaign")
    job.sink(kafka("counts", servers="localhost:9092"), after=counted)
    job.run(spark, slo=Slo(event_latency="500 ms"), engine="realtime", checkpoint="s3://...")

Every operator finds the column `stamp` in its input; see `penstock.spark.measure.stamp`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Unpack

from pyspark.sql import SparkSession

from penstock.control.assembly import OPTIONS, Steering, SteeringOptions
from penstock.model import Cycle, InvalidValueError, Plan, Slo, duration
from penstock.model.errors import check_choice
from penstock.model.keywords import knows_its_keywords
from penstock.model.slo import check_slo
from penstock.policies import knows_chains
from penstock.spark.dry_run import dry_run
from penstock.spark.engine import SparkEngine
from penstock.spark.executors.supplier import supplier
from penstock.spark.graph import Graph
from penstock.spark.io.kafka_check import check_topics
from penstock.spark.job import RunningJob, StartOptions, check_checkpoint, ignore, steer
from penstock.spark.measure.shipping import ship_penstock
from penstock.spark.microbatch.engine import MicroBatchEngine
from penstock.spark.realtime.engine import HANDOVER, WAYS, RealTimeEngine
from penstock.spark.versions import REAL_TIME, require

DEFAULT_BATCH = {"microbatch": "1 s", "realtime": "5 s"}


class PipelineOptions(StartOptions, total=False):
    """What the start of a pipeline takes besides: see `Pipeline.start`."""

    change: str | None
    chaining: bool | None


@dataclass
class Pipeline(Graph):
    """A job under construction. Nothing runs before `run` or `start`."""

    @knows_its_keywords(OPTIONS)
    def start(
        self,
        spark: SparkSession,
        *,
        slo: Slo,
        checkpoint: str,
        engine: str = "microbatch",
        plan: Plan | None = None,
        batch: str | timedelta | None = None,
        executors: tuple[int, int] | None = None,
        wait: str | timedelta = "2 min",
        change: str | None = None,
        chaining: bool | None = None,
        on_cycle: Callable[[Cycle], None] = ignore,
        **steering: Unpack[SteeringOptions],
    ) -> RunningJob:
        """Check everything, start the job with Penstock beside it, and return while it runs.

        slo         the target that the job is kept within
        checkpoint  the folder from which the job goes on after a stop
        engine      "microbatch": any operator, a change takes effect at the next batch; "realtime": Kafka to Kafka
                    with native operators, tens of milliseconds, a second query takes over what a change touches
        plan        the first plan; none: that of the store, else the smallest
        batch       from one micro-batch to the next, "1 s" by default; in real time the length of a batch, "5 s"
        executors   the fewest and the most executors that it may have: they come before a plan that needs them, and
                    are released after one that does not; none: it keeps those that the application has
        wait        how long a change waits for executors; if they do not come, the plan in force stays
        change      how a plan changes in real time. "handover", the default: a second query takes over beside the
                    first, with slots of its own until a batch of the first has ended, and nothing stops; where there
                    are no slots for both, and where there is state, what a change touches is restarted. "ordered":
                    likewise, but what is behind is restarted, since new records would pass those of the same key that
                    wait. "restart": what a change touches is stopped and started again
        chaining    whether neighbours with as many instances share them, so that a record passes from one operator to
                    the next without a shuffle; none: under a policy that reckons with it, such as predictive
        on_cycle    called with every cycle of the loop

        The other keywords are those of `penstock.control.assembly.Steering`.
        """
        check_slo("slo", slo)
        check_choice("engine", engine, tuple(DEFAULT_BATCH))
        if engine == "realtime":
            require("the engine realtime", REAL_TIME)
        if change is not None and engine != "realtime":
            raise InvalidValueError("change", "is for engine 'realtime': in micro-batches nothing stops for a change")
        way = HANDOVER if change is None else change
        check_choice("change", way, WAYS)
        seconds = duration("batch", DEFAULT_BATCH[engine] if batch is None else batch).total_seconds()
        chosen = Steering(**steering)
        check_checkpoint(checkpoint)
        self.topology()
        check_topics(self.source, [outlet.sink for outlet in self.outlets])
        slots = supplier(spark, executors, wait)
        shares = knows_chains(chosen.chosen_policy()) if chaining is None else chaining
        tried = dry_run(spark, self)
        if any(each.meters for each in tried.values()):
            ship_penstock(spark.sparkContext)
        made: SparkEngine
        if engine == "realtime":
            made = RealTimeEngine(
                spark, self, tried, checkpoint, batch_seconds=seconds, slots=slots, change=way, chaining=shares
            )
        else:
            made = MicroBatchEngine(
                spark, self, tried, checkpoint, batch_seconds=seconds, slots=slots, chaining=shares
            )  # fmt: skip
        return steer(made, self.name, slo, checkpoint, chosen, plan, on_cycle)

    @knows_its_keywords(OPTIONS)
    def run(
        self,
        spark: SparkSession,
        *,
        slo: Slo,
        checkpoint: str,
        engine: str = "microbatch",
        **options: Unpack[PipelineOptions],
    ) -> None:
        """As `start`, and wait until the job ends."""
        with self.start(spark, slo=slo, checkpoint=checkpoint, engine=engine, **options) as job:
            job.wait()
