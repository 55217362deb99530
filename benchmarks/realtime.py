"""The real-time engine against the same job written by hand, and metering on against off.

Here both have a shuffle in front of each operator; `chains` compares with a query without any.

Throughput is that of a topic read from its beginning; latency is that of a steady stream, from Kafka's time of the
record that comes to Kafka's time of the record that goes. The three ways take turns, in the other order in every other
round. Throughput is compared round by round, and so is the CPU time that a record takes in Spark's process; the means
of the ratios are told with their standard errors, as a round differs from the next by a tenth. Of latency the medians
of rounds are compared.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

from confluent_kafka import Consumer, Producer
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.model import Plan
from penstock.spark.dry_run import dry_run
from penstock.spark.io.kafka_topic import kafka
from penstock.spark.pipeline import Pipeline
from penstock.spark.realtime.engine import RealTimeEngine
from penstock.spark.realtime.log_levels import muted
from penstock.spark.settings import KEEP_EVERY_STAGE, temporary_settings
from penstock.spark.topics.offsets import Offsets
from penstock.testbed.broker import Broker
from penstock.testbed.jars import connector_jars
from penstock.testbed.session import local_session

RECORDS = 1_000_000
ROUNDS = 10
LATENCY_ROUNDS = 8
STEADY_RATE = 1_000
STEADY_SECONDS = 15
SKIPPED_SECONDS = 5
"""What is left is as long as two batches: at the end of one nothing comes for a moment, and that is in the 95th
percentile or not, as there were one or two of them."""
WAYS = ("by hand", "engine", "engine, not metered")


Running = Callable[[SparkSession, str, str, str, str], AbstractContextManager[None]]
"""Runs a way from one topic to another, given the address of the broker."""


@dataclass(frozen=True)
class Run:
    """One topic read from its beginning."""

    records_per_second: float
    cpu_us: float  # of Spark's process, for each record


@dataclass(frozen=True)
class Throughput:
    way: str
    records_per_second: float
    against_by_hand: float
    standard_error: float
    cpu_us_per_record: float


@dataclass(frozen=True)
class Metering:
    what: str
    on_against_off: float
    standard_error: float


@dataclass(frozen=True)
class LatencyOf:
    way: str
    p50_ms: float
    p95_ms: float
    p50_against_by_hand: float
    least_p50_ms: float
    greatest_p50_ms: float


def parse(frame: DataFrame) -> DataFrame:
    text = F.col("value").cast("string")
    name, amount = F.get_json_object(text, "$.name"), F.get_json_object(text, "$.amount").cast("double")
    return frame.select(name.alias("name"), amount.alias("amount"), *_kept(frame))


def classed(frame: DataFrame) -> DataFrame:
    # No filter: by hand the optimiser carries it through two shuffles and parses twice, which is no fair comparison.
    return frame.withColumn("name", F.when(F.col("amount") > 1000, F.col("name")).otherwise(F.lower("name")))


def taxed(frame: DataFrame) -> DataFrame:
    return frame.withColumn("taxed", F.col("amount") * 1.2 + F.length("name"))


def written(frame: DataFrame) -> DataFrame:
    return frame.withColumn("value", F.concat("name", F.lit(":"), F.col("taxed").cast("string")))


STEPS = {"parse": parse, "classed": classed, "taxed": taxed, "written": written}


def _kept(frame: DataFrame) -> list[str]:
    return [name for name in ("stamp",) if name in frame.columns]


@contextmanager
def running(spark: SparkSession, servers: str, way: str, source: str, sink: str) -> Iterator[None]:
    with tempfile.TemporaryDirectory() as checkpoint:
        stop = (_by_hand if way == "by hand" else _by_engine)(spark, servers, way, source, sink, checkpoint)
        try:
            yield
        finally:
            stop()


def _by_hand(
    spark: SparkSession, servers: str, way: str, source: str, sink: str, checkpoint: str
) -> Callable[[], None]:
    frame = kafka(source, servers=servers).stream(spark).select("value")
    for function in STEPS.values():
        frame = function(frame.repartition(1))
    return started(spark, frame, servers, sink, checkpoint)


def started(spark: SparkSession, frame: DataFrame, servers: str, sink: str, checkpoint: str) -> Callable[[], None]:
    """Start a query by hand; returns what stops it."""
    with temporary_settings(spark, KEEP_EVERY_STAGE):
        query = (
            frame.select("value").writeStream.format("kafka").option("kafka.bootstrap.servers", servers)
            .option("topic", sink).option("checkpointLocation", checkpoint).outputMode("update")
            .trigger(realTime="5 seconds").queryName(sink).start()  # type: ignore[call-overload]
        )  # fmt: skip
    return lambda: query.stop()


def _by_engine(
    spark: SparkSession, servers: str, way: str, source: str, sink: str, checkpoint: str
) -> Callable[[], None]:
    job, plan = pipeline(servers, source, sink), Plan(dict.fromkeys(STEPS, 1))
    metering = way == "engine"
    engine = RealTimeEngine(spark, job, dry_run(spark, job), checkpoint, metering=metering, chaining=False)
    engine.start(plan)
    return engine.stop


def pipeline(servers: str, source: str, sink: str) -> Pipeline:
    job = Pipeline(sink, source=kafka(source, servers=servers))
    after: tuple[str, ...] = ()
    for name, function in STEPS.items():
        job.operator(name, function, after=after)
        after = (name,)
    job.sink(kafka(sink, servers=servers), after=after[0])
    return job


def throughput(spark: SparkSession, broker: Broker, way: str, turn: int, running: Running = running) -> Run:
    """Between the first fifth and the end."""
    sink, offsets = f"full-{way.replace(', ', '-').replace(' ', '-')}-{turn}", Offsets(broker.servers)
    broker.create_topic(sink, 1)
    looks: list[tuple[float, int, float]] = []
    with running(spark, broker.servers, way, "full", sink):
        while not looks or looks[-1][1] < RECORDS:
            ends = offsets.ends([sink])
            if ends is not None and ends[sink] >= RECORDS / 5:
                looks.append((time.monotonic(), ends[sink], _cpu_seconds(spark)))
            time.sleep(0.02)
    (start, first, cpu), (end, last, cpu_then) = looks[0], next(look for look in looks if look[1] >= 0.95 * RECORDS)
    return Run((last - first) / (end - start), 1e6 * (cpu_then - cpu) / (last - first))


def _cpu_seconds(spark: SparkSession) -> float:
    """Of the JVM so far, from Linux's account of it."""
    jvm: Any = spark.sparkContext._gateway
    used = Path(f"/proc/{jvm.proc.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(used[11]) + int(used[12])) / os.sysconf("SC_CLK_TCK")


def latencies(spark: SparkSession, broker: Broker, way: str, turn: int, running: Running = running) -> list[float]:
    """Milliseconds of each record of a steady stream, without the first seconds."""
    name = f"{way.replace(', ', '-').replace(' ', '-')}-{turn}"
    source, sink = f"steady-{name}", f"steady-out-{name}"
    broker.create_topic(source, 1)
    broker.create_topic(sink, 1)
    with running(spark, broker.servers, way, source, sink):
        producer, began, sent = Producer({"bootstrap.servers": broker.servers, "linger.ms": 1}), time.time(), 0
        while sent < STEADY_RATE * STEADY_SECONDS:
            while sent < (time.time() - began) * STEADY_RATE:
                producer.produce(source, b'{"name": "%d", "amount": 1}' % sent)
                sent += 1
            producer.poll(0)
            time.sleep(0.005)
        producer.flush()
        _until_full(broker, sink, sent)
    came, left = _times(broker, source, sent), _times(broker, sink, sent)
    return [1.0 * (left[i] - came[i]) for i in range(STEADY_RATE * SKIPPED_SECONDS, sent)]


def _until_full(broker: Broker, topic: str, records: int) -> None:
    offsets, done = Offsets(broker.servers), threading.Event()
    while ((ends := offsets.ends([topic])) is None or ends[topic] < records) and not done.wait(0.05):
        pass


def _times(broker: Broker, topic: str, records: int) -> dict[int, int]:
    """When Kafka got each record: its number is the name in it. The first time counts."""
    consumer = Consumer({
        "bootstrap.servers": broker.servers, "group.id": topic, "auto.offset.reset": "earliest",
    })  # fmt: skip
    consumer.subscribe([topic])
    times: dict[int, int] = {}
    while len(times) < records:
        for message in consumer.consume(5000, 1.0):
            value = message.value() or b""
            number = value.split(b'"')[3] if value.startswith(b"{") else value.split(b":")[0]
            times.setdefault(int(number), message.timestamp()[1])
    consumer.close()
    return times


@contextmanager
def opened(master: str) -> Iterator[tuple[SparkSession, Broker]]:
    """A session and a broker for as long as it takes."""
    with Broker() as broker:
        spark = local_session(master, jars=connector_jars())
        try:
            with muted(spark):
                yield spark, broker
        finally:
            spark.stop()


def rows() -> Iterator[Throughput | Metering | LatencyOf]:
    with opened("local[8]") as (spark, broker):
        yield from _rows(spark, broker)


def ratio(ours: list[float], theirs: list[float]) -> tuple[float, float]:
    """The mean over rounds, and its standard error."""
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    return round(mean(ratios), 4), round(stdev(ratios) / len(ratios) ** 0.5, 4)


def _rows(spark: SparkSession, broker: Broker) -> Iterator[Throughput | Metering | LatencyOf]:
    fill(broker)
    for way in WAYS:  # the JVM warms up
        throughput(spark, broker, way, -1)
    runs: dict[str, list[Run]] = {way: [] for way in WAYS}
    for turn in range(ROUNDS):
        for way in _in_turn(turn):
            runs[way].append(throughput(spark, broker, way, turn))
    speed = {way: [run.records_per_second for run in runs[way]] for way in WAYS}
    cpu = {way: [run.cpu_us for run in runs[way]] for way in WAYS}
    for way in WAYS:
        against, error = ratio(speed[way], speed["by hand"])
        yield Throughput(way, round(median(speed[way])), against, error, round(median(cpu[way]), 2))
    for what, figures in (("throughput", speed), ("CPU time of a record", cpu)):
        yield Metering(what, *ratio(figures["engine"], figures["engine, not metered"]))
    p50, p95 = ({way: list[float]() for way in WAYS} for _ in range(2))
    for turn in range(LATENCY_ROUNDS):
        for way in _in_turn(turn):
            each = sorted(latencies(spark, broker, way, turn))
            p50[way].append(each[len(each) // 2])
            p95[way].append(each[len(each) * 95 // 100])
    for way in WAYS:
        middle, by_hand = median(p50[way]), median(p50["by hand"])
        yield LatencyOf(way, middle, median(p95[way]), round(middle / by_hand, 3), min(p50[way]), max(p50[way]))


def fill(broker: Broker, topic: str = "full", records: int = RECORDS) -> None:
    """A topic that is read from its beginning."""
    broker.create_topic(topic, 1)
    producer = Producer({"bootstrap.servers": broker.servers, "linger.ms": 20})
    for i in range(records):
        producer.produce(topic, b'{"name": "user%d", "amount": %f}' % (i % 1000, 0.37 * i))
        if i % 1000 == 0:
            producer.poll(0)
            producer.flush() if i % 50_000 == 0 else None
    producer.flush()


def _in_turn(turn: int) -> tuple[str, ...]:
    return WAYS if turn % 2 == 0 else WAYS[::-1]
