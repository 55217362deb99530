"""A real Prometheus scrapes a live job: every query of the dashboard and every rule finds data."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from live_simulation import controller, running
from pages import ROOT
from patience import wait_for
from penstock.metrics.job_figures import JobFigures
from penstock.metrics.series import SERIES
from penstock.metrics.server import MetricsServer
from penstock.testbed.ports import free_ports

ALERTS = ROOT / "docs" / "monitoring" / "alerts.yml"
STORY = Path(__file__).with_name("alerts_test.yml")

needs_prometheus = pytest.mark.skipif(
    not (shutil.which("prometheus") and shutil.which("promtool")),
    reason="Prometheus is not installed: make test installs it where it may",
)
pytestmark = needs_prometheus


def queries() -> list[str]:
    """The queries of the dashboard for Grafana, with what Grafana puts in for its variables."""
    panels = json.loads((ROOT / "docs" / "monitoring" / "grafana.json").read_text())["panels"]
    found = [target["expr"] for panel in panels for target in panel["targets"]]
    return [
        each.replace("$application", ".*").replace("$query", ".*").replace("$__rate_interval", "1m") for each in found
    ]


class Prometheus:
    """The answers of a Prometheus that runs on this machine."""

    def __init__(self, port: int) -> None:
        self._address = f"http://127.0.0.1:{port}"

    def get(self, path: str, **parameters: str) -> Any:
        address = f"{self._address}{path}?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(address) as answer:
            return json.load(answer)["data"]

    def ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self._address}/-/ready"):
                return True
        except OSError:
            return False

    def wait_for_all(self, queries: Iterable[str]) -> None:
        """Until each of them finds something."""
        for query in queries:
            wait_for(partial(self._finds, query), query)

    def _finds(self, query: str) -> bool:
        return bool(self.get("/api/v1/query", query=query)["result"])


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """One that scrapes a job which changes its executors as well, so that no series is empty."""
    folder, (port,) = tmp_path_factory.mktemp("prometheus"), free_ports(1)
    server = MetricsServer.of(0)
    made = controller()
    figures = JobFigures("local-1", "clicks", made)
    made.observers.append(figures)
    server.collector.add(figures)
    (folder / "prometheus.yml").write_text(
        f"global: {{scrape_interval: 200ms, evaluation_interval: 200ms}}\nrule_files: [{ALERTS}]\n"
        f"scrape_configs: [{{job_name: penstock, static_configs: [{{targets: ['127.0.0.1:{server.port}']}}]}}]\n"
    )
    command = [
        "prometheus", f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}", "--log.level=error",
    ]  # fmt: skip
    with running(made), subprocess.Popen(command) as process:
        try:
            answers = Prometheus(port)
            wait_for(answers.ready, "Prometheus")
            yield answers
        finally:
            process.terminate()
            server.release()


def test_every_series_arrives(prometheus: Prometheus) -> None:
    prometheus.wait_for_all(f'{series.name}{{application_id="local-1",query_name="clicks"}}' for series in SERIES)


def test_every_query_of_the_dashboard_finds_data(prometheus: Prometheus) -> None:
    prometheus.wait_for_all(queries())


def test_every_rule_is_evaluated_and_every_series_in_it_has_data(prometheus: Prometheus) -> None:
    def rules() -> list[dict[str, Any]]:
        return [rule for group in prometheus.get("/api/v1/rules")["groups"] for rule in group["rules"]]

    wait_for(lambda: rules() and all(rule["health"] == "ok" for rule in rules()), "the evaluation of rules")
    names = {name for rule in rules() for name in re.findall(r"penstock_\w+", rule["query"])}
    assert names <= {series.name for series in SERIES}
    prometheus.wait_for_all(names)


@pytest.mark.parametrize("arguments", [["check", "rules", str(ALERTS)], ["test", "rules", str(STORY)]])
def test_promtool_is_content(arguments: list[str]) -> None:
    """The story fires every alert when its time has come, and none for a job that is well."""
    done = subprocess.run(["promtool", *arguments], capture_output=True, text=True, cwd=STORY.parent, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_is_in_the_story() -> None:
    alerts = set(re.findall(r"alert: (\w+)", ALERTS.read_text()))
    assert alerts == set(re.findall(r"alertname: (\w+)", STORY.read_text()))
