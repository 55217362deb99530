"""The micro-batch engine on real Spark: what it promises while its plan changes."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

import pandas as pd
import pytest
from pyspark import cloudpickle
from pyspark.errors import utils
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.load.curves import constant
from penstock.model import Plan, Sample
from penstock.spark import Function, Pipeline, files, replay, table
from penstock.spark.dry_run import dry_run
from penstock.spark.io.endpoints import Sink
from penstock.spark.io.replayed import Replay
from penstock.spark.microbatch import monitor
from penstock.spark.microbatch.attribution import Metering
from penstock.spark.microbatch.engine import WARM_UP_BATCHES, MicroBatchEngine
from spark_jobs import as_text, until, working

pytestmark = pytest.mark.spark


def engine_of(spark: SparkSession, job: Pipeline, folder: Path, batch_seconds: float = 0.05) -> MicroBatchEngine:
    return MicroBatchEngine(spark, job, dry_run(spark, job), str(folder / "checkpoint"), batch_seconds=batch_seconds)


def records(sample: Sample) -> float:
    """Source records that came through in a window."""
    return (sample.throughput or 0.0) * sample.seconds


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


def run_until(engine: MicroBatchEngine, plan: Plan, enough: int) -> list[Sample]:
    """Start, and collect samples of a job that has warmed up until there are `enough`."""
    seen: list[Sample] = []
    engine.start(plan)

    def read() -> bool:
        seen.extend(sample for sample in engine.read() if not sample.warm_up)
        return len(seen) >= enough

    until(read, "samples", engine)
    engine.stop()
    return seen


def test_what_is_measured_is_what_happened(spark: SparkSession, tmp_path: Path) -> None:
    job = Pipeline("known", source=replay(constant(100.0, 3_600.0)))
    parse = job.operator("parse", as_text)
    short = job.operator("short", working(2), after=parse)
    long = job.operator("long", working(8), after=short)
    half = job.operator("half", lambda frame: frame.where("crc32(value) % 2 = 0"), after=long)
    job.sink(files(str(tmp_path / "out")), after=half)
    plan = Plan({"parse": 1, "short": 1, "long": 2, "half": 1})
    # A batch has a hundred records or more: with ten, what the stage takes to begin and to read is half of `short`.
    samples = run_until(engine_of(spark, job, tmp_path, batch_seconds=1.0), plan, 5)
    sample = samples[-1]
    operators = sample.operators
    assert {name: operator.parallelism for name, operator in operators.items()} == dict(plan.parallelism)
    assert operators["short"].records_in == operators["parse"].records_out
    assert operators["half"].records_in == operators["long"].records_out
    done = operators["parse"].records_in
    assert done == pytest.approx((sample.throughput or 0) * sample.seconds)
    assert done is not None

    useful = {name: operator.useful_seconds or 0.0 for name, operator in operators.items()}
    assert useful["short"] >= 0.002 * done  # the operator slept as long as that
    assert useful["long"] >= 0.008 * done
    rates = operators["long"].instance_rates
    assert rates is not None
    assert len(rates) == 2
    assert all(rate <= 1 / 0.008 for rate in rates)
    # In the least disturbed of the windows: in the others something else may have taken the cores.
    a_record = {
        name: min(
            (each.operators[name].useful_seconds or 0.0) / (each.operators[name].records_in or 1)
            for each in samples
            if each.throughput
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


class Planned:
    """A sink that remembers how Spark ran what it was given."""

    reads_again: ClassVar[bool] = False

    def __init__(self) -> None:
        self.plans: list[str] = []

    def write(self, frame: DataFrame, batch: int) -> None:
        self.plans.append(frame._jdf.queryExecution().executedPlan().toString())
        frame.write.format("noop").mode("overwrite").save()


def in_python(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for frame in frames:
        time.sleep(0.004 * len(frame))
        yield frame


# Workers cannot import a test: what they run travels with them.
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]


def mixed(sink: Sink) -> Pipeline:
    """Native, Python, a filter, all that may share a stage; then a shuffle inside an operator, and a key."""
    job = Pipeline("mixed", source=replay(constant(100.0, 3_600.0)))
    job.operator("parse", as_text)
    job.operator("native", working(2), after="parse")
    python = "text string, value binary"
    job.operator("python", lambda frame: frame.drop("stamp").mapInPandas(in_python, python), after="native")
    job.operator("half", lambda frame: frame.where("crc32(value) % 2 = 0"), after="python")
    job.operator("count", lambda frame: frame.groupBy(F.right("text", F.lit(1)).alias("digit")).count(), after="half")
    job.operator("digit", lambda frame: frame.groupBy("digit").sum("count"), after="count", key="digit")
    job.operator("again", lambda frame: frame.groupBy("digit").count(), after="digit", key="digit")
    job.sink(sink, after="again")
    return job


def test_operators_share_a_stage_where_nothing_asks_for_a_shuffle(spark: SparkSession, tmp_path: Path) -> None:
    """And each is measured nevertheless: counted, and with the time that it took."""
    sink = Planned()
    job = mixed(sink)
    samples = run_until(engine_of(spark, job, tmp_path), Plan(dict.fromkeys(job.steps, 2)), 3)
    sample = samples[-1]
    shuffles = [line for line in sink.plans[-1].splitlines() if "Exchange" in line]
    assert len(shuffles) == 2  # the one inside count, and the one for the key of digit and again

    came = {name: operator.records_in or 0.0 for name, operator in sample.operators.items()}
    left = {name: operator.records_out for name, operator in sample.operators.items()}
    assert came["parse"] == came["native"] == came["python"] == came["half"] == pytest.approx(records(sample))
    assert 0 < came["count"] < came["half"]
    assert 0 < came["digit"] <= came["count"]
    assert [left[name] for name in ("parse", "half", "count")] == [came[name] for name in ("native", "count", "digit")]
    assert left["digit"] == came["again"]

    useful = {name: operator.useful_seconds or 0.0 for name, operator in sample.operators.items()}
    assert useful["native"] >= 0.002 * came["native"]
    assert useful["python"] >= 0.004 * came["python"]
    # In the least disturbed of the windows: a pause inside an operator that takes microseconds is all that it shows.
    least = {name: min(each.operators[name].useful_seconds or 0.0 for each in samples) for name in useful}
    assert max(least["parse"], least["half"]) < min(least["native"], least["python"])
    assert all(seconds > 0 for seconds in useful.values())
    assert all(batch.stage_seconds < batch.seconds for batch in sample.batches or ())


def test_without_chaining_there_is_a_shuffle_in_front_of_each_operator(spark: SparkSession, tmp_path: Path) -> None:
    sink = Planned()
    job = Pipeline("apart", source=replay(constant(1e6, 0.002), max_records_per_batch=200))
    job.operator("first", as_text)
    job.operator("second", lambda frame: frame.withColumn("more", F.length("text")), after="first")
    job.sink(sink, after="second")
    tried = dry_run(spark, job)
    engine = MicroBatchEngine(spark, job, tried, str(tmp_path / "checkpoint"), batch_seconds=0.05, chaining=False)
    engine.start(Plan({"first": 2, "second": 2}))
    until(lambda: len(sink.plans) >= 1, "a batch", engine)
    engine.stop()
    assert len([line for line in sink.plans[0].splitlines() if "Exchange" in line]) == 2


def test_batches_that_are_not_measured_run_as_they_were_written(spark: SparkSession, tmp_path: Path) -> None:
    sink = Planned()
    job = Pipeline("bare", source=replay(constant(1e6, 0.002), max_records_per_batch=200))
    job.operator("first", as_text)
    job.operator("second", lambda frame: frame.where("text >= '0'"), after="first")
    job.sink(sink, after="second")
    engine = engine_of(spark, job, tmp_path)
    engine._monitor._measure_after = 3_600.0  # the first batch is measured, and none after it
    engine.start(Plan.smallest(job.topology()))
    until(lambda: len(sink.plans) >= 4, "some batches", engine)
    engine.stop()
    measured, *others = sink.plans
    assert "initializejavabean" in measured.lower()
    assert not [plan for plan in others if "initializejavabean" in plan.lower()]


@pytest.mark.parametrize("instances", [2, 3])
def test_an_operators_filter_runs_with_its_own_parallelism(spark: SparkSession, tmp_path: Path, instances: int) -> None:
    """Spark would push it through a shuffle to the other side, where it runs in as many tasks as the source has."""
    job = Pipeline("wall", source=replay(constant(1e6, 0.001), partitions=2))
    job.operator("few", lambda frame: frame.where("offset < 10"))
    job.sink(files(str(tmp_path / "out")), after="few")
    engine = engine_of(spark, job, tmp_path)
    engine.start(Plan({"few": instances}))
    seen: list[Sample] = []

    def all_came_through() -> bool:
        seen.extend(engine.read())
        return round(sum(records(sample) for sample in seen)) == 1_000

    until(all_came_through, "all records", engine)
    engine.stop()
    measured = [(records(sample), few) for sample in seen if (few := sample.operators["few"]).records_in is not None]
    assert measured  # not every batch is, and the records may have come in two
    for came, few in measured:
        assert few.records_in == pytest.approx(came)
        assert (few.records_out or 0) < came / 2


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
