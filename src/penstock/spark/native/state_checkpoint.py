"""A streaming checkpoint: which batches are whole, and how many partitions its state has and gets.

Files are reached as Spark reaches them, so a checkpoint may lie wherever Spark can write.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, cast

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from penstock.model import PenstockError
from penstock.spark.settings import PARTITIONS

ADAPTIVE = "spark.sql.adaptive.enabled"


class RepartitionError(PenstockError):
    """Spark cannot repartition the state: it keeps the partitions that it has."""


@dataclass(frozen=True)
class Underway:
    """A change of the state's partitions that has begun. As long as it is written down, it is not known to be done."""

    before: int
    after: int


class Checkpoint:
    """The checkpoint folder of one query, and beside it our own note of a change under way."""

    def __init__(self, spark: SparkSession, location: str) -> None:
        self.location = location.rstrip("/")
        self._session = spark._jsparkSession
        self._jvm = cast("Any", spark._jvm)
        configuration = self._session.sessionState().newHadoopConf()
        self._files = self._path("").getFileSystem(configuration)
        # Spark's own way to write a file so that it is there whole or not at all, whatever the file system.
        manager = self._jvm.org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager
        self._create_atomic = manager.create(self._path(""), configuration).createAtomic

    @property
    def last_begun(self) -> int:
        """The newest batch whose records have been settled; -1 before there is one."""
        return self._newest("offsets")

    @property
    def last_done(self) -> int:
        """The newest batch that was committed; -1 before there is one."""
        return self._newest("commits")

    @property
    def whole(self) -> bool:
        """Whether every batch that began was committed: nothing else may be repartitioned."""
        return self.last_begun == self.last_done

    @property
    def partitions(self) -> int | None:
        """Partitions of the state after the last whole batch; None before there is one."""
        batch = self.last_done
        return None if batch < 0 else self._partitions_of(batch)

    # The note of a change ---------------------------------------------------------------------------------------

    @property
    def underway(self) -> Underway | None:
        note = self._note
        return Underway(**json.loads(self._read(note))) if self._files.exists(note) else None

    def begin(self, change: Underway) -> None:
        stream = self._create_atomic(self._note, True)
        stream.write(bytearray(json.dumps(asdict(change)).encode()))
        stream.close()

    def carry_out(self, change: Underway) -> None:
        """Bring the state to its new partitions, from the beginning or from where it was interrupted."""
        if self.partitions != change.after:
            session = self._session.cloneSession()
            session.conf().set(ADAPTIVE, "false")  # the partitions are given: a shuffle needs no job of its own
            only_whole_batches = True
            try:
                session.streamingCheckpointManager().repartition(self.location, change.after, only_whole_batches)
            except Py4JJavaError as error:  # its text is a page long
                raise RepartitionError(f"Spark cannot repartition the state: {_first_line(error)}") from error
        self._forget()

    def undo(self) -> None:
        """Forget the change, and the state that it has written so far.

        With a changelog, the batch that comes to bear the same number writes down only what it changes. State that
        lies there under this number already would be taken for the whole of it.
        """
        if not self.whole and (batch := self.last_begun) > 0 and self._partitions_of(batch) != self.partitions:
            for path in self._below(self._path("state")):
                name = path.getName()
                # A batch leaves the version that follows it; of the metadata it leaves one that bears its own number.
                if name == str(batch) or name.startswith((f"{batch + 1}.", f"{batch + 1}_")):
                    self._files.delete(path, False)
            self._files.delete(self._path(f"offsets/{batch}"), False)  # the last: until then all this can be repeated
        self._forget()

    def _forget(self) -> None:
        self._files.delete(self._note, False)

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

    def _partitions_of(self, batch: int) -> int:
        _, metadata, *_ = self._read(self._path(f"offsets/{batch}")).splitlines()
        return int(json.loads(metadata)["conf"][PARTITIONS])

    def _newest(self, log: str) -> int:
        names = [status.getPath().getName() for status in self._list(self._path(log))]
        return max((int(name) for name in names if name.isdigit()), default=-1)

    def _below(self, folder: Any) -> Iterator[Any]:
        """Every file in a folder and in the folders inside it."""
        for status in self._list(folder):
            if status.isDirectory():
                yield from self._below(status.getPath())
            else:
                yield status.getPath()

    def _list(self, folder: Any) -> Iterable[Any]:
        return self._files.listStatus(folder) if self._files.exists(folder) else ()


def _first_line(error: Py4JJavaError) -> str:
    return str(error.java_exception.getMessage()).partition("\n")[0]
