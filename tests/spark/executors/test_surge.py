"""A surge on a real standalone cluster, for every way to run a job: what executors_story.py saw, told test by test."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cluster_story import run
from penstock.testbed.broker import Broker
from penstock.testbed.standalone import StandaloneCluster, standalone_cluster

pytestmark = [pytest.mark.spark, pytest.mark.cluster]


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
    folder = tmp_path_factory.mktemp(request.param)
    place = str(Path(__file__).parent / "executors_story.py")
    printed = run(place, request.param, cluster.master, broker.servers, str(folder))
    told: dict[str, Any] = json.loads(printed)
    print(f"{request.param}: the first task of a new executor came after {told['seconds_to_first_task']:.1f} s")
    return told


def test_a_surge_takes_the_job_from_one_executor_to_three_and_back_with_every_record(story: dict[str, Any]) -> None:
    """Also if one of the three is killed, and replaced."""
    assert story["executors"] == [1, 3, 3, 1]
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
