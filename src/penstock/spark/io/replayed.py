"""A source that replays a load curve: records with times of creation, with the columns of Kafka's.

It needs no broker. The offset says when the replay began and how many records were taken since, so a job that starts
again goes on where it stopped, and what was created meanwhile waits for it.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows
from pyspark.sql.types import StructType

from penstock.model.errors import InvalidValueError, check_whole
from penstock.model.extras import ensure

# The columns of Spark's Kafka source: a pipeline can be tried here and run there.
SCHEMA = "key binary, value binary, topic string, partition int, offset long, timestamp timestamp"
ROWS_PER_ARROW_BATCH = 10_000
GRID_SECONDS = 0.05

WORKERS_WITHOUT_US = (
    "replay runs in Spark's Python workers, and their Python, {python}, does not have penstock: set PYSPARK_PYTHON to "
    "{ours} before the session is made"
)

Ids = npt.NDArray[np.int64]
Values = Callable[[Ids], Sequence[bytes]]


class LoadCurve(Protocol):
    """Rates in records per second at growing times, straight lines in between, as `penstock.load.trace.Trace`."""

    @property
    def times(self) -> Sequence[float]: ...

    @property
    def rates(self) -> Sequence[float]: ...


def plain_values(ids: Ids) -> Sequence[bytes]:
    """The number of the record, as text."""
    return [b"%d" % i for i in ids.tolist()]


def replay(
    curve: LoadCurve,
    values: Values = plain_values,
    *,
    partitions: int = 2,
    max_records_per_batch: int | None = None,
) -> Replay:
    """Replay `curve`; `values` makes the records of given numbers, always the same ones for the same numbers."""
    ensure("arrow")
    return Replay(
        tuple(map(float, curve.times)), tuple(map(float, curve.rates)), values, partitions, max_records_per_batch
    )


@dataclass(frozen=True)
class Replay:
    """See `replay`."""

    times: tuple[float, ...]
    rates: tuple[float, ...]
    values: Values = plain_values
    partitions: int = 2
    max_records_per_batch: int | None = None

    def __post_init__(self) -> None:
        check_whole("replay: partitions", self.partitions, 1)
        if self.max_records_per_batch is not None:
            check_whole("replay: max_records_per_batch", self.max_records_per_batch, 1)
        if len(self.times) < 2 or any(rate < 0 for rate in self.rates):
            raise InvalidValueError("replay: curve", "must have two points at least and no negative rate")

    # The arithmetic of the curve -------------------------------------------------------------------------------------

    @cached_property
    def _cumulative(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Seconds since the beginning, and how many records there are by then."""
        ends = np.array(self.times) - self.times[0]
        pieces = max(1, math.ceil(ends[-1] / GRID_SECONDS))
        seconds = np.union1d(np.linspace(0.0, ends[-1], pieces + 1), ends)
        middles = (seconds[1:] + seconds[:-1]) / 2  # exact for straight lines, and at a step as well
        counts = np.concatenate([[0.0], np.cumsum(np.interp(middles, ends, self.rates) * np.diff(seconds))])
        return seconds, counts

    @property
    def total(self) -> int:
        """All records of the curve."""
        return int(self._cumulative[1][-1] + 1e-9)

    def count(self, seconds: float) -> int:
        """Records that are created within as many seconds of the beginning."""
        return int(np.interp(seconds, *self._cumulative) + 1e-9)

    def created_at(self, ids: Ids) -> npt.NDArray[np.float64]:
        """Seconds after the beginning at which the records of these numbers are created."""
        seconds, counts = self._cumulative
        at: npt.NDArray[np.float64] = np.interp(ids + 1.0, counts, seconds)
        return at

    def backlog(self, offset: dict[str, Any], now: float) -> int:
        """Records that wait beyond `offset`."""
        return max(0, self.count(now - offset["began_ms"] / 1e3) - int(offset["record"]))

    # The ends of a pipeline ------------------------------------------------------------------------------------------

    @property
    def created(self) -> str:
        return "timestamp"

    @property
    def schema(self) -> StructType:
        return StructType.fromDDL(SCHEMA)  # type: ignore[return-value]

    def reader(self) -> DataSourceStreamReader:
        return ReplayReader(self)

    def stream(self, spark: SparkSession) -> DataFrame:
        source = self

        class ReplaySource(DataSource):
            """Registered by value, so that it carries the curve and the function with it."""

            @classmethod
            def name(cls) -> str:
                return "penstock_replay"

            def schema(self) -> str:
                return SCHEMA

            def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
                return source.reader()

        spark.dataSource.register(ReplaySource)
        try:
            return spark.readStream.format(ReplaySource.name()).load()
        except AnalysisException as error:
            if "No module named 'penstock'" not in str(error):
                raise
            python = spark.sparkContext.pythonExec
            raise InvalidValueError("source", WORKERS_WITHOUT_US.format(python=python, ours=sys.executable)) from None


@dataclass
class Range(InputPartition):
    """Records from `first` up to `end`, of a replay that began at `began_ms`."""

    number: int
    began_ms: int
    first: int
    end: int


class ReplayReader(DataSourceStreamReader):
    def __init__(self, replay: Replay) -> None:
        self.replay = replay

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        return {"began_ms": int(time.time() * 1e3), "record": 0}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        limit = self.replay.max_records_per_batch
        return ReadAllAvailable() if limit is None else ReadMaxRows(limit)

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        newest = self._newest(start["began_ms"])
        if isinstance(limit, ReadMaxRows):
            newest = min(newest, start["record"] + limit.max_rows)
        return {"began_ms": start["began_ms"], "record": max(start["record"], newest)}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        bounds = np.linspace(start["record"], end["record"], self.replay.partitions + 1).astype(int).tolist()
        return [Range(i, end["began_ms"], a, b) for i, (a, b) in enumerate(pairwise(bounds)) if a < b]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        import pyarrow as pa

        assert isinstance(partition, Range)
        for first in range(partition.first, partition.end, ROWS_PER_ARROW_BATCH):
            ids = np.arange(first, min(first + ROWS_PER_ARROW_BATCH, partition.end))
            micros = (partition.began_ms * 1e3 + self.replay.created_at(ids) * 1e6).astype("datetime64[us]")
            rows = len(ids)
            yield pa.RecordBatch.from_arrays(
                [
                    pa.nulls(rows, pa.binary()),
                    pa.array(self.replay.values(ids), pa.binary()),
                    pa.array(["replay"] * rows, pa.string()),
                    pa.array(np.full(rows, partition.number, np.int32)),
                    pa.array(ids),
                    pa.array(micros, pa.timestamp("us", tz="UTC")),
                ],
                names=["key", "value", "topic", "partition", "offset", "timestamp"],
            )

    def commit(self, end: dict[str, int]) -> None: ...

    def stop(self) -> None:
        """Spark calls this in a process of the reader's own, which ends then, for whatever reason.

        If the reason is that Spark has closed the connection, the query has ended: Spark's runner would answer on it
        all the same, and print the stack trace of a broken pipe on the user's terminal.
        """
        if isinstance(sys.exception(), EOFError):
            os._exit(0)

    def _newest(self, began_ms: int) -> int:
        return self.replay.count(time.time() - began_ms / 1e3)
