"""Where those classes of Spark lie that are no part of its API: they have moved from one version to the next."""

from __future__ import annotations

from typing import Any

import pyspark
from pyspark.sql import Column

from penstock.spark.versions import CHECKPOINTING_PACKAGE, CLASSIC, has


def column_of(jvm: Any, expression: Any) -> Column:
    """The column that has the value of an expression of Spark's optimiser."""
    if not has(CLASSIC):
        return Column(jvm.org.apache.spark.sql.Column(expression))
    return Column(jvm.org.apache.spark.sql.classic.ExpressionUtils.column(expression))


def expression_of(jvm: Any, column: Column) -> Any:
    """The expression of a column."""
    if not has(CLASSIC):
        return column._jc.expr()  # type: ignore[operator]
    return jvm.org.apache.spark.sql.classic.ExpressionUtils.expression(column._jc)


def checkpointing(version: str = pyspark.__version__) -> str:
    """The package with what writes the files of checkpoints.

    >>> checkpointing("4.0.1"), checkpointing("4.3.0")
    ('org.apache.spark.sql.execution.streaming', 'org.apache.spark.sql.execution.streaming.checkpointing')
    """
    streaming = "org.apache.spark.sql.execution.streaming"
    return f"{streaming}.checkpointing" if has(CHECKPOINTING_PACKAGE, version) else streaming
