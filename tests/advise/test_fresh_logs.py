"""Logs that the installed Spark writes now, in each of its codecs, rolled and not: all of them are read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from penstock.advise.history import read_history
from penstock.advise.lines import BEGINNINGS
from penstock.advise.log_files import EventLog, find_logs
from penstock.model import Slo

WRITER = Path(__file__).with_name("write_logs.py")


def written(folder: Path, kind: str, **settings: str) -> EventLog:
    """The log of a job that ran in a process of its own: settings of a log cannot be changed in a running Spark."""
    given = [f"spark.eventLog.{name.replace('_', '.')}={value}" for name, value in settings.items()]
    done = subprocess.run(
        [sys.executable, str(WRITER), str(folder), kind, "seconds=8", *given],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (log,) = find_logs([folder])
    return log


@pytest.mark.spark
@pytest.mark.parametrize("codec", ["zstd", "lz4", "snappy", "lzf"])
def test_a_log_is_read_in_the_codec_that_it_was_written_in(codec: str, tmp_path: Path) -> None:
    log = written(tmp_path, "shuffled", compress="true", compression_codec=codec)
    begin = next(begin for begin, name in BEGINNINGS.items() if name == codec)
    assert log.path.name.endswith(f".{codec}")
    assert log.path.read_bytes().startswith(begin)
    (query,) = read_history(log, Slo(event_latency="30 s")).queries.values()
    assert query.name == "shuffled"
    assert query.batches > 0
    assert query.task_seconds > 0


@pytest.mark.spark
def test_a_log_that_spark_rolls_is_read(tmp_path: Path) -> None:
    log = written(tmp_path, "narrow", rolling_enabled="true", compress="true")
    assert log.path.is_dir()
    assert not log.running
    (query,) = read_history(log, Slo(event_latency="30 s")).queries.values()
    assert query.batches > 0
