"""Spark's own examples under `penstock run` on a real standalone cluster: what run_story.py saw, told test by test."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cluster_story import environment, run
from penstock.testbed.broker import Broker

pytestmark = [pytest.mark.spark, pytest.mark.cluster]


@pytest.fixture(scope="module")
def story(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    script = Path(__file__).with_name("run_story.py")
    told: dict[str, Any] = json.loads(run(str(script), broker.servers, str(tmp_path_factory.mktemp("run"))))
    return told


def test_a_surge_takes_an_unmodified_script_from_one_executor_to_three_and_back(story: dict[str, Any]) -> None:
    assert story["kafka"]["executors"] == [3, 1, 3, 1]


def test_every_word_is_counted(story: dict[str, Any]) -> None:
    words = story["kafka"]["words"]
    assert words["counted"] == words["sent"] > 0


def test_the_report_has_the_core_seconds_of_sparks_own_event_log(story: dict[str, Any]) -> None:
    *_, told = re.findall(
        r"^took ([\d,]+) core-seconds, by Spark's executor events; the 3", story["kafka"]["err"], re.M
    )
    assert int(told.replace(",", "")) == pytest.approx(story["kafka"]["core_seconds"], rel=0.02)


def test_a_signal_takes_it_from_monitor_to_active(story: dict[str, Any]) -> None:
    assert story["kafka"]["monitor"] == 3
    assert "penstock: the mode is active now" in story["kafka"]["err"]


def test_every_change_is_one_line_on_the_drivers_standard_error(story: dict[str, Any]) -> None:
    lines = [line for line in story["kafka"]["err"].splitlines() if line.startswith("penstock: ") and " -> " in line]
    changes = [re.findall(r"(\d+) executor", line) for line in lines if "would change" not in line]
    assert len(changes) >= 3
    assert all(len(counts) == 2 for counts in changes)
    assert all("because job would be busy" in line for line in lines)


@pytest.mark.parametrize(
    ("example", "code"),
    [("kafka", 143), ("windowed", 130), ("spark-submit", 143)],  # SIGTERM, Ctrl-C, SIGTERM
)
def test_the_report_is_printed_however_the_script_ends(story: dict[str, Any], example: str, code: int) -> None:
    assert "is watched in monitor mode" in story[example]["err"]
    assert re.search(r"^steered for \d+ s in (monitor|active) mode, \d+ changes? made$", story[example]["err"], re.M)
    assert story[example]["code"] == code


def test_a_script_that_spark_refuses_ends_as_it_would_without_penstock(story: dict[str, Any]) -> None:
    """Spark 4.3 does not run its own example: update is no output mode of a session window."""
    ended = story["sessionization"]
    assert ended["code"] == 1
    assert "AnalysisException: [STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION]" in ended["err"]
    assert ended["err"].index("Traceback") < ended["err"].index("steered for 0 s in monitor mode")


def test_a_script_without_a_cluster_is_refused_before_it_starts_spark(tmp_path: Path) -> None:
    script = tmp_path / "app.py"
    script.write_text(
        "from pyspark.sql import SparkSession\nSparkSession.builder.master('local[1]').getOrCreate()\nprint('started')",
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, "-m", "penstock", "run", "--executors", "1:3", str(script)],
        env=environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert "penstock: master local[1] has no executors to change" in done.stderr
