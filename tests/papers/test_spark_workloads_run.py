"""The papers' jobs on real Spark give the answers that plain Python gives, and are fit for both engines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from penstock.load.curves import constant
from penstock.model import Plan
from penstock.papers.catalogue import spark_workloads
from penstock.spark import kafka, replay
from penstock.spark.dry_run import dry_run
from penstock.spark.realtime.engine import RealTimeEngine
from penstock.spark.topics.offsets import Offsets
from penstock.testbed.broker import Broker
from penstock.testbed.feeder import Feeder
from spark_answers import (
    Answer,
    answer_of_frames,
    answer_of_micro_batches,
    between,
    records_of,
    rows_of,
    unfit_for_real_time,
)
from spark_jobs import until

pytestmark = pytest.mark.spark

JOBS = spark_workloads()
RECORDS = 120


# What plain Python makes of the records ------------------------------------------------------------------------------


def views(values: Sequence[str]) -> list[dict[str, Any]]:
    return [event for value in values if (event := json.loads(value))["kind"] == "view"]


def yahoo(values: Sequence[str]) -> Answer:
    return rows_of("join", [
        (f"campaign{int(event['ad'][2:]) // 10}", event["at"] // 10_000 * 10_000, 1) for event in views(values)
    ])  # fmt: skip


def advertising(values: Sequence[str]) -> Answer:
    ads = [int(event["ad"][2:]) for event in views(values)]
    campaigns = [(f"campaign{ad // 10}", 1) for ad in ads if ad < 750]
    return rows_of("campaign_processor", campaigns) + rows_of(
        "ip_processor", [(event["ip"], 1) for event in views(values)]
    )


def diamond(values: Sequence[str]) -> Answer:
    return rows_of("sink", [(number, ("left", "right")[number % 2]) for number in map(int, values)])


def star(values: Sequence[str]) -> Answer:
    passed = [(number, spout) for number in map(int, values) if number % 4 == 0 for spout in ("spout_1", "spout_2")]
    return rows_of("sink_1", passed) + rows_of("sink_2", passed)


def dp_wordcount(values: Sequence[str]) -> Answer:
    return rows_of("count", [(word, 1) for line in values for word in line.split()])


def dp_top_n(values: Sequence[str]) -> Answer:
    def first(counts: Counter[str]) -> list[tuple[int, str]]:
        return sorted(((views, page) for page, views in counts.items()), reverse=True)[:3]

    rows = []
    for number, *sites in (value.split("|") for value in values):
        merged: Counter[str] = Counter()
        for site in sites:
            merged.update({page: views for views, page in first(Counter(site.split()))})
        rows.append((int(number), tuple(first(merged))))
    return rows_of("merge", rows)


def twitter_complex(values: Sequence[str]) -> Answer:
    feelings = {**dict.fromkeys(("great", "good", "love"), 1), **dict.fromkeys(("bad", "awful", "hate"), -1)}
    rows = []
    for number, author, text in (value.split("\t") for value in values):
        said, topic = text.split(" #")
        news = said.startswith("read ")
        found = f"{topic.lower()} at {said.split('/')[2]}" if news else feelings.get(said.split(",")[0], 0)
        rows.append((int(number), author, f"{'news' if news else 'opinion'}: {found}"))
    return rows_of("store", rows)


def linear(values: Sequence[str]) -> Answer:
    return rows_of("sink", [(value, value.upper()) for value in values])


def twitter(values: Sequence[str]) -> Answer:
    feelings = {"love": 1, "sun": 1, "hate": -1, "rain": -1}
    rows = []
    for number, author, followers, words in (value.split(",") for value in values):
        mood = sum(feelings.get(word, 0) for word in words.split())
        rows.append((int(number), author, (mood > 0) - (mood < 0), int(followers) > 10_000))
    return rows_of("store", rows)


def wordcount(values: Sequence[str]) -> Answer:
    return rows_of("sink", [(line.lower(), 1) for line in values])


def dns(values: Sequence[str]) -> Answer:
    rows = []
    for number, client, kind, name in (value.split(",") for value in values):
        known = name.startswith("www.domain")
        address = f"192.0.2.{int(name.split('.')[1][6:]) % 256}" if known else None
        rows.append((
            int(number), client, name, address, "reverse" if kind == "PTR" else "usual" if known else "made up",
        ))  # fmt: skip
    return rows_of("store", rows)


ANSWERS: dict[str, Callable[[Sequence[str]], Answer]] = {
    "advertising": advertising, "diamond": diamond, "dns": dns, "dp_top_n": dp_top_n,
    "dp_wordcount": dp_wordcount, "linear": linear, "star": star, "twitter": twitter,
    "twitter_complex": twitter_complex, "wordcount": wordcount, "yahoo": yahoo, "yahoo_open_store": yahoo,
}  # fmt: skip
"""Those that only bring another load have the operators, and the answer, of the job that they are made of."""


def answer(name: str, records: int = RECORDS) -> Answer:
    return ANSWERS[name](records_of(JOBS[name], records))


def test_only_jobs_with_the_operators_of_another_have_no_answer_here() -> None:
    assert JOBS.keys() - ANSWERS.keys() == {"linear_peaks", "twitter_raw"}


@pytest.mark.parametrize("name", ANSWERS)
def test_as_many_records_reach_the_ends_as_the_job_declares(name: str) -> None:
    records = 20_000
    ends = Counter(operator for operator, _ in answer(name, records).elements())
    declared = {end: JOBS[name].visits.get(end, 1.0) for end in ends}

    assert {end: count / records for end, count in ends.items()} == pytest.approx(declared, rel=0.05)


# What Spark makes of them --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ANSWERS)
def test_operators_on_spark_give_the_answer_of_plain_python(name: str, spark: SparkSession) -> None:
    assert answer_of_frames(spark, JOBS[name], RECORDS) == answer(name)


def test_micro_batches_give_the_same_answer_where_a_stream_is_split_and_joined(
    spark: SparkSession, tmp_path: Path
) -> None:
    name = "twitter_complex"
    assert answer_of_micro_batches(spark, JOBS[name], RECORDS, tmp_path) == answer(name)


@pytest.mark.parametrize("name", JOBS)
def test_every_operator_is_fit_for_real_time(name: str, spark: SparkSession) -> None:
    assert unfit_for_real_time(spark, JOBS[name]) == []


def test_real_time_gives_the_same_answer_where_two_spouts_feed_two_sinks(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    chosen, expected = JOBS["star"], answer("star")
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
        str(tmp_path / "checkpoint"),
        batch_seconds=1.0,
    )
    engine.start(Plan.smallest(pipeline.topology()))
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
