"""A job on Spark whose executors come and go, as Prometheus and the page see it."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cluster_story import environment
from patience import wait_for
from real_prometheus import Prometheus, dashboard_queries, needs_prometheus, scraping

pytestmark = [pytest.mark.spark, pytest.mark.cluster]


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """What the story says of itself; it runs until the tests are over."""
    folder, place = tmp_path_factory.mktemp("seen"), Path(__file__).with_name("seen_story.py")
    command = [sys.executable, str(place), str(folder)]
    with subprocess.Popen(
        command, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as story:
        assert story.stdout is not None
        assert story.stdin is not None
        line = story.stdout.readline()
        assert line, "the story ended before it began"
        yield json.loads(line)
        story.stdin.close()


@pytest.fixture(scope="module")
def prometheus(job: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    with scraping(job["metrics"], tmp_path_factory.mktemp("prometheus")) as answers:
        yield answers


@needs_prometheus
def test_prometheus_finds_data_for_every_query_of_the_dashboard_and_for_every_rule(
    job: dict[str, Any], prometheus: Prometheus
) -> None:
    mine = f'application_id="{job["application"]}",query_name="clicks"'
    prometheus.wait_for_all([f"penstock_cycles_total{{{mine}}} > 0"])
    prometheus.wait_for_all(dashboard_queries())
    prometheus.wait_for_rules()


@needs_prometheus
def test_prometheus_sees_executors_requested_present_and_leaving(prometheus: Prometheus) -> None:
    prometheus.wait_for_all(
        [
            "max_over_time(penstock_executors_requested[1h]) == 2",
            "min_over_time(penstock_executors_requested[1h]) == 1",
            "max_over_time(penstock_executors[1h]) == 2",
            "max_over_time(penstock_executors_leaving[1h]) == 1",
            "penstock_executors_leaving == 0",
        ]
    )


def test_the_page_shows_the_executor_that_leaves(job: dict[str, Any]) -> None:
    def leaving() -> list[int]:
        with urllib.request.urlopen(f"{job['page']}api/job?job=clicks") as answer:
            found: list[int] = json.load(answer)["chart"]["leaving"]
            return found

    wait_for(lambda: 1 in leaving(), "an executor that leaves")
