"""A driver killed with -9 before, at and after the cut of a hand-over, and started again: every record arrives."""

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

from patience import wait_for

pytestmark = pytest.mark.spark

TESTS = Path(__file__).parents[2]


@contextmanager
def driver(*arguments: str) -> Iterator[Iterator[dict[str, Any]]]:
    """What the driver says; at the end of the block it is killed with its JVM."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])}
    process = subprocess.Popen(
        [sys.executable, str(TESTS / "spark" / "realtime" / "handover_driver.py"), *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        yield map(json.loads, process.stdout)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()


@pytest.mark.parametrize("moment", ["written", "told", "cut", "over"])
def test_every_record_arrives_whenever_the_driver_is_killed(new_topic: Any, checkpoint: str, moment: str) -> None:
    source, sink = new_topic(2), new_topic(2)
    given = (checkpoint, source.broker.servers, source.name, sink.name)
    with driver(*given, moment) as said:
        assert next(said) == {"what": "runs", "generation": 0}
        sent = next(said)["sent"]
    kept = {path.name for path in Path(checkpoint).iterdir() if path.is_dir()}
    assert kept == ({"work"} if moment in ("written", "told") else {"work", "work=1"})
    with driver(*given) as said:
        assert next(said) == {"what": "runs", "generation": 2}
        expected = {b"%d" % i for i in range(sent)}
        wait_for(lambda: set(sink.read()) >= expected)
        assert set(sink.seen) == expected
        assert {path.name for path in Path(checkpoint).iterdir() if path.is_dir()} == {"work=2"}
        twice = len(sink.seen) - len(expected)
        assert twice < len(expected) / 2, "it went on from its checkpoint, and did not begin at the beginning"
