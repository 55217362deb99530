"""A driver killed with -9 and started again goes on: nothing lost, nothing doubled, the same plan, the same models."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from penstock.stores import open_store

pytestmark = pytest.mark.spark

TESTS = Path(__file__).parents[1]


class Driver:
    """The process, and what it says."""

    def __init__(self, folder: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])}
        self._process = subprocess.Popen(
            [sys.executable, str(TESTS / "spark" / "driver.py"), str(folder)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment, start_new_session=True,
        )  # fmt: skip

    def said(self) -> Iterator[dict[str, Any]]:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            yield json.loads(line)
        raise AssertionError("the driver has ended")

    def kill(self) -> None:
        """The driver, its JVM and its Python workers: the machine is gone."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


@contextmanager
def driver(folder: Path) -> Iterator[Driver]:
    running = Driver(folder)
    try:
        yield running
    finally:
        running.kill()


def test_it_goes_on_where_it_was(spark: SparkSession, tmp_path: Path) -> None:
    with driver(tmp_path) as first:
        learnt = (event for event in first.said() if event["what"] == "cycle" and event["state"]["profile"])
        next(event for event in learnt if batches(tmp_path) >= 4)
    before = batches(tmp_path)
    store = open_store(f"sqlite:///{tmp_path / 'checkpoint' / 'penstock.db'}", "killed")
    (last,) = store.recent(1)
    plan, state = (last.decision.plan if last.applied else last.before), store.state("autrascale_plus")
    store.close()
    with driver(tmp_path) as second:
        events = second.said()
        started = next(events)
        assert started == {"what": "started", "plan": dict(plan.parallelism), "state": state}
        while batches(tmp_path) < before + 3:
            next(events)
    out = spark.read.parquet(*(str(path.parent) for path in (tmp_path / "out").glob("batch=*/_SUCCESS")))
    rows = out.selectExpr("count(*) as count", "count(distinct text) as distinct", "max(cast(text as long)) as newest")
    (row,) = rows.collect()
    assert row["count"] == row["distinct"] == row["newest"] + 1


def batches(folder: Path) -> int:
    return len(list((folder / "out").glob("batch=*/_SUCCESS")))
