"""A folder wherever Spark can write: on a local disk, in HDFS, in an object store.

Its files are reached as Spark reaches them, through Hadoop's file systems. A path without a scheme belongs to the file
system that `fs.defaultFS` names, which on most clusters is not the disk of the driver.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from penstock.model import PenstockError
from penstock.spark.internals import checkpointing


class HadoopFolder:
    """The folder at a location. Names are relative to it; "" is the folder itself."""

    def __init__(self, spark: SparkSession, location: str) -> None:
        self.location = location.rstrip("/")
        self._jvm: Any = spark.sparkContext._jvm
        self._configuration = spark._jsparkSession.sessionState().newHadoopConf()
        self._files = self._path("").getFileSystem(self._configuration)

    @property
    def local(self) -> Path | None:
        """The folder on the disk of this machine; None if it lies elsewhere."""
        qualified = self._files.makeQualified(self._path("")).toUri()
        return Path(qualified.getPath()) if qualified.getScheme() == "file" else None

    @property
    def address(self) -> str:
        """The location with its file system and from the root on: the same however a user wrote it."""
        return str(self._files.makeQualified(self._path("")).toString())

    def exists(self, name: str) -> bool:
        there: bool = self._files.exists(self._path(name))
        return there

    def names(self, folder: str = "") -> list[str]:
        """The names of the files and folders in a folder; none if it does not exist."""
        return [status.getPath().getName() for status in self._list(self._path(folder))]

    def numbers(self, folder: str) -> list[int]:
        """Those of its names that are numbers, which is how Spark names the files of a log."""
        return [int(name) for name in self.names(folder) if name.isdigit()]

    def read(self, name: str) -> str | None:
        """The text of a file; None if it does not exist."""
        path = self._path(name)
        if not self._files.exists(path):
            return None
        stream = self._files.open(path)
        try:
            return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def write(self, name: str, text: str) -> None:
        """Write a file, or replace it: it is there whole or not at all, by Spark's own way for its checkpoints."""
        path = self._path(name)
        self._files.mkdirs(path.getParent())
        if self.local is not None:
            _replace(Path(self._files.makeQualified(path).toUri().getPath()), text)
            return
        manager = getattr(self._jvm, f"{checkpointing()}.CheckpointFileManager")
        stream = manager.create(path.getParent(), self._configuration).createAtomic(path, True)
        stream.write(bytearray(text.encode()))
        stream.close()
        if self.read(name) != text:  # some managers leave a file that is there as it is, without a word
            raise PenstockError(f"{self.location}/{name} could not be replaced: its file system keeps the old file")

    def delete(self, name: str, *, recursive: bool = False) -> None:
        """Delete a file, if it is there; with `recursive` a folder with all that is in it."""
        self._files.delete(self._path(name), recursive)

    def below(self, folder: str) -> Iterator[str]:
        """Every file in a folder and in the folders inside it."""
        for status in self._list(self._path(folder)):
            name = f"{folder}/{status.getPath().getName()}"
            if status.isDirectory():
                yield from self.below(name)
            else:
                yield name

    def _path(self, name: str) -> Any:
        # A folder with a name of its own beside this one begins with a dot: `.penstock.json` is LOCATION.penstock.json.
        separator = "" if name.startswith(".") or not name else "/"
        return self._jvm.org.apache.hadoop.fs.Path(f"{self.location}{separator}{name}")

    def _list(self, folder: Any) -> Any:
        return self._files.listStatus(folder) if self._files.exists(folder) else ()


def _replace(path: Path, text: str) -> None:
    """On a local disk Spark's managers either start processes or do not replace a file that is there."""
    fresh = path.with_name(f".{path.name}.new")
    with fresh.open("w") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    path.with_name(f".{path.name}.crc").unlink(missing_ok=True)  # Hadoop's checksum of the old file
    fresh.replace(path)
