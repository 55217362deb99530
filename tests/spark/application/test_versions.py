"""The story of an attached query on each PySpark, in the environment that `make test-versions` made for it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cluster_story import HANG_SECONDS, environment
from pages import ROOT
from penstock.testbed.broker import Broker

STORY = Path(__file__).parent / "attach_story.py"

pytestmark = [pytest.mark.spark, pytest.mark.cluster, pytest.mark.versions]

WITHOUT_SPARK = """
from penstock import Slo
from penstock.model import PenstockError
import penstock.spark
for name, options in (("Pipeline", {"source": None}), ("NativeQuery", {"build": print})):
    try:
        getattr(penstock.spark, name)("job", **options).start(None, slo=Slo(), checkpoint="there")
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


def run(version: str, *arguments: str) -> str:
    done = subprocess.run(
        [python_of(version), *arguments],
        env=environment(), capture_output=True, text=True, check=False, timeout=HANG_SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-5000:]
    return done.stdout


@pytest.mark.parametrize("version", ["3.5", "4.0", "4.1", "4.2", "4.3"])
def test_a_surge_takes_an_attached_query_from_one_executor_to_three_and_back(version: str, broker: Broker) -> None:
    story = json.loads(run(version, str(STORY), broker.servers))
    assert story["version"].startswith(f"{version}.")
    assert story["monitor"]["saved"] > 0
    assert story["executors"] == [3, 1, 3, 1]
    assert story["records"]["arrived"] == story["records"]["sent"] > 0
    assert story["after_detaching"] == {"active": True, "executors": 1}


@pytest.mark.parametrize("version", ["3.5", "4.0", "4.1"])
def test_what_a_version_lacks_is_one_sentence(version: str) -> None:
    said = run(version, "-c", WITHOUT_SPARK).splitlines()
    assert said[0].startswith(f"a pipeline needs PySpark 4.3 or newer, and this is {version}.")
    assert said[1].startswith("a native query that changes its partitions needs PySpark 4.2 or newer, and this is")
