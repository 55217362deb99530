"""A sink of files: one folder for each batch, written whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from pyspark.sql import DataFrame, SparkSession

from penstock.model import InvalidValueError
from penstock.model.errors import check_choice
from penstock.spark.hadoop_folder import HadoopFolder
from penstock.spark.io.endpoints import Incoming

FORMATS = ("csv", "json", "orc", "parquet")

OWNER = "_penstock"
"""The file that says whose batches lie in a folder. Spark does not read files whose names begin like this."""


def files(path: str, format: str = "parquet") -> Files:
    """Files below `path`, in any file system that Spark can write to; the batch becomes a column when they are read."""
    return Files(path, format)


@dataclass(frozen=True)
class Files:
    """See `files`."""

    path: str
    format: str = "parquet"
    reads_again: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_choice("files: format", self.format, FORMATS)

    def prepare(self, spark: SparkSession, incoming: Incoming) -> None:
        """Batches are numbered by the checkpoint: those of another one would be replaced, and their rows lost."""
        folder = HadoopFolder(spark, self.path)
        if folder.read(OWNER) == incoming.job:
            return
        if any(name.startswith("batch=") for name in folder.names()):  # a start that failed has left none
            raise InvalidValueError(
                f"files {self.path}",
                "has batches of another checkpoint, which this job would replace: name another folder, or the "
                "checkpoint that wrote them",
            )
        folder.write(OWNER, incoming.job)

    def write(self, frame: DataFrame, batch: int) -> None:
        """A batch that comes again after a crash replaces what it wrote before."""
        frame.write.format(self.format).mode("overwrite").save(f"{self.path.rstrip('/')}/batch={batch}")


def refuse_shared_folders(spark: SparkSession, sinks: Iterable[object]) -> None:
    """Two sinks in one folder, however it is written, would replace each other's batches."""
    addresses: set[str] = set()
    for sink in sinks:
        if isinstance(sink, Files):
            address = HadoopFolder(spark, sink.path).address
            if address in addresses:
                raise InvalidValueError(
                    f"files {sink.path}", "is the folder of two sinks, which would replace each other's batches: give "
                    "each its own",
                )  # fmt: skip
            addresses.add(address)
