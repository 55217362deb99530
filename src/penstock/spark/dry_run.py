"""Applies every operator to an empty frame, so that mistakes are reported before anything starts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TypeGuard

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructField, StructType

from penstock.model import InvalidValueError
from penstock.spark.failure import in_one_line
from penstock.spark.graph import Graph, Step
from penstock.spark.measure.python_meter import Metered, meters_found
from penstock.spark.measure.stamp import STAMP, STAMP_TYPE
from penstock.spark.settings import KEEP_EVERY_STAGE, temporary_settings
from penstock.spark.versions import CONDITION, LOGGER, has

_PYTHON = re.compile(r"Python|InPandas|InArrow|InPySpark")
_NARROW = {"AdaptiveSparkPlan", "Project", "Filter", "Generate", "Sample", "Exchange", "Union", "Scan"}
"""Other physical operators may shuffle in a stream, for their state, where they do not in the dry run."""
_THROUGH_PYTHON = {"MapInPandas", "MapInArrow", "PythonMapInArrow", "ArrowEvalPython", "BatchEvalPython"}
"""They hand records to Python and take them back, a block at a time."""
_KEEP_PARTITIONS = {
    "HashAggregate", "ObjectHashAggregate", "SortAggregate", "Sort", "Window", "WindowGroupLimit", "Expand",
    "FlatMapGroupsInPandas", "FlatMapGroupsInArrow", "BroadcastHashJoin", "BroadcastExchange", "ColumnarToRow",
}  # fmt: skip
"""They make as many partitions as they are given, and leave records where they lie."""
_SPARKS_OWN = "org.apache.spark.sql.catalyst.expressions."
_FOREIGN = {"PythonUDF", "ScalaUDF", "CallMethodViaReflection", "ApplyFunctionExpression", "Invoke", "StaticInvoke"}
"""Expressions that call code outside Spark, which may wait."""


@dataclass(frozen=True, slots=True)
class DryRun:
    """What is known of an operator before it runs.

    input, output  the columns of its frames
    python         the physical operator that needs Python workers; None: it is native
    exchanges      shuffles inside the operator, beside the one in front of it
    filters        whether it has a filter, which the optimiser would move through the shuffle in front of it
    narrow         whether it is sure to be one stage, behind the shuffle in front of it
    plain          whether it only selects, by Spark's own functions: each record leaves as one record, and none waits
    passes         whether it hands on what it makes of one record, or of a block of them, before it asks for the next
    keeps          columns of its input that it hands on unchanged
    keeps_partitions
                   whether its output is sure to lie in as many partitions as its input, each record where it lay
    rereads        whether it reads its input more than once
    unique         sets of columns of which Spark knows that no two rows of a batch have the same values
    groups         how it groups records, which in micro-batches it does for each batch by itself; None: it does not
    meters         its Python functions that measure themselves
    """

    input: StructType
    output: StructType
    python: str | None
    exchanges: int
    filters: bool
    narrow: bool
    plain: bool
    passes: bool = False
    keeps: frozenset[str] = frozenset()
    keeps_partitions: bool = False
    rereads: bool = False
    unique: frozenset[frozenset[str]] = frozenset()
    groups: str | None = None
    meters: tuple[Metered, ...] = ()

    @property
    def keeps_stamp(self) -> bool:
        return STAMP in self.output.names


def dry_run(spark: SparkSession, graph: Graph) -> dict[str, DryRun]:
    """Try each operator, in the order of the flow."""
    topology = graph.topology()
    source = StructType([*graph.source.schema.fields, StructField(STAMP, STAMP_TYPE)])
    tried: dict[str, DryRun] = {}
    for name in topology.order:
        step = graph.steps[name]
        inputs = [tried[parent].output for parent in step.after] or [source]
        tried[name] = _try(spark, step, inputs)
    return tried


def _try(spark: SparkSession, step: Step, inputs: list[StructType]) -> DryRun:
    field = f"operator {step.name}"
    frame = _empty(spark, inputs[0])
    for parent, other in zip(step.after[1:], inputs[1:], strict=True):
        try:
            with _muted_analyser():
                frame = frame.unionByName(_empty(spark, other))
        except PySparkException as error:
            raise InvalidValueError(
                f"{field}: after", f"needs inputs of the same columns, but {parent!r} differs: {in_one_line(error)}"
            ) from error
    for column in step.key:
        if column not in frame.columns:
            there = ", ".join(frame.columns)
            raise InvalidValueError(f"{field}: key", f"{column!r} is not a column of its input. There is: {there}")
    try:
        with meters_found() as meters, _muted_analyser():
            output = step.function(frame.repartition(2, *step.key))
    except Exception as error:
        raise InvalidValueError(field, _problem(error, frame.columns)) from error
    if not isinstance(output, DataFrame):
        raise InvalidValueError(field, f"must return a DataFrame, not {type(output).__name__}")
    if output.isStreaming:
        raise InvalidValueError(
            field, "reads a second stream, but a pipeline has one source: join the streams in a native query "
            "(penstock.spark.NativeQuery), or read several topics with one kafka([...]); a table that does not stream "
            "may be joined",
        )  # fmt: skip
    nodes = _physical_nodes(output)
    shuffled_once = nodes.count("Exchange") == 1  # by us
    return DryRun(
        input=frame.schema,
        output=output.schema,
        python=next((node for node in nodes if _PYTHON.search(node)), None),
        exchanges=max(0, nodes.count("Exchange") - 1),
        filters="Filter" in nodes or not nodes,
        narrow=shuffled_once and _NARROW.issuperset(nodes),
        plain=_plain(output),
        passes=shuffled_once and (_NARROW | _THROUGH_PYTHON).issuperset(nodes),
        keeps=_kept(frame, output),
        keeps_partitions=shuffled_once and (_NARROW - {"Union"} | _THROUGH_PYTHON | _KEEP_PARTITIONS).issuperset(nodes),
        rereads=_reads(output, frame) > 1,
        unique=_unique(output),
        groups=_groups(output),
        meters=tuple(meters),
    )


def _empty(spark: SparkSession, schema: StructType) -> DataFrame:
    """A frame without rows. The optimiser does not see that it is empty, and leaves the operators in the plan."""
    return spark.createDataFrame(spark.sparkContext.emptyRDD(), schema)


def _physical_nodes(frame: DataFrame) -> list[str]:
    """The names of the physical operators; none where Spark cannot plan the frame as a batch."""
    try:
        with temporary_settings(frame.sparkSession, KEEP_EVERY_STAGE):
            plan: str = frame._jdf.queryExecution().executedPlan().toString()
    except Exception:  # some stateful operators exist in streams only, and those are native
        return []
    return [found.group(1) for line in plan.splitlines() if (found := re.match(r"[^A-Za-z]*([A-Za-z]+)", line))]


def _kept(before: DataFrame, after: DataFrame) -> frozenset[str]:
    """See `DryRun.keeps`. A column that is made anew has another number, under the same name too."""
    given = before._jdf.queryExecution().analyzed().outputSet()
    made = after._jdf.queryExecution().analyzed().output()
    columns = [made.apply(place) for place in range(made.size())]
    return frozenset(column.name() for column in columns if given.contains(column))


def _unique(frame: DataFrame) -> frozenset[frozenset[str]]:
    """See `DryRun.unique`."""
    try:
        keys = frame._jdf.queryExecution().optimizedPlan().distinctKeys().toSeq()
    except Exception:  # some stateful operators exist in streams only: nothing is known of them
        return frozenset()
    sets = [keys.apply(place).toSeq() for place in range(keys.size())]
    return frozenset(frozenset(str(one.apply(place).name()) for place in range(one.size())) for one in sets)


_GROUPING = {
    "Aggregate": "groupBy", "Deduplicate": "dropDuplicates",
    "DeduplicateWithinWatermark": "dropDuplicatesWithinWatermark", "FlatMapGroupsInPandas": "applyInPandas",
    "FlatMapGroupsInArrow": "applyInArrow", "Window": "a window function",
}  # fmt: skip


def _groups(frame: DataFrame) -> str | None:
    """See `DryRun.groups`: what a user called it."""
    nodes = json.loads(frame._jdf.queryExecution().analyzed().toJSON())
    kinds = [node["class"].rpartition(".")[2] for node in nodes]
    return next((_GROUPING[kind] for kind in kinds if kind in _GROUPING), None)


def _reads(after: DataFrame, before: DataFrame) -> int:
    """How often a frame reads another one."""
    leaves = after._jdf.queryExecution().analyzed().collectLeaves()
    first = before._jdf.queryExecution().analyzed().collectLeaves().head()
    return sum(bool(leaves.apply(place).sameResult(first)) for place in range(leaves.size()))


def _plain(frame: DataFrame) -> bool:
    """See `DryRun.plain`."""
    plan = json.loads(frame._jdf.queryExecution().analyzed().toJSON())  # its nodes from the top down
    while plan and "Repartition" not in plan[-1]["class"]:  # what is in front of the operator's shuffle
        plan.pop()
    operator = plan[:-1]
    if not plan or any(not node["class"].endswith((".Project", ".SubqueryAlias")) for node in operator):
        return False
    selected = json.dumps([node.get("projectList") for node in operator])
    expressions = re.findall(r'"class": "([^"$]+)', selected)
    return all(name.startswith(_SPARKS_OWN) and name.rpartition(".")[2] not in _FOREIGN for name in expressions)


@contextmanager
def _muted_analyser() -> Iterator[None]:
    """PySpark logs what the analyser refuses as kilobytes of JSON, and then raises it."""
    if not has(LOGGER):
        yield
        return
    from pyspark.logger import PySparkLogger

    loggers = [PySparkLogger.getLogger(f"{kind}QueryContextLogger") for kind in ("DataFrame", "SQL")]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled


def _is_about_a_column(error: Exception) -> TypeGuard[PySparkException]:
    """Whether an operator names a column that is not there."""
    if not isinstance(error, PySparkException):
        return False
    condition = error.getCondition() if has(CONDITION) else error.getErrorClass()
    return (condition or "").startswith(("UNRESOLVED_COLUMN", "ATTRIBUTE_NOT_SUPPORTED"))


def _problem(error: Exception, columns: Sequence[str]) -> str:
    """What an operator does wrong."""
    if _is_about_a_column(error):
        parameters = error.getMessageParameters() or {}
        column = (parameters.get("objectName") or parameters.get("attr_name") or "").replace("`", "")
        near = get_close_matches(column, columns, n=1)
        hint = f", did you mean {near[0]!r}?" if near else "."
        return f"uses the column {column!r}, which is not there{hint} Its input has: {', '.join(columns)}"
    return f"fails on its input: {in_one_line(error)}"
