"""Mistakes in a pipeline are said before anything starts, in one sentence."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyspark.logger import PySparkLogger
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock import Slo
from penstock.load.curves import constant
from penstock.model import InvalidValueError, Plan
from penstock.spark import Function, Pipeline, files, replay
from penstock.spark.dry_run import DryRun, dry_run
from penstock.spark.microbatch.engine import MicroBatchEngine
from penstock.spark.segments import segments

pytestmark = pytest.mark.spark

SOURCE = replay(constant(10.0, 10.0))


def same(frame: DataFrame) -> DataFrame:
    return frame


def nowhere() -> Function:
    return Function(lambda frame, batch: None)


def pipeline(**after: tuple[str, ...]) -> Pipeline:
    job = Pipeline("job", source=SOURCE)
    for name, parents in after.items():
        job.operator(name, same, after=parents)
    return job


def test_a_cycle_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="cycle"):
        pipeline(a=("b",), b=("a",)).topology()


def test_two_operators_of_one_name_are_refused() -> None:
    job = pipeline(a=())
    with pytest.raises(InvalidValueError, match="'a' stands twice"):
        job.operator("a", same)


def test_an_operator_after_nobody_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="'nobody' is not known"):
        pipeline(a=("nobody",)).topology()


def test_an_operator_that_feeds_nothing_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="operator a feeds nothing: give it a sink"):
        pipeline(a=()).topology()


def test_a_sink_after_nobody_is_refused() -> None:
    job = pipeline(a=())
    job.sink(nowhere(), after="b")
    with pytest.raises(InvalidValueError, match="no 'b'"):
        job.topology()


def test_a_linear_pipeline_is_one_segment() -> None:
    job = pipeline(a=(), b=("a",), c=("b",))
    job.sink(nowhere(), after="c")
    assert [(s.operators, s.after, s.feeds) for s in segments(job)] == [(("a", "b", "c"), (), ())]


def test_operators_may_be_tied() -> None:
    job = Pipeline("job", source=SOURCE)
    job.operator("parse", same, tie="front")
    job.operator("enrich", same, after="parse", tie="front")
    job.sink(nowhere(), after="enrich")
    assert [operator.tie for operator in job.topology().operators] == ["front", "front"]


def test_fan_outs_and_fan_ins_are_cut() -> None:
    job = pipeline(read=(), parse=("read",), left=("parse",), right=("parse",), more=("right",), join=("left", "more"))
    job.sink(nowhere(), after="join")
    assert [(s.operators, s.after, s.feeds) for s in segments(job)] == [
        (("read", "parse"), (), ("left", "right")),
        (("left",), ("parse",), ("join",)),
        (("right", "more"), ("parse",), ("join",)),
        (("join",), ("left", "more"), ()),
    ]


def test_an_operator_that_feeds_a_sink_and_another_operator_ends_its_segment() -> None:
    job = pipeline(a=(), b=("a",))
    job.sink(nowhere(), after="a")
    job.sink(nowhere(), after="b")
    assert [s.operators for s in segments(job)] == [("a",), ("b",)]


def one_operator(function: Callable[[DataFrame], DataFrame], **options: str) -> Pipeline:
    job = Pipeline("job", source=SOURCE)
    job.operator("a", function, **options)  # type: ignore[arg-type]
    job.sink(nowhere(), after="a")
    return job


def tried(spark: SparkSession, function: Callable[[DataFrame], DataFrame], **options: str) -> DryRun:
    return dry_run(spark, one_operator(function, **options))["a"]


PLAIN: dict[str, Callable[[DataFrame], DataFrame]] = {
    "the same": same,
    "selects": lambda frame: frame.alias("all").select("all.value", "stamp"),
    "computes": lambda frame: frame.withColumn("n", F.length("value")).withColumn("n", F.col("n") + 1),
    "draws": lambda frame: frame.withColumn("chance", F.rand()),
    "calls": lambda frame: frame.select(F.expr("aes_encrypt(value, transform(array(value), v -> base64(v))[0])")),
}
NOT_PLAIN: dict[str, Callable[[DataFrame], DataFrame]] = {
    "filters": lambda frame: frame.where("value is not null"),
    "multiplies": lambda frame: frame.select(F.explode(F.array("value", "key"))),
    "counts": lambda frame: frame.groupBy("key").count(),
    "forgets": lambda frame: frame.dropDuplicates(["key"]),
    "joins": lambda frame: frame.unionByName(frame),
    "shuffles": lambda frame: frame.repartition(3),
    "makes up": lambda frame: frame.sparkSession.range(3),
    "waits": lambda frame: frame.withColumn("w", F.expr("reflect('java.lang.Thread', 'sleep', 1L)")),
    "waits inside": lambda frame: frame.select(F.concat(F.expr("try_reflect('java.lang.Thread', 'sleep', 1L)"))),
    "goes to Python": lambda frame: frame.select(F.udf(lambda key: key)("key")),
}


@pytest.mark.parametrize("what", [*PLAIN, *NOT_PLAIN])
def test_a_plain_operator_only_selects_by_functions_of_spark(spark: SparkSession, what: str) -> None:
    assert tried(spark, (PLAIN | NOT_PLAIN)[what]).plain == (what in PLAIN)


def test_a_key_that_is_not_a_column_is_refused(spark: SparkSession) -> None:
    with pytest.raises(InvalidValueError, match=r"operator a: key 'campaign' is not a column.*There is: key, value"):
        tried(spark, same, key="campaign")


def test_a_function_that_fails_names_its_operator(spark: SparkSession) -> None:
    with pytest.raises(InvalidValueError, match=r"operator a fails on its input: .*nothing_at_all"):
        tried(spark, lambda frame: frame.selectExpr("nothing_at_all(value)"))
    with pytest.raises(InvalidValueError, match=r"operator a fails on its input: ZeroDivisionError: .*zero$"):
        tried(spark, lambda frame: frame.limit(1 // 0))


class Kept(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@contextmanager
def logged_by_pyspark() -> Iterator[list[logging.LogRecord]]:
    """What PySpark logs of errors. Its own handlers write to the standard error of whoever made them."""
    handler = Kept()
    loggers = [PySparkLogger.getLogger(f"{kind}QueryContextLogger") for kind in ("DataFrame", "SQL")]
    for logger in loggers:
        logger.addHandler(handler)
    yield handler.records
    for logger in loggers:
        logger.removeHandler(handler)


@pytest.mark.parametrize(
    "use",
    [
        lambda frame: frame.select("valeu"),
        lambda frame: frame.where("valeu is null"),
        lambda frame: frame.select(frame["valeu"]),
        lambda frame: frame.select(frame.valeu),
    ],
)
def test_an_unknown_column_is_one_sentence_and_nothing_else(
    spark: SparkSession, use: Callable[[DataFrame], DataFrame], capfd: pytest.CaptureFixture[str]
) -> None:
    capfd.readouterr()
    with logged_by_pyspark() as logged, pytest.raises(InvalidValueError) as refused:
        tried(spark, use)
    assert logged == []
    assert str(refused.value) == (
        "operator a uses the column 'valeu', which is not there, did you mean 'value'? Its input has: key, value, "
        "topic, partition, offset, timestamp, stamp"
    )
    assert capfd.readouterr() == ("", "")
    assert not PySparkLogger.getLogger("DataFrameQueryContextLogger").disabled  # it is muted for the dry run only


def test_a_function_must_return_a_frame(spark: SparkSession) -> None:
    with pytest.raises(InvalidValueError, match="operator a must return a DataFrame, not int"):
        tried(spark, lambda frame: 3)  # type: ignore[arg-type, return-value]


def test_a_fan_in_of_different_columns_is_refused(spark: SparkSession) -> None:
    job = Pipeline("job", source=SOURCE)
    job.operator("a", same)
    job.operator("b", lambda frame: frame.select("value"))
    job.operator("c", same, after=["a", "b"])
    job.sink(nowhere(), after="c")
    with pytest.raises(InvalidValueError, match="operator c: after needs inputs of the same columns, but 'b' differs"):
        dry_run(spark, job)


def test_a_job_without_a_checkpoint_is_refused(spark: SparkSession) -> None:
    with pytest.raises(InvalidValueError, match="checkpoint must name a folder"):
        one_operator(same).start(spark, slo=Slo(), checkpoint="")


def test_an_engine_that_does_not_exist_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match="engine 'micro' is not known; did you mean 'microbatch'"):
        one_operator(same).start(spark, slo=Slo(), checkpoint=str(tmp_path), engine="micro")


@pytest.mark.parametrize(
    ("engine", "change", "sentence"),
    [
        ("microbatch", "handover", "change is for engine 'realtime': in micro-batches nothing stops for a change"),
        ("realtime", "hand-over", "change 'hand-over' is not known; did you mean 'handover'"),
    ],
)
def test_a_way_to_change_that_does_not_exist_is_refused(
    spark: SparkSession, tmp_path: Path, engine: str, change: str, sentence: str
) -> None:
    with pytest.raises(InvalidValueError, match=sentence):
        one_operator(same).start(spark, slo=Slo(), checkpoint=str(tmp_path), engine=engine, change=change)


def test_python_operators_are_known_as_such(spark: SparkSession) -> None:
    job = Pipeline("job", source=SOURCE)
    job.operator("native", lambda frame: frame.where("length(value) > 1"))
    job.operator("pandas", lambda frame: frame.select("value").mapInPandas(lambda some: some, "value binary"))
    job.operator("udf", lambda frame: frame.select(F.udf(lambda value: value, "binary")("value").alias("value")))
    for name in job.steps:
        job.sink(nowhere(), after=name)
    dry_runs = dry_run(spark, job)
    assert {name: each.python for name, each in dry_runs.items()} == {
        "native": None,
        "pandas": "MapInPandas",
        "udf": "ArrowEvalPython",
    }
    assert [dry_runs[name].keeps_stamp for name in job.steps] == [True, False, False]


def test_filters_are_found(spark: SparkSession) -> None:
    job = Pipeline("job", source=SOURCE)
    job.operator("selects", lambda frame: frame.select("value", "stamp"))
    job.operator("drops", lambda frame: frame.where("length(value) > 3"), after="selects")
    job.operator("joins", lambda frame: frame.join(frame.select("value"), "value"), after="drops")
    job.sink(nowhere(), after="joins")
    filters = {name: each.filters for name, each in dry_run(spark, job).items()}
    assert filters == {"selects": False, "drops": True, "joins": True}  # a join drops nulls first


def test_shuffles_inside_an_operator_are_counted(spark: SparkSession) -> None:
    job = Pipeline("job", source=SOURCE)
    job.operator("by_key", lambda frame: frame.groupBy("partition").count(), key="partition")
    job.operator("by_other", lambda frame: frame.groupBy("partition").count())
    job.sink(nowhere(), after="by_key")
    job.sink(nowhere(), after="by_other")
    assert {name: each.exchanges for name, each in dry_run(spark, job).items()} == {"by_key": 0, "by_other": 1}


def test_what_an_operator_keeps_is_found(spark: SparkSession) -> None:
    kinds: dict[str, Callable[[DataFrame], DataFrame]] = {
        "selects": lambda frame: frame.select("key", F.upper("topic").alias("topic"), "stamp"),
        "python": lambda frame: frame.select("value").mapInPandas(lambda some: some, "value binary"),
        "counts": lambda frame: frame.groupBy("topic").count(),
        "narrows": lambda frame: frame.coalesce(1),
        "doubles": lambda frame: frame.unionByName(frame),
        "meets itself": lambda frame: frame.join(frame.groupBy("topic").count(), "topic"),
    }
    dry_runs = {kind: tried(spark, function) for kind, function in kinds.items()}
    assert dry_runs["selects"].keeps == {"key", "stamp"}
    assert dry_runs["python"].keeps == frozenset()
    assert {kind for kind, each in dry_runs.items() if each.keeps_partitions} == {"selects", "python"}
    assert {kind for kind, each in dry_runs.items() if each.passes} == {"selects", "python"}
    assert {kind for kind, each in dry_runs.items() if each.rereads} == {"doubles", "meets itself"}
    by_key = tried(spark, kinds["counts"], key="topic")
    assert by_key.keeps_partitions
    assert by_key.keeps == {"topic"}


@pytest.mark.parametrize(
    ("function", "groups"),
    [
        (lambda frame: frame.groupBy("value").count(), "groupBy"),
        (lambda frame: frame.dropDuplicates(["value"]), "dropDuplicates"),
        (lambda frame: frame.distinct(), "dropDuplicates"),  # as Spark has it
        (lambda frame: frame.where("offset > 3").select("value"), None),
    ],
)
def test_an_operator_that_groups_is_said_to_see_one_batch_only(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture, function: Any, groups: str | None
) -> None:
    job = Pipeline("job", source=replay(constant(10.0, 1.0)))
    job.operator("only", function)
    job.sink(files(str(tmp_path / "out")), after="only")
    caplog.set_level(logging.WARNING, "penstock")
    tried = dry_run(spark, job)
    MicroBatchEngine(spark, job, tried, str(tmp_path / "checkpoint"))._prepare(Plan({"only": 1}))
    said = "operator only uses {}, which in micro-batches sees the records of one batch only"
    assert (said.format(groups) in caplog.text) == (groups is not None)
    assert tried["only"].groups == groups


def test_a_table_may_be_joined_and_a_second_stream_is_refused(spark: SparkSession) -> None:
    job = Pipeline("job", source=replay(constant(10.0, 1.0)))
    table = spark.range(10).withColumnRenamed("id", "offset")
    job.operator("only", lambda frame: frame.join(table, "offset"))
    job.sink(Function(lambda frame, batch: None), after="only")
    dry_run(spark, job)
    stream = spark.readStream.format("rate").load().withColumnRenamed("value", "offset")
    second = Pipeline("job", source=replay(constant(10.0, 1.0)))
    second.operator("only", lambda frame: frame.select("offset").join(stream, "offset"))
    second.sink(Function(lambda frame, batch: None), after="only")
    with pytest.raises(InvalidValueError, match=r"^operator only reads a second stream, but a pipeline has one source"):
        dry_run(spark, second)
