"""A sink of files: one folder for each batch, written whole or not at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pyspark.sql import DataFrame

from penstock.model.errors import check_choice

FORMATS = ("csv", "json", "orc", "parquet")


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

    def write(self, frame: DataFrame, batch: int) -> None:
        """A batch that comes again after a crash replaces what it wrote before."""
        frame.write.format(self.format).mode("overwrite").save(f"{self.path.rstrip('/')}/batch={batch}")
