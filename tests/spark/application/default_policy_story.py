"""Runs an unmodified query on a real cluster, attached to with nothing but the quick profile, and prints how many
executors it had: what a user sees who tries Penstock for ten minutes, with the policy that steers where none is named.

A process of its own: a second Spark context cannot live beside the one that the other tests share. Each step waits for
what it wants to see; the limit only ends a hang.

usage: default_policy_story.py BROKERS
"""

from __future__ import annotations

import json
import sys
import tempfile
from functools import partial
from typing import Any

from pyspark.sql import SparkSession

from cluster_story import until
from kafka_load import Load
from penstock import Slo
from penstock.spark import attach
from penstock.spark.executors.executor_slots import ExecutorSlots
from penstock.spark.topics.offsets import Offsets
from penstock.testbed.jars import connector_jars
from penstock.testbed.session import local_session
from spark.application.attach_story import CALM, IN, ON, OUT, PARTITIONS, SETTINGS, SURGE, cluster_of, start_query


def there_are(executors: ExecutorSlots, count: int) -> bool:
    return len(executors.present()) == count


def tell(spark: SparkSession, servers: str, checkpoint: str) -> dict[str, Any]:
    executors, told = ExecutorSlots(spark.sparkContext), []
    until("at first: 3 executors", partial(there_are, executors, 3))
    load = Load(servers, IN, PARTITIONS, CALM)
    query = start_query(spark, servers, checkpoint)
    watch = attach(query, slo=Slo(event_latency="10 s"), executors=(1, 3), mode="active", quick=True)
    for rate, count in ((CALM, 1), (SURGE, 3), (CALM, 1)):
        load.rate = rate
        until(f"at {rate:g} records/s: {count} executors", partial(there_are, executors, count))
        told.append(len(executors.present()))
    watch.detach()
    load.stop()
    query.stop()
    return {"executors": told, "text": str(watch.report())}


def main(servers: str) -> None:
    with tempfile.TemporaryDirectory() as checkpoint, cluster_of("standalone") as (master, _):
        offsets = Offsets(servers)
        offsets.create(IN, PARTITIONS)
        offsets.create(OUT, 1)
        settings = {**SETTINGS, **ON["standalone"]}
        spark = local_session(master, jars=connector_jars(), settings=settings)
        try:
            print(json.dumps(tell(spark, servers, checkpoint)))
        finally:
            spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
