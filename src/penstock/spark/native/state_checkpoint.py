"""A streaming checkpoint: which batches are whole, and how many partitions its state has and gets."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from penstock.model import PenstockError
from penstock.spark.hadoop_folder import HadoopFolder
from penstock.spark.settings import PARTITIONS

ADAPTIVE = "spark.sql.adaptive.enabled"

NOTE = ".penstock.json"
"""What is put behind the name of the checkpoint for the note of a change: it lies beside it."""


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
        self._folder = HadoopFolder(spark, location)
        self.location = self._folder.location
        self._session = spark._jsparkSession

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
        note = self._folder.read(NOTE)
        return None if note is None else Underway(**json.loads(note))

    def begin(self, change: Underway) -> None:
        self._folder.write(NOTE, json.dumps(asdict(change)))

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
            for path in self._folder.below("state"):
                name = path.rpartition("/")[2]
                # A batch leaves the version that follows it; of the metadata it leaves one that bears its own number.
                if name == str(batch) or name.startswith((f"{batch + 1}.", f"{batch + 1}_")):
                    self._folder.delete(path)
            self._folder.delete(f"offsets/{batch}")  # the last: until then all this can be repeated
        self._forget()

    def _forget(self) -> None:
        self._folder.delete(NOTE)

    def _partitions_of(self, batch: int) -> int:
        _, metadata, *_ = (self._folder.read(f"offsets/{batch}") or "").splitlines()
        return int(json.loads(metadata)["conf"][PARTITIONS])

    def _newest(self, log: str) -> int:
        return max(self._folder.numbers(log), default=-1)


def _first_line(error: Py4JJavaError) -> str:
    return str(error.java_exception.getMessage()).partition("\n")[0]
