"""A real Prometheus that scrapes a port of this machine, with the alert rules that come with Penstock."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pages import ROOT
from patience import wait_for
from penstock.metrics.series import SERIES
from penstock.testbed.ports import free_ports

ALERTS = ROOT / "docs" / "monitoring" / "alerts.yml"

needs_prometheus = pytest.mark.skipif(
    not (shutil.which("prometheus") and shutil.which("promtool")),
    reason="Prometheus is not installed: make test installs it where it may",
)


def dashboard_queries() -> list[str]:
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

    def wait_for_rules(self) -> None:
        """Until every rule was evaluated, and every series in it has data."""
        wait_for(lambda: (rules := self._rules()) and all(rule["health"] == "ok" for rule in rules), "the rules")
        names = {name for rule in self._rules() for name in re.findall(r"penstock_\w+", rule["query"])}
        assert names <= {series.name for series in SERIES}
        self.wait_for_all(names)

    def _rules(self) -> list[dict[str, Any]]:
        return [rule for group in self.get("/api/v1/rules")["groups"] for rule in group["rules"]]

    def _finds(self, query: str) -> bool:
        return bool(self.get("/api/v1/query", query=query)["result"])


@contextmanager
def scraping(target: int, folder: Path, more: str = "") -> Iterator[Prometheus]:
    """One that scrapes this port five times a second; `more` goes into what it is told of the port."""
    (port,) = free_ports(1)
    (folder / "prometheus.yml").write_text(
        f"global: {{scrape_interval: 200ms, evaluation_interval: 200ms}}\nrule_files: [{ALERTS}]\n"
        f"scrape_configs: [{{job_name: penstock, static_configs: [{{targets: ['127.0.0.1:{target}']}}]{more}}}]\n"
    )
    command = [
        "prometheus", f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}", "--log.level=error",
    ]  # fmt: skip
    with subprocess.Popen(command) as process:
        try:
            answers = Prometheus(port)
            wait_for(answers.ready, "Prometheus")
            yield answers
        finally:
            process.terminate()
