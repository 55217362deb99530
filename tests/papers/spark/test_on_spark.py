"""The workloads on real Spark give the answers that plain Python gives, and are fit for both engines."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.cli.workloads import spark_workloads as jobs
from penstock.load.curves import constant
from penstock.model import Plan
from penstock.papers.autrascale.spark.store import asking
from penstock.runs.live import NOWHERE
from penstock.runs.spark_workload import SparkWorkload
from penstock.spark import Function, kafka, replay
from penstock.spark.dry_run import dry_run
from penstock.spark.io.endpoints import Sink, Source
from penstock.spark.microbatch.engine import MicroBatchEngine
from penstock.spark.pipeline import Pipeline
from penstock.spark.realtime.engine import RealTimeEngine
from penstock.spark.topics.offsets import Offsets
from penstock.testbed.broker import Broker
from penstock.testbed.feeder import Feeder
from penstock.testbed.service import takes
from spark_jobs import until

pytestmark = pytest.mark.spark

JOBS = jobs()
RECORDS = 120
Row = tuple[Any, ...]
Answer = Counter[tuple[str, Row]]
"""How often each row came out of which operator."""


# What plain Python makes of the same records -------------------------------------------------------------------------


def seen(operator: str, rows: Sequence[Row]) -> Answer:
    return Counter((operator, row) for row in rows)


def clicks(values: Sequence[str]) -> Answer:
    fields = [value.split(",") for value in values]
    return seen("publish", [
        (int(number), user, campaign, crc32(user.encode()) % 100) for number, user, campaign, robot in fields
        if robot == "0"
    ])  # fmt: skip


def views(values: Sequence[str]) -> list[dict[str, Any]]:
    return [event for value in values if (event := json.loads(value))["kind"] == "view"]


def yahoo(values: Sequence[str]) -> Answer:
    return seen("window", [
        (f"campaign{int(event['ad'][2:]) // 10}", event["at"] // 10_000 * 10_000, 1) for event in views(values)
    ])  # fmt: skip


def advertising(values: Sequence[str]) -> Answer:
    ads = [int(event["ad"][2:]) for event in views(values)]
    campaigns = [(f"campaign{ad // 10}", 1) for ad in ads if ad < 750]
    return seen("campaign_processor", campaigns) + seen("ip_processor", [(event["ip"], 1) for event in views(values)])


def diamond(values: Sequence[str]) -> Answer:
    return seen("sink", [(number, ("left", "right")[number % 2]) for number in map(int, values)])


def star(values: Sequence[str]) -> Answer:
    passed = [(number, spout) for number in map(int, values) if number % 4 == 0 for spout in ("spout_1", "spout_2")]
    return seen("sink_1", passed) + seen("sink_2", passed)


def dp_wordcount(values: Sequence[str]) -> Answer:
    return seen("count", [(word, 1) for line in values for word in line.split()])


def dp_top_n(values: Sequence[str]) -> Answer:
    def first(counts: Counter[str]) -> list[tuple[int, str]]:
        return sorted(((views, page) for page, views in counts.items()), reverse=True)[:3]

    rows = []
    for number, *sites in (value.split("|") for value in values):
        merged: Counter[str] = Counter()
        for site in sites:
            merged.update({page: views for views, page in first(Counter(site.split()))})
        rows.append((int(number), tuple(first(merged))))
    return seen("merge", rows)


def twitter_complex(values: Sequence[str]) -> Answer:
    feelings = {**dict.fromkeys(("great", "good", "love"), 1), **dict.fromkeys(("bad", "awful", "hate"), -1)}
    rows = []
    for number, author, text in (value.split("\t") for value in values):
        said, topic = text.split(" #")
        news = said.startswith("read ")
        found = f"{topic.lower()} at {said.split('/')[2]}" if news else feelings.get(said.split(",")[0], 0)
        rows.append((int(number), author, f"{'news' if news else 'opinion'}: {found}"))
    return seen("store", rows)


def linear(values: Sequence[str]) -> Answer:
    return seen("sink", [(value, value.upper()) for value in values])


def twitter(values: Sequence[str]) -> Answer:
    feelings = {"love": 1, "sun": 1, "hate": -1, "rain": -1}
    rows = []
    for number, author, followers, words in (value.split(",") for value in values):
        mood = sum(feelings.get(word, 0) for word in words.split())
        rows.append((int(number), author, (mood > 0) - (mood < 0), int(followers) > 10_000))
    return seen("store", rows)


def wordcount(values: Sequence[str]) -> Answer:
    return seen("sink", [(line.lower(), 1) for line in values])


def dns(values: Sequence[str]) -> Answer:
    rows = []
    for number, client, kind, name in (value.split(",") for value in values):
        known = name.startswith("www.domain")
        address = f"192.0.2.{int(name.split('.')[1][6:]) % 256}" if known else None
        rows.append((
            int(number), client, name, address, "reverse" if kind == "PTR" else "usual" if known else "made up",
        ))  # fmt: skip
    return seen("store", rows)


ANSWERS: dict[str, Callable[[Sequence[str]], Answer]] = {
    "advertising": advertising, "clicks": clicks, "diamond": diamond, "dns": dns, "dp_top_n": dp_top_n,
    "dp_wordcount": dp_wordcount, "linear": linear, "star": star, "twitter": twitter,
    "twitter_complex": twitter_complex, "wordcount": wordcount, "yahoo": yahoo, "yahoo_open_store": yahoo,
}  # fmt: skip
"""Those that only bring another load have the operators, and the answer, of the job that they are made of."""


def answer(chosen: SparkWorkload, records: int = RECORDS) -> Answer:
    return ANSWERS[chosen.name]([value.decode() for value in chosen.values(np.arange(records))])


def test_only_jobs_with_the_operators_of_another_have_no_answer_here() -> None:
    assert JOBS.keys() - ANSWERS.keys() == {"linear_peaks", "twitter_raw"}


@pytest.mark.parametrize("name", ANSWERS)
def test_as_many_records_reach_the_ends_as_the_job_declares(name: str) -> None:
    records = 20_000
    ends = Counter(operator for operator, _ in answer(JOBS[name], records).elements())
    declared = {end: JOBS[name].visits.get(end, 1.0) for end in ends}

    assert {end: count / records for end, count in ends.items()} == pytest.approx(declared, rel=0.05)


# What Spark makes of them --------------------------------------------------------------------------------------------


def between(chosen: SparkWorkload, source: Source, sink_of: Callable[[str], Sink]) -> Pipeline:
    """The job with a sink of its own for each operator that has one."""
    pipeline = chosen.pipeline(source, NOWHERE)
    pipeline.outlets = [replace(outlet, sink=sink_of(outlet.after)) for outlet in pipeline.outlets]
    return pipeline


def plain(value: Any) -> Any:
    return tuple(map(plain, value)) if isinstance(value, list | tuple) else value


@pytest.mark.parametrize("name", ANSWERS)
def test_micro_batches_give_the_answer_of_plain_python(name: str, spark: SparkSession, tmp_path: Path) -> None:
    chosen, found = JOBS[name], Answer()

    def collect(operator: str) -> Function:
        def add(frame: DataFrame, batch: int) -> None:
            found.update((operator, plain(row)) for row in frame.drop("stamp").collect())

        return Function(add)

    pipeline = between(chosen, replay(constant(1e6, RECORDS / 1e6), chosen.values), collect)
    topology = pipeline.topology()
    plan = Plan({each.name: min(4, each.max) for each in topology.operators})
    engine = MicroBatchEngine(
        spark, pipeline, dry_run(spark, pipeline), plan, str(tmp_path / "checkpoint"), batch_seconds=0.05
    )
    engine.start()
    until(lambda: engine.read() and engine.backlog == 0, "the end of the records", engine)
    engine.stop()

    assert found == answer(chosen)


@pytest.mark.parametrize("name", JOBS)
def test_every_operator_is_fit_for_real_time(name: str, spark: SparkSession) -> None:
    chosen = JOBS[name]
    trials = dry_run(spark, chosen.pipeline(replay(constant(1.0, 1.0)), NOWHERE))

    assert [operator for operator, trial in trials.items() if trial.python is not None] == []
    assert [operator for operator, trial in trials.items() if not trial.keeps_stamp] == []


def test_real_time_gives_the_same_answer_where_two_spouts_feed_two_sinks(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    chosen, expected = JOBS["star"], answer(JOBS["star"])
    topics = {name: f"star-{name}" for name in ("in", "sink_1", "sink_2")}
    for topic in topics.values():
        broker.create_topic(topic)

    def topic_of(name: str) -> Any:
        return kafka(topics[name], servers=broker.servers)

    pipeline = between(chosen, topic_of("in"), topic_of)
    engine = RealTimeEngine(
        spark,
        pipeline,
        dry_run(spark, pipeline),
        Plan.smallest(pipeline.topology()),
        str(tmp_path / "checkpoint"),
        batch_seconds=1.0,
    )
    engine.start()
    offsets = Offsets(broker.servers)

    def arrived() -> bool:
        ends = offsets.ends([topics["sink_1"], topics["sink_2"]])
        return ends is not None and sum(ends.values()) >= expected.total()

    with Feeder(replay(constant(1e6, RECORDS / 1e6), chosen.values), topics["in"], broker.servers):
        until(arrived, "all records", engine)
    engine.stop()
    found = Answer()
    for sink in ("sink_1", "sink_2"):
        messages = spark.read.format("kafka").option("kafka.bootstrap.servers", broker.servers)
        for message in messages.option("subscribe", topics[sink]).load().selectExpr("cast(value as string)").collect():
            found[sink, tuple(json.loads(message.value).values())] += 1
    assert found == expected


def test_a_store_answers_no_faster_when_more_ask(spark: SparkSession) -> None:
    """A slow machine takes longer; no machine takes less than the requests need."""
    requests, rate = 61, 40.0
    for instances in (1, 8):
        frame = spark.range(requests).repartition(instances)
        began = time.monotonic()
        assert asking("test", rate)(frame).count() == requests
        # A store that was idle has the answers of one second ready.
        assert time.monotonic() - began >= (requests - 1 - rate) / rate


def test_an_operator_waits_for_each_record(spark: SparkSession) -> None:
    stamp = F.struct(F.current_timestamp().alias("created")).alias("stamp")
    frame = spark.range(0, 20, 1, 1).select("id", stamp)
    began = time.monotonic()
    kept = takes(10, lambda waited: waited.where("id < 5"))(frame).count()

    assert kept == 5
    assert time.monotonic() - began >= 20 * 0.010  # also for those that it drops
