"""A surge on a real standalone cluster, for every way to run a job: what executors_story.py saw, told test by test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import penstock
from pages import ROOT
from penstock.testbed.broker import Broker
from penstock.testbed.standalone import StandaloneCluster, standalone_cluster

pytestmark = [pytest.mark.spark, pytest.mark.cluster]

HANG_SECONDS = 900.0


@pytest.fixture(scope="module")
def cluster() -> Iterator[StandaloneCluster]:
    with standalone_cluster(workers=1, cores=6) as running:
        yield running


@pytest.fixture(scope="module", params=["microbatch", "realtime", "native"])
def story(
    request: pytest.FixtureRequest,
    cluster: StandaloneCluster,
    broker: Broker,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, Any]:
    """In a process of its own: a second Spark context cannot live beside the one that the other tests share."""
    places = Path(penstock.__file__).parent.parent, ROOT / "tests"
    folder = tmp_path_factory.mktemp(request.param)
    done = subprocess.run(
        [
            sys.executable, str(Path(__file__).parent / "executors_story.py"),
            request.param, cluster.master, broker.servers, str(folder),
        ],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, places))},
        capture_output=True, text=True, check=False, timeout=HANG_SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-5000:]
    told: dict[str, Any] = json.loads(done.stdout)
    print(f"{request.param}: the first task of a new executor came after {told['seconds_to_first_task']:.1f} s")
    return told


def test_a_surge_takes_the_job_from_one_executor_to_three_and_back_with_every_record(story: dict[str, Any]) -> None:
    assert story["executors"] == [1, 3, 1]
    assert story["problems"] == []
    records = story["records"]
    assert records["sent"] > 0
    assert records["missing"] == 0
    assert records["twice"] == records["counted"]


def test_slots_are_there_before_the_plan_that_needs_them_and_leave_after_the_plan_that_needed_them(
    story: dict[str, Any],
) -> None:
    grown = [change for change in story["changes"] if change["after"] > change["before"]]
    shrunk = [change for change in story["changes"] if change["after"] < change["before"]]
    assert grown
    assert shrunk
    if story["slots_first"]:  # in micro-batches tasks may wait for slots: there the plan comes first
        assert all(change["began"] >= change["after"] for change in grown)
    assert all(change["ended"] >= change["before"] for change in shrunk)


def test_more_than_the_application_may_have_is_refused(story: dict[str, Any]) -> None:
    assert story["refused"]["most"] == "executors must be at most 3: spark.cores.max has room for no more"
    if "plan" in story["refused"]:  # operators that run concurrently cannot run on fewer slots
        assert story["refused"]["plan"] == (
            "the plan needs 5 slots, but only 2 are available: `executors` allows at most 1, with 2 slots each"
        )


def test_the_report_has_the_core_seconds_of_sparks_own_event_log(story: dict[str, Any]) -> None:
    cost = story["cost"]
    assert cost["taken"] == pytest.approx(cost["events"], rel=0.02)
    assert cost["taken"] > 0
    assert "by Spark's executor events" in cost["text"]
