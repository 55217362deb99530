"""A real Prometheus scrapes a live job: every query of the dashboard and every rule finds data.

The job is a controller beside a simulated cluster. `tests/spark/test_seen.py` does the same with one on Spark.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from live_simulation import controller, running
from pages import read
from penstock.metrics.job_figures import JobFigures
from penstock.metrics.series import SERIES
from penstock.metrics.server import MetricsServer
from penstock.serving.access import Access
from real_prometheus import ALERTS, Prometheus, dashboard_queries, needs_prometheus, scraping

STORY = Path(__file__).with_name("alerts_test.yml")

pytestmark = needs_prometheus


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """One that scrapes a job which changes its executors as well, so that no series is empty."""
    server = MetricsServer.of(0)
    made = controller()
    figures = JobFigures("local-1", "clicks", made)
    made.observers.append(figures)
    server.collector.add(figures)
    with running(made), scraping(server.port, tmp_path_factory.mktemp("prometheus")) as answers:
        yield answers
    server.release()


def test_every_series_arrives(prometheus: Prometheus) -> None:
    prometheus.wait_for_all(f'{series.name}{{application_id="local-1",query_name="clicks"}}' for series in SERIES)


def test_every_query_of_the_dashboard_finds_data(prometheus: Prometheus) -> None:
    prometheus.wait_for_all(dashboard_queries())


def test_every_rule_is_evaluated_and_every_series_in_it_has_data(prometheus: Prometheus) -> None:
    prometheus.wait_for_rules()


def test_from_another_machine_it_shows_the_token_over_an_encrypted_connection(
    certificate: Path, tmp_path: Path
) -> None:
    """As the page tells operators to set it up."""
    (tmp_path / "token").write_text(16 * "s")
    server = MetricsServer.of(0, Access("0.0.0.0", str(certificate), 16 * "s"))
    server.collector.add(JobFigures("local-1", "clicks", controller()))
    more = (
        f", scheme: https, authorization: {{credentials_file: {tmp_path / 'token'}}}, "
        f"tls_config: {{ca_file: {certificate}}}"
    )
    with scraping(server.port, tmp_path, more) as answers:
        answers.wait_for_all(["penstock_interval_seconds"])
    server.release()


@pytest.mark.parametrize("arguments", [["check", "rules", str(ALERTS)], ["test", "rules", str(STORY)]])
def test_promtool_is_content(arguments: list[str]) -> None:
    """The story fires every alert when its time has come, and none for a job that is well."""
    done = subprocess.run(["promtool", *arguments], capture_output=True, text=True, cwd=STORY.parent, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_prometheus_takes_the_configurations_that_the_page_shows(certificate: Path, tmp_path: Path) -> None:
    page = read("docs/how-to/watch-a-job-with-prometheus.md")
    (tmp_path / "alerts.yml").write_text(ALERTS.read_text())
    (tmp_path / "penstock-token").write_text(16 * "s")
    (tmp_path / "ca.pem").write_text(certificate.read_text())
    shown = re.findall(r"^```yaml\n(.*?)^```", page, re.M | re.S)
    assert len(shown) == 2
    for text in shown:
        (tmp_path / "prometheus.yml").write_text(text.replace("/etc/prometheus/", f"{tmp_path}/"))
        done = subprocess.run(
            ["promtool", "check", "config", "prometheus.yml"], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_is_in_the_story() -> None:
    alerts = set(re.findall(r"alert: (\w+)", ALERTS.read_text()))
    assert alerts == set(re.findall(r"alertname: (\w+)", STORY.read_text()))
