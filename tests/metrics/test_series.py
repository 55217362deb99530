"""The series say what happened to a job, under names that Prometheus' own rules allow."""

from __future__ import annotations

import re
import urllib.request
from collections.abc import Iterator
from dataclasses import replace

import pytest
from prometheus_client.parser import text_string_to_metric_families

from live_simulation import controller
from loop_fakes import LARGE, SMALL, Job, Wants, a_loop, sample
from penstock.control.assembly import Steering
from penstock.control.controller import Controller
from penstock.metrics.job_figures import JobFigures
from penstock.metrics.series import SERIES
from penstock.metrics.server import MetricsServer
from penstock.model import InvalidValueError, PenstockError, Plan


@pytest.fixture
def server() -> Iterator[MetricsServer]:
    opened = MetricsServer.of(0)
    yield opened
    opened.release()


def scraped(server: MetricsServer) -> dict[tuple[str, ...], float]:
    """Every figure by its name and the values of its labels besides those of the job."""
    text = urllib.request.urlopen(f"http://127.0.0.1:{server.port}/metrics").read().decode()
    found = {}
    for family in text_string_to_metric_families(text):
        for line in family.samples:
            labels = dict(line.labels)
            assert labels.pop("application_id") == "app-1"
            labels.pop("query_name")
            found[line.name, *labels.values()] = line.value
    return found


def test_names_have_base_units_and_counters_end_in_total() -> None:
    assert len({series.name for series in SERIES}) == len(SERIES)
    for series in SERIES:
        assert re.fullmatch(r"penstock_[a-z_]+", series.name)
        assert series.name.endswith("_total") == (series.kind == "counter")
        assert not re.search(r"_(ms|milliseconds|minutes|percent)(_|$)", series.name)
        assert not {"run", "run_id", "runId"} & set(series.labels)


def test_a_scrape_shows_the_newest_window_the_plans_and_the_sums(server: MetricsServer) -> None:
    loop = a_loop(policy=Wants(), readings=[[sample(0, rate=100)], [sample(10, rate=120, warm_up=True)]])
    figures = JobFigures("app-1", "clicks", Controller(loop))
    server.collector.add(figures)
    figures(loop.run_once())
    figures(loop.run_once())
    shown = scraped(server)
    assert shown["penstock_input_records_per_second",] == 100  # the second window does not count
    assert shown["penstock_warm_up_seconds_total",] == 10
    assert shown["penstock_measured_seconds_total",] == 20
    assert shown["penstock_parallelism", "split"] == shown["penstock_parallelism_decided", "split"] == LARGE["split"]
    assert shown["penstock_utilisation_ratio", "split"] == 0.5
    assert shown["penstock_decisions_total", "scale_up"] == shown["penstock_decisions_total", "warming_up"] == 1
    assert shown["penstock_decisions_total", "steady"] == 0  # known before it first happens, so that rates see it
    assert shown["penstock_changes_total",] == 1
    assert shown["penstock_change_seconds_total",] == 10  # by the clock of the test
    assert ("penstock_backlog_records",) not in shown  # nobody measured it


def test_executors_are_those_requested_those_present_and_those_that_leave(server: MetricsServer) -> None:
    three, one = Plan(SMALL.parallelism, 3), Plan(SMALL.parallelism, 1)
    loop = a_loop(
        policy=Wants(one), readings=[[replace(sample(0), executors=3)]], actuator=Job(three), leaving=lambda: 2
    )
    figures = JobFigures("app-1", "clicks", Controller(loop))
    server.collector.add(figures)
    figures(loop.run_once())
    shown = scraped(server)
    assert shown["penstock_executors",] == 3  # before the change
    assert shown["penstock_executors_requested",] == 1
    assert shown["penstock_executors_leaving",] == 2


def test_a_change_that_fails_is_counted_apart(server: MetricsServer) -> None:
    loop = a_loop(policy=Wants(), readings=[[sample(0)]], actuator=Job(stuck=True))
    figures = JobFigures("app-1", "clicks", Controller(loop))
    server.collector.add(figures)
    figures(loop.run_once())
    shown = scraped(server)
    assert (shown["penstock_changes_total",], shown["penstock_changes_failed_total",]) == (0, 1)
    assert shown["penstock_parallelism", "split"] == SMALL["split"]
    assert shown["penstock_parallelism_decided", "split"] == LARGE["split"]


def test_an_expectation_is_compared_with_what_came(server: MetricsServer) -> None:
    made = controller()
    figures = JobFigures("app-1", "clicks", made)
    server.collector.add(figures)
    for _ in range(12):
        figures(made._run_once())
    shown = scraped(server)
    assert shown["penstock_expectation_error_ratio", "throughput"] < 0.2
    assert shown["penstock_slot_seconds_total",] > 0
    assert shown["penstock_forecast_error_records_per_second",] >= 0


def test_the_health_of_a_controller_is_shown(server: MetricsServer) -> None:
    made = Controller(a_loop())
    server.collector.add(JobFigures("app-1", "clicks", made))
    assert scraped(server)["penstock_controller_up",] == 0  # it was never started


def test_jobs_share_a_port_and_a_job_that_ends_takes_its_series_along(server: MetricsServer) -> None:
    again = MetricsServer.of(server.port)
    assert again is server
    first, second = (JobFigures("app-1", name, Controller(a_loop())) for name in ("clicks", "views"))
    again.collector.add(first)
    again.collector.add(second)
    again.collector.remove(first)
    again.release()
    text = urllib.request.urlopen(f"http://127.0.0.1:{server.port}/metrics").read().decode()
    assert 'query_name="views"' in text
    assert 'query_name="clicks"' not in text


def test_a_port_that_is_taken_is_one_sentence(server: MetricsServer) -> None:
    MetricsServer._open.pop(server.port)  # as another process would hold it
    try:
        with pytest.raises(PenstockError, match=rf"^metrics_port cannot be served at 127.0.0.1:{server.port}: "):
            MetricsServer.of(server.port)
    finally:
        MetricsServer._open[server.port] = server


@pytest.mark.parametrize("port", [-1, 65536, "9108", True])
def test_what_is_no_port_is_refused(port: object) -> None:
    with pytest.raises(InvalidValueError, match=r"^metrics_port must be a port, from 0"):
        Steering(metrics_port=port)  # type: ignore[arg-type]
