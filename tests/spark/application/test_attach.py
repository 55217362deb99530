"""An unmodified query on a real standalone cluster over Kafka: what attach_story.py saw, told test by test."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cluster_story import environment, run
from patience import wait_for
from penstock.testbed.broker import Broker

pytestmark = pytest.mark.spark  # a story on a cluster that `make test` runs too: it is what most people do first

EXAMPLE = "examples/watched_job.py"
PAGE = "docs/how-to/put-penstock-into-your-job.md"

UNTIL_IT_HAS_DECIDED = """
import runpy, sys
import penstock.spark
from patience import wait_for
from pyspark.sql.streaming.query import StreamingQuery
watched = []
watch = penstock.spark.watch
penstock.spark.watch = lambda *given, **options: watched.append(watch(*given, **options)) or watched[0]
has_decided = lambda: "decided: job " in str(watched[0].report())
StreamingQuery.awaitTermination = lambda query, seconds: wait_for(has_decided)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""Runs a script as it is, except that it does not wait as long as it says: how long a decision takes depends on how
busy the machine is."""


@pytest.fixture(scope="module")
def story(broker: Broker) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(run(str(Path(__file__).parent / "attach_story.py"), broker.servers))
    return told


def test_monitor_mode_says_what_it_would_save_and_changes_nothing(story: dict[str, Any]) -> None:
    monitor = story["monitor"]
    assert monitor["saved"] > 0
    assert (monitor["changes"], monitor["executors"]) == (0, 3)
    assert monitor["store_closed"]
    assert "would take" in monitor["text"]
    assert re.search(r"decided: job [12]; [12] executor", monitor["text"])


def test_a_surge_takes_the_query_from_one_executor_to_three_and_back(story: dict[str, Any]) -> None:
    assert story["executors"] == [3, 1, 3, 1]
    assert story["active"]["changes"] >= 3  # from three executors to one, to three and to one


def test_an_executor_killed_during_a_change_is_replaced_and_the_plan_is_reached(story: dict[str, Any]) -> None:
    assert len(story["killed"]["executors"]) == 3
    assert story["killed"]["victim"] not in story["killed"]["executors"]


def test_every_record_arrives(story: dict[str, Any]) -> None:
    assert story["records"]["arrived"] == story["records"]["sent"] > 0


def test_detaching_leaves_the_query_and_its_executors_alone(story: dict[str, Any]) -> None:
    assert story["after_detaching"] == {"active": True, "executors": 1}


def test_more_than_the_application_may_have_is_refused(story: dict[str, Any]) -> None:
    assert story["refused"]["request"].startswith("4 executors of 1 core are more than spark.cores.max (3)")
    assert story["refused"]["attach"] == "executors must be at most 3: spark.cores.max has room for no more"


def test_a_cluster_with_nothing_to_give_is_waited_for_and_then_said(story: dict[str, Any]) -> None:
    assert story["refused"]["wait"].startswith("the cluster gave 3 of 5 executors within 0.5 s: no worker has 1 core")


@pytest.mark.cluster
def test_the_example_runs_as_the_page_says_on_a_cluster_that_dies_with_its_process(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "penstock.testbed.standalone", "--workers", "1", "--cores", "3"],
        env={**environment(), "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        master = process.stdout.readline().strip()
        said = run("-c", UNTIL_IT_HAS_DECIDED, EXAMPLE, master, "monitor", "3600")
    finally:
        process.kill()
        process.communicate()
    assert "in monitor mode, 0 changes made" in said
    assert "decided: job " in said
    host, port = master.removeprefix("spark://").split(":")
    wait_for(lambda: not answers(host, int(port)))


def answers(host: str, port: int) -> bool:
    with socket.socket() as caller:
        return caller.connect_ex((host, port)) == 0
