"""The micro-batch engine on real Spark: what it promises while its plan changes."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd
import pytest
from pyspark.errors import utils
from pyspark.sql import DataFrame, SparkSession

from microbatch_jobs import engine_of, records, run_until
from penstock.load.curves import constant
from penstock.model import Plan, Sample
from penstock.spark import Function, Pipeline, files, replay, table
from penstock.spark.io.endpoints import Sink
from penstock.spark.io.replayed import Replay
from penstock.spark.microbatch import monitor
from penstock.spark.microbatch.attribution import Metering
from penstock.spark.microbatch.engine import WARM_UP_BATCHES
from spark_jobs import as_text, until, working

pytestmark = pytest.mark.spark


def diamond(source: Replay, sink: Sink) -> Pipeline:
    """parse feeds left and right, and both feed store; the right way is Python."""

    def to_upper(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for frame in frames:
            yield frame.assign(text=frame.text.str.upper())

    job = Pipeline("diamond", source=source)
    parse = job.operator("parse", as_text)
    left = job.operator("left", lambda frame: frame.where("crc32(value) % 2 = 0").select("text"), after=parse)
    right = job.operator(
        "right",
        lambda frame: frame.where("crc32(value) % 2 = 1").select("text").mapInPandas(to_upper, "text string"),
        after=parse,
        key="text",
    )
    store = job.operator("store", lambda frame: frame, after=[left, right])
    job.sink(sink, after=store)
    return job


def test_random_changes_lose_and_double_nothing(spark: SparkSession, tmp_path: Path) -> None:
    """Many records through a fan-out and a fan-in, the plan never the same for more than two batches."""
    source = replay(constant(1e6, 0.04), max_records_per_batch=3_000)
    job = diamond(source, files(str(tmp_path / "out")))
    dice = random.Random(5)
    engine = engine_of(spark, job, tmp_path)
    engine.start(Plan.smallest(job.topology()))
    written = tmp_path / "out"

    def batches() -> int:
        return len(list(written.glob("batch=*/_SUCCESS"))) if written.exists() else 0

    for change in range(10):
        engine.apply(Plan({name: dice.randint(1, 6) for name in job.steps}))
        until(lambda change=change: batches() > change, "the next batch", engine)  # type: ignore[misc]
    until(lambda: engine.read() and engine.backlog == 0 and batches() >= 14, "the end of the records", engine)
    engine.stop()
    rows = spark.read.parquet(str(written)).selectExpr("count(*)", "count(distinct text)", "max(cast(text as long))")
    assert rows.first() == (40_000, 40_000, 39_999)


def test_what_is_measured_is_what_happened(spark: SparkSession, tmp_path: Path) -> None:
    job = Pipeline("known", source=replay(constant(50.0, 3_600.0)))
    parse = job.operator("parse", as_text)
    short = job.operator("short", working(4), after=parse)
    long = job.operator("long", working(16), after=short)
    half = job.operator("half", lambda frame: frame.where("crc32(value) % 2 = 0"), after=long)
    job.sink(files(str(tmp_path / "out")), after=half)
    plan = Plan({"parse": 1, "short": 1, "long": 2, "half": 1})
    # What the stage of `short` takes to begin and to read is its own too. On a busy machine that is more than a
    # millisecond a record, so `short` takes four, and a batch has a hundred records or more.
    samples = run_until(engine_of(spark, job, tmp_path, batch_seconds=3.0), plan, 5)
    sample = samples[-1]
    operators = sample.operators
    assert {name: operator.parallelism for name, operator in operators.items()} == dict(plan.parallelism)
    assert operators["short"].records_in == operators["parse"].records_out
    assert operators["half"].records_in == operators["long"].records_out
    done = operators["parse"].records_in
    assert done == pytest.approx((sample.throughput or 0) * sample.seconds)
    assert done is not None

    useful = {name: operator.useful_seconds or 0.0 for name, operator in operators.items()}
    assert useful["short"] >= 0.004 * done  # the operator slept as long as that
    assert useful["long"] >= 0.016 * done
    rates = operators["long"].instance_rates
    assert rates is not None
    assert len(rates) == 2
    assert all(rate <= 1 / 0.016 for rate in rates)
    # In the least disturbed of the windows: in the others something else may have taken the cores.
    a_record = {
        name: min(
            (each.operators[name].useful_seconds or 0.0) / (each.operators[name].records_in or 1) for each in samples
        )
        for name in ("short", "long")
    }
    assert 2.5 < a_record["long"] / a_record["short"] < 5
    records = sum(batch.records for batch in sample.batches or ())
    of_batches = sum(batch.useful_seconds for batch in sample.batches or ())
    assert sum(useful.values()) / done == pytest.approx(of_batches / records)
    assert all(
        batch.stage_seconds < batch.useful_seconds for batch in sample.batches or ()
    )  # two instances share some of it
    assert all(batch.stage_seconds < batch.seconds for batch in sample.batches or ())

    assert sample.event_latency_ms is not None
    assert sample.processing_latency_ms is not None
    assert None not in (sample.event_latency_ms.p50, sample.event_latency_ms.p99, sample.input_rate, sample.backlog)
    assert (sample.event_latency_ms.p99 or 0) >= (sample.processing_latency_ms.p50 or 0)
    assert sample.executors is None  # everything runs inside the driver


def test_operators_are_told_apart_also_where_it_is_seldom_measured_inside_them(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for records that are so cheap that measuring inside takes more than its share of the time."""
    monkeypatch.setattr(monitor, "MOST_METERING", 1e-6)
    job = Pipeline("seldom", source=replay(constant(100.0, 3_600.0)))
    parse = job.operator("parse", as_text)
    half = job.operator("half", lambda frame: frame.where("cast(text as long) % 2 = 0"), after=parse)
    short = job.operator("short", working(2), after=half)
    long = job.operator("long", working(8), after=short)
    job.sink(files(str(tmp_path / "out")), after=long)
    engine = engine_of(spark, job, tmp_path, batch_seconds=1.0)
    metered: list[float] = []
    inside: dict[str, Metering] = {}
    taken = engine._meter.taken
    seen: list[Sample] = []

    def noted(operators: Sequence[str]) -> dict[str, Metering]:
        metered.append(engine.now())
        inside.update(taken(operators))
        return dict(inside)

    def enough() -> bool:
        seen.extend(sample for sample in engine.read() if sample.batches and metered and sample.t >= metered[-1])
        return len(seen) >= 3

    monkeypatch.setattr(engine._meter, "taken", noted)
    engine.start(Plan(dict.fromkeys(job.topology().names, 1)))
    until(enough, "windows after the last batch that was measured inside", engine)
    engine.stop()
    for sample in seen:
        of = sample.operators
        assert of["parse"].records_in == pytest.approx(records(sample))
        assert of["half"].records_in == of["parse"].records_out == pytest.approx(records(sample), abs=1)
        assert of["short"].records_in == of["half"].records_out == pytest.approx(records(sample) / 2, rel=0.1)
        # They share the time of their stage as they did in the last batch that was measured inside.
        shares = {name: each.seconds(round(of[name].records_in or 0)) or 0.0 for name, each in inside.items()}
        assert shares["long"] >= 0.008 * (of["long"].records_in or 0)
        for name, share in shares.items():
            useful = (of[name].useful_seconds or 0.0) / sum(each.useful_seconds or 0.0 for each in of.values())
            assert useful == pytest.approx(share / sum(shares.values()), rel=0.05)


def test_an_operator_is_tried_with_the_line_that_an_error_names_and_built_without_it_for_each_batch(
    spark: SparkSession, tmp_path: Path
) -> None:
    """To write down the line of every call takes longer than to build the frames."""
    noted: list[bool] = []

    def only(frame: DataFrame) -> DataFrame:
        noted.append(utils.is_debugging_enabled())
        return frame.select("value")

    job = Pipeline("lines", source=replay(constant(100.0, 3_600.0)))
    job.operator("only", only)
    job.sink(files(str(tmp_path / "out")), after="only")
    engine = engine_of(spark, job, tmp_path)
    tried = noted.copy()
    run_until(engine, Plan({"only": 1}), 1)
    assert tried
    assert all(tried)
    assert not any(noted[len(tried) :])
    assert utils.is_debugging_enabled()


def test_the_first_batches_after_a_change_warm_up(spark: SparkSession, tmp_path: Path) -> None:
    job = Pipeline("warming", source=replay(constant(100.0, 3_600.0)))
    job.operator("only", as_text)
    job.sink(files(str(tmp_path / "out")), after="only")
    engine = engine_of(spark, job, tmp_path)
    engine.start(Plan({"only": 1}))
    seen: list[Sample] = []

    def settled(parallelism: int) -> bool:
        seen.extend(engine.read())
        last = seen[-1] if seen else None
        return last is not None and not last.warm_up and last.operators["only"].parallelism == parallelism

    until(lambda: settled(1), "a job that has warmed up", engine)
    engine.apply(Plan({"only": 3}))
    until(lambda: settled(3), "a job that has warmed up again", engine)
    engine.stop()
    story = [(sample.operators["only"].parallelism, sample.warm_up) for sample in seen]
    assert list(dict.fromkeys(story)) == [(1, True), (1, False), (3, True), (3, False)]
    assert WARM_UP_BATCHES >= 1


def test_an_operator_that_feeds_two_others_is_computed_once(spark: SparkSession, tmp_path: Path) -> None:
    calls = spark.sparkContext.accumulator(0)

    def counting(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for frame in frames:
            calls.add(len(frame))
            yield frame

    job = Pipeline("once", source=replay(constant(1e6, 0.001)))
    first = job.operator("first", lambda frame: frame.select("offset").mapInPandas(counting, "offset long"))
    kept: list[int] = []
    for name in ("left", "right"):
        job.operator(name, lambda frame: frame, after=first)
        job.sink(Function(lambda frame, batch: kept.extend(row.offset for row in frame.collect())), after=name)
    engine = engine_of(spark, job, tmp_path)
    engine.start(Plan.smallest(job.topology()))
    until(lambda: len(kept) >= 2_000, "all records", engine)
    engine.stop()
    assert sorted(kept) == sorted([*range(1_000), *range(1_000)])
    assert calls.value == 1_000


def test_a_fan_out_and_a_fan_in_are_counted(spark: SparkSession, tmp_path: Path) -> None:
    job = diamond(replay(constant(200.0, 3_600.0)), files(str(tmp_path / "out")))
    plan = Plan({"parse": 2, "left": 2, "right": 3, "store": 4})
    operators = run_until(engine_of(spark, job, tmp_path), plan, 3)[-1].operators
    assert operators["parse"].records_in == operators["parse"].records_out
    for name in ("left", "right"):
        assert operators[name].records_in == operators["parse"].records_out
    out = (operators["left"].records_out or 0) + (operators["right"].records_out or 0)
    assert out == operators["store"].records_in == operators["parse"].records_in
    assert all((operator.useful_seconds or 0) > 0 for operator in operators.values())


def test_a_table_is_kept_up_to_date(spark: SparkSession, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'counts.db'}"

    def totals(frame: DataFrame) -> DataFrame:
        return frame.selectExpr("offset % 3 as remainder", "offset").groupBy("remainder").agg({"offset": "max"})

    job = Pipeline("totals", source=replay(constant(1e6, 0.001), max_records_per_batch=300))
    job.operator("count", lambda frame: totals(frame).withColumnRenamed("max(offset)", "newest"))
    job.sink(table(url, "totals", key="remainder"), after="count")
    engine = engine_of(spark, job, tmp_path)
    engine.start(Plan({"count": 2}))
    until(lambda: engine.read() and engine.backlog == 0, "the end of the records", engine)
    engine.stop()
    import sqlalchemy as sa

    with sa.create_engine(url).connect() as connection:
        rows = connection.execute(sa.text("select remainder, newest from totals order by remainder")).all()
    assert [tuple(row) for row in rows] == [(0, 999), (1, 997), (2, 998)]
