"""How rows travel between the segments of a real-time job: as JSON in an internal topic, and nothing is lost."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StructType

# Spark's default writes milliseconds, and microseconds would be lost on the way.
FORMATS = {
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}


def packed(frame: DataFrame) -> Column:
    """All columns of a row as one text."""
    return F.to_json(F.struct(*map(F.col, map(_quoted, frame.columns))), FORMATS)


def unpacked(messages: DataFrame, schema: StructType) -> DataFrame:
    """The rows again. Columns go by name, so several topics can be read as one, as a union by name would."""
    row = F.from_json(F.col("value").cast("string"), schema, {**FORMATS, "mode": "FAILFAST"})
    return messages.select(row.alias("row")).select("row.*")


def _quoted(column: str) -> str:
    return f"`{column.replace('`', '``')}`"
