"""The arithmetic of a replayed curve, and what it says where Spark cannot read it; that it can is in
test_microbatch.py."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows

from penstock.load.curves import constant, steps
from penstock.load.trace import Trace
from penstock.model import InvalidValueError
from penstock.spark.io.replayed import Range, Replay, ReplayReader, replay

curves = st.lists(st.tuples(st.floats(0.5, 20.0), st.floats(0.0, 500.0)), min_size=2, max_size=6).map(
    lambda points: Trace(
        "any", tuple(np.cumsum([p[0] for p in points]).tolist()), tuple(p[1] for p in points)
    )
)  # fmt: skip


def test_a_constant_rate_makes_a_record_every_so_often() -> None:
    source = replay(constant(10.0, 60.0))
    assert (source.total, source.count(1.0), source.count(1e6)) == (600, 10, 600)
    assert source.created_at(np.array([0, 9, 599])).tolist() == pytest.approx([0.1, 1.0, 60.0])


def test_a_step_is_a_step() -> None:
    source = replay(steps((10.0, 100.0), 10.0))
    assert (source.count(10.0), source.count(11.0)) == (100, 200)


@given(curves)
def test_a_record_exists_once_it_is_created_and_not_before(curve: Trace) -> None:
    source = replay(curve)
    for record in {0, source.total // 2, source.total - 1} if source.total else ():
        at = float(source.created_at(np.array([record]))[0])
        assert source.count(at + 1e-6) >= record + 1
        assert source.count(at - 0.06) <= record + 1 or source.count(at - 0.06) == source.count(at)


@given(curves, st.integers(1, 4), st.integers(0, 500), st.integers(0, 3_000))
def test_partitions_hold_every_record_of_a_batch_once(curve: Trace, partitions: int, first: int, more: int) -> None:
    reader = ReplayReader(replay(curve, partitions=partitions))
    ranges = reader.partitions({"began_ms": 0, "record": first}, {"began_ms": 0, "record": first + more})
    ids = [i for one in ranges if isinstance(one, Range) for i in range(one.first, one.end)]
    assert ids == list(range(first, first + more))


@pytest.mark.parametrize(("error", "code"), [("EOFError", 0), ("ValueError", 1)])
def test_the_process_of_a_reader_whose_query_has_ended_ends_without_a_word(error: str, code: int) -> None:
    """As Spark's runner does: another error than a closed connection is one that it has to report."""
    source = f"""
from penstock.load.curves import constant
from penstock.spark.io.replayed import replay
reader = replay(constant(1.0, 1.0)).reader()
try:
    raise {error}
finally:
    reader.stop()
"""
    ended = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=False)
    assert ended.returncode == code
    assert ("Traceback" in ended.stderr) is (code == 1)


def test_a_batch_is_limited_unless_spark_wants_all() -> None:
    reader = ReplayReader(replay(constant(100.0, 10.0), max_records_per_batch=50))
    start = {"began_ms": 0, "record": 200}  # it began in 1970: all thousand records are there
    assert reader.getDefaultReadLimit() == ReadMaxRows(50)
    assert reader.latestOffset(start, ReadMaxRows(50))["record"] == 250
    assert reader.latestOffset(start, ReadAllAvailable())["record"] == 1_000


def test_the_backlog_is_what_came_into_being_beyond_the_offset() -> None:
    source = replay(constant(100.0, 10.0))
    assert source.backlog({"began_ms": 5_000, "record": 150}, now=7.0) == 50
    assert source.backlog({"began_ms": 5_000, "record": 200}, now=7.0) == 0


def test_what_cannot_be_replayed_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="no negative rate"):
        Replay((0.0, 1.0), (1.0, -1.0))
    with pytest.raises(InvalidValueError, match="partitions must be a whole number of at least 1"):
        replay(constant(1.0, 1.0), partitions=0)


@pytest.mark.spark
def test_workers_whose_python_does_not_have_penstock_are_one_sentence(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    venv.create(tmp_path, symlinks=True)
    python = str(tmp_path / "bin" / "python")
    monkeypatch.setattr(spark.sparkContext, "pythonExec", python)
    with pytest.raises(InvalidValueError) as refused:
        replay(constant(10.0, 60.0)).stream(spark)
    assert str(refused.value) == (
        f"source replay runs in Spark's Python workers, and their Python, {python}, does not have penstock: "
        f"set PYSPARK_PYTHON to {sys.executable} before the session is made"
    )
