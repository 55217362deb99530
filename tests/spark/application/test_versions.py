"""An attached query, a script under `penstock run`, a watched application and a pipeline on each PySpark, each in the
environment that `make test-versions` made for it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cluster_story import HANG_SECONDS, environment
from pages import ROOT
from penstock.testbed.broker import Broker

STORIES = Path(__file__).parent.parent

pytestmark = [pytest.mark.spark, pytest.mark.cluster, pytest.mark.versions]

VERSIONS = ["3.5", "4.0", "4.1", "4.2", "4.3"]

REFUSED = """
from penstock import Slo
from penstock.model import PenstockError
import penstock.spark
for ask in (lambda: penstock.spark.NativeQuery("job", print).start(None, slo=Slo(), checkpoint="there"),
            lambda: penstock.spark.replay):
    try:
        ask()
    except PenstockError as error:
        print(error)
"""


def python_of(version: str) -> str:
    """The Python of the environment with this PySpark; the newest one is in that of all tests."""
    if version == "4.3":
        return sys.executable
    python = ROOT / ".versions" / version / "bin" / "python"
    assert python.exists(), f"there is no environment with PySpark {version}: make test-versions makes it"
    return str(python)


def said(version: str, *arguments: str) -> str:
    done = subprocess.run(
        [python_of(version), *arguments],
        env=environment(), capture_output=True, text=True, check=False, timeout=HANG_SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-5000:]
    return done.stdout


def run(version: str, story: str, *arguments: str) -> str:
    return said(version, str(STORIES / story), *arguments)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_surge_takes_an_attached_query_from_one_executor_to_three_and_back(version: str, broker: Broker) -> None:
    story = json.loads(run(version, "application/attach_story.py", broker.servers))
    assert story["version"].startswith(f"{version}.")
    assert story["monitor"]["saved"] > 0
    assert story["executors"] == [3, 1, 3, 1]
    assert story["records"]["arrived"] == story["records"]["sent"] > 0
    assert story["after_detaching"] == {"active": True, "executors": 1}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_script_under_penstock_run_and_a_watched_one_give_back_executors(
    version: str, broker: Broker, tmp_path: Path
) -> None:
    story = json.loads(run(version, "application/version_story.py", broker.servers, str(tmp_path)))
    assert story["version"].startswith(f"{version}.")
    ran, watched = story["run"], story["watch"]
    assert ran["words"]["counted"] == ran["words"]["sent"] > 0
    assert ran["code"] == 143  # ended by SIGTERM, as the shell has it
    assert re.search(r"^steered for \d+ s in active mode, [1-9]\d* changes? made$", ran["err"], re.M)
    assert watched["code"] == 0, watched["err"]
    assert re.search(r"in force: job ([12]); \1 executor", watched["out"])
    assert re.search(r"in active mode, [1-9]\d* changes? made$", watched["out"], re.M)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_pipeline_in_micro_batches_is_measured_changed_and_started_again(version: str, broker: Broker) -> None:
    story = json.loads(run(version, "pipeline_story.py", broker.servers))
    assert story["version"].startswith(f"{version}.")
    assert story["records"] == {"sent": story["records"]["sent"], "arrived": story["records"]["sent"], "twice": 0}
    for plan in ("narrow", "wide"):
        assert story[plan]["work"] >= 2.0  # milliseconds that it sleeps for a record
        assert story[plan]["python"] >= 1.0  # it measures itself
    if version != "4.3":
        assert story["refused"].startswith("the engine realtime needs PySpark 4.3 or newer, and this is ")


@pytest.mark.parametrize("version", ["3.5", "4.0", "4.1"])
def test_what_a_version_lacks_is_one_sentence(version: str) -> None:
    native, replay = said(version, "-c", REFUSED).splitlines()
    assert native.startswith("a native query that changes its partitions needs PySpark 4.2 or newer, and this is ")
    assert replay.startswith(f"the source replay needs PySpark 4.2 or newer, and this is {version}.")
