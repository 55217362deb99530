"""The note that a job leaves in its checkpoint: who it is, which engine made it, and where its parts lie.

A start reads it, so that what was edited between two runs is either gone on with or refused, and never taken for a job
that begins at the beginning.
"""

from __future__ import annotations

import json
import uuid
from dataclasses import asdict, dataclass

from pyspark.sql import SparkSession

from penstock.model import InvalidValueError
from penstock.spark.hadoop_folder import HadoopFolder

NAME = "penstock.json"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a segment of a real-time job lies.

    operators  its operators, by which the next run recognises it
    reads      the topics that it reads
    folder     the folder of its query, in the checkpoint
    topic      the internal topic that it writes; None: no segment has read its output
    """

    operators: tuple[str, ...]
    reads: tuple[str, ...]
    folder: str
    topic: str | None


@dataclass(frozen=True, slots=True)
class JobNote:
    """Who a job is.

    job     its own name for itself, which no other checkpoint has
    engine  the engine whose checkpoint it is
    places  where the segments of a real-time job lie
    """

    job: str
    engine: str
    places: tuple[Place, ...] = ()


def read_note(spark: SparkSession, checkpoint: str, engine: str) -> JobNote:
    """The note in a checkpoint; a new one, not yet written, where there is none. Refuses that of another engine."""
    text = HadoopFolder(spark, checkpoint).read(NAME)
    if text is None:
        return JobNote(uuid.uuid4().hex, engine)
    written = json.loads(text)
    if written["engine"] != engine:
        raise InvalidValueError(
            "checkpoint",
            f"is that of a job on the engine {written['engine']!r}, and {engine!r} would begin at the beginning: go on "
            "with that engine, or name another checkpoint",
        )
    places = tuple(
        Place(tuple(one["operators"]), tuple(one["reads"]), one["folder"], one["topic"]) for one in written["places"]
    )
    return JobNote(written["job"], engine, places)


def write_note(spark: SparkSession, checkpoint: str, note: JobNote) -> None:
    """Write a note, unless the checkpoint has this very one."""
    folder, text = HadoopFolder(spark, checkpoint), json.dumps(asdict(note), indent=1)
    if folder.read(NAME) != text:
        folder.write(NAME, text)
