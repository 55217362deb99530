"""A checkpoint lies where Spark says, and the note in it says who made it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.model import InvalidValueError
from penstock.spark.hadoop_folder import HadoopFolder
from penstock.spark.job_note import JobNote, Place, read_note, write_note

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("location", ["hdfs://127.0.0.1:9/jobs/clicks", "hdfs:/jobs/clicks"])
def test_a_checkpoint_in_hdfs_is_no_folder_of_the_driver(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, location: str
) -> None:
    monkeypatch.chdir(tmp_path)
    spark.conf.set("fs.defaultFS", "hdfs://127.0.0.1:9")
    try:
        assert HadoopFolder(spark, location).local is None
        assert HadoopFolder(spark, "/jobs/clicks").local is None, "the default file system owns it"
    finally:
        spark.conf.unset("fs.defaultFS")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("location", ["{}/a", "file://{}/a", "file:{}/a/"])
def test_a_checkpoint_on_a_local_disk_is_one(spark: SparkSession, tmp_path: Path, location: str) -> None:
    assert HadoopFolder(spark, location.format(tmp_path)).local == tmp_path / "a"


def test_a_note_is_found_again_and_that_of_another_engine_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    place = Place(("parse", "count"), ("clicks",), "parse", None)
    checkpoint = str(tmp_path / "checkpoint")
    assert read_note(spark, checkpoint, "realtime").places == ()
    note = JobNote("me", "realtime", (place,))
    write_note(spark, checkpoint, note)
    assert read_note(spark, checkpoint, "realtime") == note
    with pytest.raises(InvalidValueError, match=r"^checkpoint is that of a job on the engine 'realtime', and 'microb"):
        read_note(spark, checkpoint, "microbatch")


def test_a_file_that_is_there_is_replaced(spark: SparkSession, tmp_path: Path) -> None:
    folder = HadoopFolder(spark, str(tmp_path / "checkpoint"))
    by_hadoop = folder._files.create(folder._path("note.json"))  # this way leaves a file with its checksum
    by_hadoop.write(bytearray(b"zeroth"))
    by_hadoop.close()
    for text in ("first", "second", "third, which is longer"):
        folder.write("note.json", text)
        assert folder.read("note.json") == text
    folder.write("inner/other", "x")
    folder.delete("inner", recursive=True)
    assert folder.names() == ["note.json"]


def test_two_jobs_do_not_have_the_same_name_for_themselves(spark: SparkSession, tmp_path: Path) -> None:
    first, second = (read_note(spark, str(tmp_path / name), "microbatch").job for name in "ab")
    assert first != second
