"""The interface of a source and of a sink."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType


@runtime_checkable
class Source(Protocol):
    """Where records come from. `created` is the column that says when a record was created."""

    @property
    def created(self) -> str: ...

    @property
    def schema(self) -> StructType:
        """The columns of its records, known without reading any."""

    def stream(self, spark: SparkSession) -> DataFrame:
        """The unbounded frame of its records."""

    def backlog(self, offset: Any, now: float) -> float | None:
        """Records that wait beyond an offset, as the progress of a query shows it; None: not known."""


@runtime_checkable
class Sink(Protocol):
    """Where records go. One that `reads_again` may run more than one action on a frame; the others must not."""

    reads_again: ClassVar[bool]

    def write(self, frame: DataFrame, batch: int) -> None:
        """Write one batch. The same batch may come again after a crash: it must count once."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """What a sink will be given.

    schema  the columns
    unique  sets of columns of which Spark knows that no two rows of a batch have the same values
    job     who writes: another checkpoint is another job
    """

    schema: StructType
    unique: Collection[frozenset[str]]
    job: str


@runtime_checkable
class Prepares(Protocol):
    """A sink that has something to check, or to make, before its job starts."""

    def prepare(self, spark: SparkSession, incoming: Incoming) -> None:
        """Refuse what cannot be written rightly."""
