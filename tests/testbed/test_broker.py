from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.spark.topics.offsets import Offsets
from penstock.testbed.broker import Broker
from penstock.testbed.jars import Artifact, JarsMissingError, fetched

pytestmark = pytest.mark.spark

Until = Callable[[Callable[[], object]], None]


def test_a_killed_broker_comes_back_on_its_port_with_its_data(broker: Broker, new_topic: Any) -> None:
    topic = new_topic(3)
    topic.send(b"one", b"two")
    offsets = Offsets(broker.servers)
    assert offsets.ends([topic.name]) == {topic.name: 2}
    broker.kill()
    assert offsets.ends([topic.name]) is None  # nobody raises because a broker is away
    broker.restart()
    assert (offsets.partitions(topic.name), offsets.begins([topic.name])) == (3, {topic.name: 0})


def test_a_topic_that_is_there_is_kept(broker: Broker, new_topic: Any) -> None:
    topic = new_topic(2)
    topic.send(b"one")
    offsets = Offsets(broker.servers)
    offsets.create(topic.name, 5)
    assert offsets.ends([topic.name]) == {topic.name: 1}
    assert offsets.partitions("nowhere") is None


def test_a_broker_dies_with_the_python_that_started_it(until: Until) -> None:
    script = (
        "import time\nfrom penstock.testbed.broker import Broker\n"
        "with Broker() as broker:\n    print(broker.process_id, flush=True)\n    time.sleep(600)"
    )
    owner = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    with owner.stdout:
        process = int(owner.stdout.readline())
        owner.kill()
        owner.wait()
    until(lambda: not is_running(process))


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
        return Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"  # dead, and nobody has asked how
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_jars_that_cannot_be_had_are_said_in_one_sentence_and_leave_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path))
    with pytest.raises(JarsMissingError, match="could not be fetched") as failed:
        fetched("nothing", ((Artifact("org.example.nowhere", "nothing", "0.0"),),))
    assert "\n" not in str(failed.value)
    assert list(tmp_path.iterdir()) == []


def test_jars_in_the_cache_are_not_fetched_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path))
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "a-1.jar").touch()
    assert fetched("tools", ((Artifact("org.example.nowhere", "nothing", "0.0"),),)) == [tmp_path / "tools" / "a-1.jar"]
