"""Any source and any sink that Spark knows by the name of its format: Delta and Iceberg are a package away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from penstock.model import FrozenMap, InvalidValueError
from penstock.spark.measure.stamp import STAMP


def source(
    format: str, *, created: str, path: str | None = None, schema: str | StructType | None = None, **options: Any
) -> FormatSource:
    """What `spark.readStream.format(format)` reads, in micro-batches.

    created  the column that says when a record was created
    path     what it is loaded from, where the format asks for a path or the name of a table
    schema   the columns, where the format does not know them itself

    Its lag is not known: backlog is not measured, and the input rate is what the job takes.
    """
    return FormatSource(format, created, path, schema, _texts(options))


def sink(format: str, *, path: str | None = None, **options: Any) -> FormatSink:
    """What `frame.write.format(format)` appends to, batch by batch, in micro-batches.

    path  what it is saved to, where the format asks for a path or the name of a table
    """
    return FormatSink(format, path, _texts(options))


@dataclass(frozen=True)
class FormatSource:
    """See `source`."""

    format: str
    created: str
    path: str | None = None
    given: str | StructType | None = None
    options: Mapping[str, str] = field(default_factory=FrozenMap, repr=False)  # passwords among them

    @property
    def schema(self) -> StructType:
        found = self.stream(SparkSession.active()).schema
        if self.created not in found.names:
            why = f"{self.created!r} is not a column. There is: {', '.join(found.names)}"
            raise InvalidValueError(f"source {self.format}: created", why)
        return found

    def stream(self, spark: SparkSession) -> DataFrame:
        reader = spark.readStream.format(self.format).options(**self.options)
        if self.given is not None:
            reader = reader.schema(self.given)
        return reader.load(self.path)

    def backlog(self, offset: Any, now: float) -> None:
        """Not known."""


@dataclass(frozen=True)
class FormatSink:
    """See `sink`. A batch that comes again after a crash is appended again, unless the format itself sees to it."""

    format: str
    path: str | None = None
    options: Mapping[str, str] = field(default_factory=FrozenMap, repr=False)  # passwords among them
    reads_again: ClassVar[bool] = False

    def write(self, frame: DataFrame, batch: int) -> None:
        frame.drop(STAMP).write.format(self.format).mode("append").options(**self.options).save(self.path)


def _texts(options: Mapping[str, Any]) -> FrozenMap[str, str]:
    return FrozenMap(
        {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in options.items()}
    )
