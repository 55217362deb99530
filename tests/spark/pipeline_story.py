"""Runs a pipeline in micro-batches over Kafka on the PySpark that runs this, changes its plan while it runs, starts it
again, and prints what became of it as JSON.

A process of its own: each version of PySpark has its own environment.

usage: pipeline_story.py BROKERS
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from time import sleep
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame, SparkSession

from cluster_story import refusal
from kafka_load import Load, delivered
from penstock import Slo
from penstock.model import Plan, Sample
from penstock.spark import Pipeline, kafka, metered
from penstock.spark.job import RunningJob
from penstock.spark.topics.offsets import Offsets
from penstock.testbed.jars import connector_jars
from penstock.testbed.session import local_session
from spark_jobs import until, working

IN, OUT = f"pipeline-in-{os.getpid()}", f"pipeline-out-{os.getpid()}"
PARTITIONS, RATE = 2, 100.0
NARROW = Plan({"parse": 1, "work": 1, "on": 1, "python": 1})
WIDE = Plan({"parse": 1, "work": 3, "on": 3, "python": 1})
SLO = Slo(event_latency="5 s")


def parse(frame: DataFrame) -> DataFrame:
    return frame.selectExpr("cast(value as string) as value", "stamp").where("length(value) > 0")


@metered
def in_python(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for frame in frames:
        sleep(1e-3 * len(frame))
        yield frame


def pipeline(servers: str) -> Pipeline:
    job = Pipeline("clicks", source=kafka(IN, servers=servers))
    job.operator("parse", parse)
    job.operator("work", working(2), after="parse", key="value")
    job.operator("on", lambda frame: frame, after="work")  # shares the instances of the one before it
    job.operator("python", lambda frame: frame.select("value").mapInPandas(in_python, "value string"), after="on")
    job.sink(kafka(OUT, servers=servers), after="python")
    return job


def measured(running: RunningJob, plan: Plan) -> Sample:
    """The first window under this plan in which everything was measured."""
    found: list[Sample] = []

    def complete() -> bool:
        found.extend(
            sample
            for sample in running.engine.read()
            if not sample.warm_up
            and sample.input_rate
            and sample.event_latency_ms
            and sample.operators["work"].parallelism == plan["work"]
            and all(each.useful_seconds is not None and each.records_in for each in sample.operators.values())
        )
        return bool(found)

    until(complete, f"a window of {plan}", running)
    return found[0]


def figures(sample: Sample) -> dict[str, Any]:
    """What an operator does with a record, in milliseconds."""
    operators = sample.operators.items()
    return {name: 1e3 * (each.useful_seconds or 0.0) / (each.records_in or 1.0) for name, each in operators}


def tell(spark: SparkSession, servers: str, checkpoint: str) -> dict[str, Any]:
    told: dict[str, Any] = {"version": spark.version}
    job = pipeline(servers)
    if not spark.version.startswith("4.3"):
        told["refused"] = refusal(lambda: job.start(spark, slo=SLO, checkpoint=checkpoint, engine="realtime"))
    load = Load(servers, IN, PARTITIONS, RATE)
    with job.start(spark, slo=SLO, checkpoint=checkpoint, batch="200 ms", mode="off", plan=NARROW) as running:
        told["narrow"] = figures(measured(running, NARROW))
        running.engine.apply(WIDE)
        told["wide"] = figures(measured(running, WIDE))
    with job.start(spark, slo=SLO, checkpoint=checkpoint, batch="200 ms", mode="off", plan=NARROW):  # goes on
        load.stop()
        seen = delivered(servers, OUT, load.sent)
    told["records"] = {"sent": load.sent, "arrived": len(set(seen)), "twice": len(seen) - len(set(seen))}
    return told


def main(servers: str) -> None:
    offsets = Offsets(servers)
    offsets.create(IN, PARTITIONS)
    offsets.create(OUT, 1)
    spark = local_session("local[4]", jars=connector_jars())
    try:
        with tempfile.TemporaryDirectory() as checkpoint:
            print(json.dumps(tell(spark, servers, checkpoint)))
    finally:
        spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
