"""Runs an unmodified query on a real cluster over Kafka, attached to, and prints what became of it as JSON.

A process of its own: a second Spark context cannot live beside the one that the other tests share. Each step waits
for what it wants to see; the limit only ends a hang.

usage: attach_story.py BROKERS [standalone | yarn]
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from cluster_story import kill_executor, refusal, until
from kafka_load import Load, delivered
from penstock import Slo
from penstock.spark import attach
from penstock.spark.executors.executor_slots import ExecutorSlots
from penstock.spark.topics.offsets import Offsets
from penstock.stores.memory import MemoryStore
from penstock.testbed.hadoop import yarn_cluster
from penstock.testbed.jars import connector_jars
from penstock.testbed.session import local_session
from penstock.testbed.standalone import standalone_cluster

CALM, SURGE = 20.0, 180.0  # records per second; an executor with its one slot carries somewhat under 100
SETTINGS = {
    "spark.executor.cores": "1",
    "spark.executor.memory": "512m",
    "spark.decommission.enabled": "true",
    # An executor that leaves looks that often whether it still has blocks to move; the default is 30 s.
    "spark.storage.decommission.replicationReattemptInterval": "1s",
}
ON = {
    "standalone": {"spark.cores.max": "3"},
    "yarn": {
        "spark.executor.instances": "3",
        "spark.yarn.am.memory": "512m",
        # On this machine containers find the jars where they are; nothing is uploaded.
        "spark.yarn.jars": f"local:{Path(pyspark.__file__).parent}/jars/*",
    },
}
GUARDS = {"patience": {"seconds": 2.0}, "stabilisation": {"seconds": 2.0}}
INTERVAL = "500 ms"
POLICY: Any = {"policy": "ds2", "policy_options": {"utilisation": 0.8}}  # the story is about executors, and quick
PARTITIONS = 6
IN, OUT = f"attached-in-{os.getpid()}", f"attached-out-{os.getpid()}"


class Kept(MemoryStore):
    """A store that remembers whether it was closed."""

    closed = False

    def close(self) -> None:
        self.closed = True


def start_query(spark: SparkSession, servers: str, checkpoint: str) -> StreamingQuery:
    """Somebody's job: each record takes 10 ms."""
    slow = "reflect('java.lang.Thread', 'sleep', cast(10 + length(value) * 0 as bigint)) = 'null'"
    return (
        spark.readStream.format("kafka").option("kafka.bootstrap.servers", servers).option("subscribe", IN)
        .option("startingOffsets", "earliest").option("maxOffsetsPerTrigger", 600).load()
        .select("value").where(slow)
        .writeStream.format("kafka").option("kafka.bootstrap.servers", servers).option("topic", OUT)
        .option("checkpointLocation", checkpoint).queryName("somebody's job")
        .trigger(processingTime="1 second").start()
    )  # fmt: skip


@contextmanager
def cluster_of(kind: str) -> Iterator[tuple[str, Callable[[], int]]]:
    """The master of a new cluster, and what tells how many cores the executors of an application have."""
    if kind == "standalone":
        with standalone_cluster(workers=2, cores=2) as cluster:
            yield cluster.master, lambda: int(cluster.ask()["coresused"])
    else:
        with yarn_cluster() as yarn:
            os.environ["HADOOP_CONF_DIR"] = str(yarn.configuration)
            yield "yarn", lambda: yarn.cores_used() - 1  # without the application master


def tell(cores_used: Callable[[], int], spark: SparkSession, servers: str, checkpoint: str) -> dict[str, Any]:
    executors, slo = ExecutorSlots(spark.sparkContext), Slo(event_latency="10 s")
    told: dict[str, Any] = {"executors": [], "version": spark.version}

    def reached(what: str, count: int) -> None:
        until(f"{what}: {count} executors", lambda: len(executors.present()) == count)
        told["executors"].append(count)

    reached("at first", 3)
    load = Load(servers, IN, PARTITIONS, CALM)
    query = start_query(spark, servers, checkpoint)
    if "spark.cores.max" in dict(spark.sparkContext.getConf().getAll()):
        told["refused"] = {
            "request": refusal(lambda: executors.request(4)),
            "wait": refusal(lambda: executors.wait_for(5, limit_seconds=0.5)),
            "attach": refusal(lambda: attach(query, slo=slo, executors=(1, 4))),
        }

    store = Kept()
    watch = attach(query, slo=slo, executors=(1, 3), guards=GUARDS, interval=INTERVAL, store=store, **POLICY)

    def would_save() -> bool:
        return "decided: job 1; 1 executor" in str(watch.report()) and (watch.report().saved or 0) > 0

    until("monitor mode would save", would_save)
    watch.detach()
    report = watch.report()
    told["monitor"] = {"saved": report.saved, "changes": report.changes, "text": str(report)}
    told["monitor"] |= {"executors": len(executors.present()), "store_closed": store.closed}

    watch = attach(query, slo=slo, executors=(1, 3), guards=GUARDS, interval=INTERVAL, mode="active", **POLICY)
    reached("calm", 1)
    until("those that leave have left", lambda: cores_used() == 1)
    [victim] = [executor.id for executor in executors.present()]
    load.rate = SURGE
    until("a change is under way", lambda: cores_used() > 1)
    kill_executor(victim, spark.sparkContext.applicationId)
    until("the victim is gone", lambda: victim not in {executor.id for executor in executors.present()})
    reached("surge, without the victim", 3)
    told["killed"] = {"victim": victim, "executors": [executor.id for executor in executors.present()]}
    load.rate = CALM
    reached("calm again", 1)

    watch.detach()
    told["after_detaching"] = {"active": query.isActive, "executors": len(executors.present())}
    told["active"] = {"changes": watch.report().changes, "text": str(watch.report())}
    load.stop()
    seen = delivered(servers, OUT, load.sent)
    told["records"] = {"sent": load.sent, "arrived": len(set(seen)), "twice": len(seen) - len(set(seen))}
    query.stop()
    return told


def main(servers: str, kind: str = "standalone") -> None:
    with tempfile.TemporaryDirectory() as checkpoint, cluster_of(kind) as (master, cores_used):
        offsets = Offsets(servers)
        offsets.create(IN, PARTITIONS)
        offsets.create(OUT, 1)
        spark = local_session(master, jars=connector_jars(), settings={**SETTINGS, **ON[kind]})
        try:
            print(json.dumps(tell(cores_used, spark, servers, checkpoint)))
        finally:
            spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
