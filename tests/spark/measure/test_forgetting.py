"""Every engine measures on when Spark has forgotten the stages of its batches: what is not known is None."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from penstock.testbed.broker import Broker

pytestmark = pytest.mark.spark

HANG_SECONDS = 600.0


@pytest.fixture(scope="module")
def measured(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    for topic in ("forgotten-in", "forgotten-out"):
        broker.create_topic(topic, 1)
    script = Path(__file__).with_name("forgetful_spark.py")
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path_factory.mktemp("forgetful")), broker.servers],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True, text=True, check=False, timeout=HANG_SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-5000:]
    found: dict[str, list[Any]] = {}
    for line in done.stdout.splitlines():
        found |= json.loads(line)
    return found


@pytest.mark.parametrize("engine", ["microbatch", "native", "attached", "realtime"])
def test_windows_are_measured_without_the_figures_of_stages(measured: dict[str, list[Any]], engine: str) -> None:
    assert len(measured[engine]) >= 2
    for window in measured[engine]:
        assert window["throughput"] > 0
        assert set(window["useful"]) == {None}
        assert window["batches"] == 0


def test_a_job_that_spark_has_not_filed_yet_is_not_taken_for_a_forgotten_one(measured: dict[str, list[Any]]) -> None:
    assert measured["filed_late"] == [3]
