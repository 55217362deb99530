"""Nexmark over a folder of files, one batch for each file: what tests of stateful queries share, and their driver.

Run as a program it is a driver to be killed: `nexmark_stream.py QUERY FOLDER PARTITIONS NEW_PARTITIONS`.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from penstock.model import Plan, Slo
from penstock.papers.autrascale.spark.bids import NOBODY, SCHEMA, Bids, write
from penstock.papers.autrascale.spark.nexmark import QUERIES
from penstock.spark.native.engine import STATE, NativeEngine
from penstock.spark.native.query import NativeQuery

TARGET = Slo(event_latency="10 s")


@dataclass(frozen=True)
class Stream:
    """A query of Nexmark in a folder of its own."""

    query: str
    folder: Path
    bids: Bids = Bids(rate=100, file_seconds=4.0, late_share=0.05, late_seconds=30.0)  # noqa: RUF009

    @property
    def source(self) -> Path:
        return self.folder / "bids"

    @property
    def checkpoint(self) -> str:
        return str(self.folder / "checkpoint")

    def arrive(self, first: int, end: int) -> None:
        """The files from `first` on, before `end`."""
        self.source.mkdir(exist_ok=True)
        for number in range(first, end):
            write(self.bids.file(number), self.source, number)

    def close(self, number: int) -> None:
        """Two last files: the windows of all others close."""
        for last in (number, number + 1):
            write(self.bids.closing(last), self.source, last)

    def native(self, spark: SparkSession) -> NativeEngine:
        """The query, with nobody who steers it."""
        return NativeEngine(spark, self.build, NativeQuery(self.query, self.build).topology(), self.checkpoint)

    def build(self, spark: SparkSession, plan: Plan) -> DataStreamWriter:
        results = str(self.folder / "results")

        def keep(rows: DataFrame, batch: int) -> None:
            rows.write.mode("overwrite").parquet(f"{results}/batch={batch}")  # a batch that is repeated stays one

        stream = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(self.source))
        return QUERIES[self.query](stream).writeStream.foreachBatch(keep)

    def results(self, spark: SparkSession) -> list[Row]:
        return sorted(spark.read.parquet(str(self.folder / "results")).drop("batch").collect())

    def batch_answer(self, spark: SparkSession, with_late: bool = False) -> list[Row]:
        """The same query over the same files as a table, without the bids that came too late."""
        bids = spark.read.schema(SCHEMA).parquet(str(self.source)).where(f"bidder != {NOBODY}")
        return sorted(QUERIES[self.query](bids if with_late else bids.where("NOT late")).collect())


def main(query: str, folder: str, partitions: str, new_partitions: str) -> None:
    from penstock.testbed.session import local_session

    stream = Stream(query, Path(folder))
    native = stream.native(local_session("local[4]"))
    native.start(Plan({STATE: int(partitions)}))
    native.query.processAllAvailable()
    native.apply(Plan({STATE: int(new_partitions)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
