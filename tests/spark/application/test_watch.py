"""Two queries of one application on a real standalone cluster: what watch_story.py saw, told test by test."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cluster_story import run

pytestmark = [pytest.mark.spark, pytest.mark.cluster]


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    script = Path(__file__).with_name("watch_story.py")
    told: dict[str, Any] = json.loads(run(str(script), str(tmp_path_factory.mktemp("watch"))))
    return told


def test_the_application_has_executors_for_the_sum_of_what_its_queries_need(story: dict[str, Any]) -> None:
    assert story["executors"] == [3, 2, 1, 2]  # at first, for both, when one has ended, when it has started again
    assert story["fights"] == 0


def test_monitor_mode_changes_nothing_and_becomes_active_without_a_restart(story: dict[str, Any]) -> None:
    assert story["monitor"]["executors"] == 3
    assert "in monitor mode, 0 changes made" in story["monitor"]["text"]
    assert "INFO the mode is active now" in story["log"]


@pytest.mark.parametrize("query", ["joining", "filtering"])
def test_queries_are_decided_on_when_spark_has_forgotten_their_first_stages(story: dict[str, Any], query: str) -> None:
    decisions = story["soak"][query]
    assert len(decisions) >= 10
    assert all(by_the_policy for by_the_policy, _ in decisions), decisions


def test_the_report_tells_of_each_query(story: dict[str, Any]) -> None:
    assert story["after_its_end"] == ["filtering", "joining"]
    for query in ("joining", "filtering"):
        assert f"\n{query}:\n" in story["text"]


def test_a_query_that_cannot_be_steered_is_named_and_left_out(story: dict[str, Any]) -> None:
    [note] = story["left_out"]
    assert note.startswith(
        "all there is is left out, and nothing shrinks while it runs: a query with trigger Available"
    )


def test_two_controllers_refuse_each_other(story: dict[str, Any]) -> None:
    refused = story["refused"]
    assert refused["attach"] == (
        "attach to query joining cannot change the executors of this application, because watch does: end that first, "
        "or let one penstock.spark.watch steer all its queries"
    )
    assert refused["watch"].startswith("watch cannot change the executors of this application, because watch does")
    assert refused["pipeline"].startswith("pipeline 'clicks' cannot change the executors")
    assert refused["second attach"].startswith("attach to query filtering cannot change")
    assert "\n" not in refused["attach"]


def test_a_query_that_has_ended_is_refused(story: dict[str, Any]) -> None:
    assert story["refused"]["stopped"] == "query filtering has ended: attach to it while it runs"


def test_stopping_leaves_the_queries_and_their_executors_alone(story: dict[str, Any]) -> None:
    assert story["after_stopping"] == {"active": True, "executors": 2}


def test_every_change_is_one_line_in_the_log(story: dict[str, Any]) -> None:
    changes = [line for line in story["log"] if re.search(r" executors? -> ", line) and "would change" not in line]
    assert all(line.startswith("INFO ") and ", because " in line for line in changes)
    assert len(changes) == story["changes"]
    assert changes[0].split(" -> ")[1].startswith("job 1; 2 executors, because ")
    assert not [line for line in story["log"] if "cannot see" in line]
