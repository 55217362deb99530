"""Runs two queries of one application on a real standalone cluster under one watch, and prints what became of them as
JSON. Spark forgets stages after a few batches, and one query runs what makes it skip stages.

A process of its own: a second Spark context cannot live beside the one that the other tests share.

usage: watch_story.py FOLDER
"""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.query import StreamingQuery

from cluster_story import refusal, until
from penstock import Slo
from penstock.model import Cycle, Origin, ReasonCode
from penstock.spark import attach, watch
from penstock.spark.application.watch import Watch
from penstock.spark.executors.claim import claim
from penstock.spark.executors.executor_slots import ExecutorSlots
from penstock.testbed.session import local_session
from penstock.testbed.standalone import standalone_cluster

SETTINGS = {
    "spark.executor.cores": "1",
    "spark.cores.max": "3",
    "spark.executor.memory": "512m",
    "spark.decommission.enabled": "true",
    "spark.storage.decommission.enabled": "true",
    "spark.storage.decommission.replicationReattemptInterval": "1s",
    "spark.ui.retainedStages": "20",
    "spark.sql.shuffle.partitions": "2",
}
GUARDS = {"patience": {"seconds": 2.0}, "stabilisation": {"seconds": 2.0}}
SLO = Slo(event_latency="60 s")  # long batches are allowed, so what every batch costs hardly counts
SLOW = "reflect('java.lang.Thread', 'sleep', cast(10 + value * 0 as bigint)) = 'null'"
FAR_PAST = 12
"""Batches after which Spark has forgotten the stages of most of them."""
DECISIONS = 10


def records(spark: SparkSession) -> DataFrame:
    """Of 10 ms each: they keep a fifth of a slot busy, so a query needs one."""
    return spark.readStream.format("rate").option("rowsPerSecond", 20).option("numPartitions", 1).load()


def joining(spark: SparkSession, folder: Path) -> StreamingQuery:
    """With adaptive execution, a broadcast join, and a frame that is kept inside `foreachBatch`."""
    names = spark.createDataFrame([(i, f"campaign {i}") for i in range(10)], "key long, name string")

    def each(frame: DataFrame, number: int) -> None:
        kept = frame.where(SLOW).withColumn("key", F.col("value") % 10).persist()
        kept.join(F.broadcast(names), "key").groupBy("name").count().collect()
        kept.groupBy("key").count().collect()
        kept.unpersist()

    return (
        records(spark).writeStream.foreachBatch(each).queryName("joining").trigger(processingTime="2 seconds")
        .option("checkpointLocation", str(folder / "joining")).start()
    )  # fmt: skip


def filtering(spark: SparkSession, folder: Path) -> StreamingQuery:
    return (
        records(spark).where(SLOW).writeStream.format("noop").queryName("filtering")
        .option("checkpointLocation", str(folder / "filtering")).start()
    )  # fmt: skip


def all_there_is(spark: SparkSession, folder: Path) -> StreamingQuery:
    """A query that is not steered, and that runs until it is stopped."""
    (folder / "lines").mkdir()
    (folder / "lines" / "one.txt").write_text("\n" * 100_000, encoding="utf-8")
    return (
        spark.newSession().readStream.format("text").load(str(folder / "lines"))
        .where("reflect('java.lang.Thread', 'sleep', cast(10 + length(value) * 0 as bigint)) = 'null'")
        .writeStream.format("noop").queryName("all there is").trigger(availableNow=True)
        .option("checkpointLocation", str(folder / "all")).start()
    )  # fmt: skip


def decided(watched: Watch, query: str) -> list[tuple[bool, str]]:
    """Whether the last decisions on a query were those of the policy, and their reasons."""
    reasons = [cycle.decision.reason for cycle in thoughts(watched, query)[-DECISIONS:]]
    return [(reason.code.origin is Origin.POLICY, reason.text) for reason in reasons]


def thoughts(watched: Watch, query: str) -> list[Cycle]:
    """The cycles for which there was something new."""
    cycles = watched.report().queries[query].cycles
    return [cycle for cycle in cycles if cycle.decision.reason.code is not ReasonCode.NO_NEW_WINDOW]


class Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.levelname} {record.getMessage()}")


def tell(spark: SparkSession, folder: Path) -> dict[str, Any]:
    executors = ExecutorSlots(spark.sparkContext)
    told: dict[str, Any] = {"executors": []}
    log = Lines()
    logging.getLogger("penstock").addHandler(log)
    logging.getLogger("penstock").setLevel(logging.INFO)

    def reached(what: str, count: int) -> None:
        until(f"{what}: {count} executors", lambda: len(executors.present()) == count)
        told["executors"].append(count)

    reached("at first", 3)
    first = joining(spark, folder)
    watched = watch(
        spark, slo=SLO, executors=(1, 3), guards=GUARDS, interval="500 ms", slo_by_query={"other": SLO},
        policy="ds2", policy_options={"utilisation": 0.8},
    )  # fmt: skip
    second = filtering(spark, folder)
    told["refused"] = {
        "attach": refusal(lambda: attach(first, slo=SLO, executors=(1, 3))),
        "watch": refusal(lambda: watch(spark, slo=SLO, executors=(1, 3))),
        "pipeline": refusal(lambda: claim(spark.sparkContext, "pipeline 'clicks'")),
        "store": refusal(lambda: watch(spark, slo=SLO, executors=(1, 3), store=object())),  # type: ignore[arg-type]
    }

    def would_be(count: int) -> bool:
        newest = [thoughts(watched, name)[-1:] for name in watched.report().queries]
        return len(newest) == 2 and all(cycle and cycle[0].decision.plan.executors == count for cycle in newest)

    until("both queries would have two executors", lambda: would_be(2))
    told["monitor"] = {"text": str(watched.report()), "executors": len(executors.present())}
    watched.mode = "active"
    reached("for both", 2)
    until("Spark has forgotten many stages", lambda: (first.lastProgress or {"batchId": 0})["batchId"] > FAR_PAST)
    count = watched.report().changes
    until(
        "both queries are decided on",
        lambda: all(ok for q in ("joining", "filtering") for ok, _ in decided(watched, q)),
    )
    told["soak"] = {query: decided(watched, query) for query in ("joining", "filtering")}
    told["fights"] = watched.report().changes - count

    other = all_there_is(spark, folder)
    until("a query is left out", lambda: bool(watched.report().notes))
    told["left_out"] = list(watched.report().notes)
    other.stop()
    until("it has ended", lambda: not watched.report().notes)

    second.stop()
    reached("for one", 1)
    told["after_its_end"] = sorted(watched.report().queries)
    second = filtering(spark, folder)
    reached("for both again", 2)
    until("that change is over", lambda: watched.report().changes >= 3)
    told["text"], told["changes"] = str(watched.report()), watched.report().changes
    watched.stop()
    told["after_stopping"] = {"active": second.isActive, "executors": len(executors.present())}
    alone = attach(second, slo=SLO, executors=(1, 3))
    told["refused"]["second attach"] = refusal(lambda: attach(second, slo=SLO, executors=(1, 3)))
    second.stop()
    until("the end of its query ends it", lambda: not refusal(lambda: claim(spark.sparkContext, "a test").release()))
    told["refused"]["stopped"] = refusal(lambda: attach(second, slo=SLO, executors=(1, 3)))
    alone.detach()
    first.stop()
    told["log"] = log.lines
    return told


def main(folder: Path) -> None:
    with standalone_cluster(workers=1, cores=3) as cluster:
        spark = local_session(cluster.master, settings=SETTINGS)
        try:
            print(json.dumps(tell(spark, folder)))
        finally:
            spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
