"""What a streaming checkpoint says: which batches are whole, and how many partitions its state has.

Files are reached as Spark reaches them, so a checkpoint may lie wherever Spark can write.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, cast

from pyspark.sql import SparkSession

PARTITIONS = "spark.sql.shuffle.partitions"


@dataclass(frozen=True)
class Underway:
    """A change of the state's partitions that has begun. As long as it is written down, it is not known to be done."""

    before: int
    after: int


class Checkpoint:
    """The checkpoint folder of one query, and beside it our own note of a change under way."""

    def __init__(self, spark: SparkSession, location: str) -> None:
        self.location = location.rstrip("/")
        self._jvm = cast("Any", spark._jvm)
        configuration = spark._jsparkSession.sessionState().newHadoopConf()
        self._files = self._path("").getFileSystem(configuration)
        # Spark's own way to write a file so that it is there whole or not at all, whatever the file system.
        manager = self._jvm.org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager
        self._manager = manager.create(self._path(""), configuration)

    @property
    def last_begun(self) -> int | None:
        """The newest batch whose records have been settled."""
        return self._newest("offsets")

    @property
    def last_done(self) -> int | None:
        """The newest batch that was committed."""
        return self._newest("commits")

    @property
    def whole(self) -> bool:
        """Whether every batch that began was committed: nothing else may be repartitioned."""
        return self.last_begun == self.last_done

    @property
    def partitions(self) -> int | None:
        """Partitions of the state after the last whole batch; None before there is one."""
        if (batch := self.last_done) is None:
            return None
        _, metadata, *_ = self._read(self._path(f"offsets/{batch}")).splitlines()
        return int(json.loads(metadata)["conf"][PARTITIONS])

    # The note of a change ---------------------------------------------------------------------------------------

    @property
    def underway(self) -> Underway | None:
        note = self._note
        return Underway(**json.loads(self._read(note))) if self._files.exists(note) else None

    def begin(self, change: Underway) -> None:
        stream = self._manager.createAtomic(self._note, True)
        stream.write(bytearray(json.dumps(asdict(change)).encode()))
        stream.close()

    def end(self) -> None:
        """The change is made."""
        self._manager.delete(self._note)

    def undo(self) -> None:
        """Forget the change. State is kept by the number of its batch, and nobody reads that of a batch unheard of."""
        if not self.whole:
            self._manager.delete(self._path(f"offsets/{self.last_begun}"))
        self.end()

    # Files ------------------------------------------------------------------------------------------------------

    @property
    def _note(self) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(f"{self.location}.penstock.json")

    def _path(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(f"{self.location}/{name}".rstrip("/"))

    def _read(self, path: Any) -> str:
        stream = self._files.open(path)
        try:
            return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def _newest(self, log: str) -> int | None:
        folder = self._path(log)
        if not self._files.exists(folder):
            return None
        names = [status.getPath().getName() for status in self._files.listStatus(folder)]
        return max((int(name) for name in names if name.isdigit()), default=None)
