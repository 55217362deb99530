from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from patience import wait_for
from penstock.testbed.jars import Artifact, JarsMissingError, fetched

pytestmark = pytest.mark.spark


def test_a_broker_dies_with_the_python_that_started_it() -> None:
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
    wait_for(lambda: not is_running(process))


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
