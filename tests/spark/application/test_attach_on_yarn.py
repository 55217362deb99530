"""The story of an attached query on a real YARN: what attach_story.py saw there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cluster_story import run
from penstock.testbed.broker import Broker

pytestmark = [pytest.mark.spark, pytest.mark.cluster]


@pytest.fixture(scope="module")
def story(broker: Broker) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(run(str(Path(__file__).parent / "attach_story.py"), broker.servers, "yarn"))
    return told


def test_monitor_mode_says_what_it_would_save_and_changes_nothing(story: dict[str, Any]) -> None:
    assert story["monitor"]["saved"] > 0
    assert (story["monitor"]["changes"], story["monitor"]["executors"]) == (0, 3)


def test_a_surge_takes_the_query_from_one_executor_to_three_and_back(story: dict[str, Any]) -> None:
    assert story["executors"] == [3, 1, 3, 1]
    assert story["active"]["changes"] >= 3


def test_a_container_killed_during_a_change_is_replaced_and_the_plan_is_reached(story: dict[str, Any]) -> None:
    assert len(story["killed"]["executors"]) == 3
    assert story["killed"]["victim"] not in story["killed"]["executors"]


def test_every_record_arrives_and_detaching_leaves_the_query_alone(story: dict[str, Any]) -> None:
    assert story["records"]["arrived"] == story["records"]["sent"] > 0
    assert story["after_detaching"] == {"active": True, "executors": 1}
