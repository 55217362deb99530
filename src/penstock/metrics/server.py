"""Serves the series of the jobs of this process at /metrics."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from wsgiref.simple_server import WSGIServer

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from penstock.metrics.job_figures import JobFigures
from penstock.metrics.series import JOB_LABELS, SERIES
from penstock.model import PenstockError

Family = CounterMetricFamily | GaugeMetricFamily


class JobCollector(Collector):
    """Reads every series of every job when Prometheus asks."""

    def __init__(self) -> None:
        self._jobs: dict[tuple[str, str], JobFigures] = {}

    def add(self, job: JobFigures) -> None:
        """A job of the same name goes on with the series of the one before."""
        self._jobs[job.application_id, job.query_name] = job

    def remove(self, job: JobFigures) -> None:
        if self._jobs.get((job.application_id, job.query_name)) is job:
            del self._jobs[job.application_id, job.query_name]

    @property
    def empty(self) -> bool:
        return not self._jobs

    def describe(self) -> Iterable[Family]:
        return []  # nothing is read only to be registered

    def collect(self) -> Iterable[Family]:
        jobs = list(self._jobs.values())
        for series in SERIES:
            kind = CounterMetricFamily if series.kind == "counter" else GaugeMetricFamily
            family = kind(series.name, series.meaning, labels=(*JOB_LABELS, *series.labels))
            for job in jobs:
                for labels, figure in series.read(job):
                    if figure is not None:
                        family.add_metric((job.application_id, job.query_name, *labels), figure)
            yield family


class MetricsServer:
    """The one server of a port in this process: several jobs share it, and it ends with the last of them."""

    _open: dict[int, MetricsServer] = {}  # noqa: RUF012
    _lock = threading.Lock()

    def __init__(self, port: int) -> None:
        self.collector = JobCollector()
        self._users = 0
        registry = CollectorRegistry()
        registry.register(self.collector)
        try:
            self._server: WSGIServer
            self._server, self._thread = start_http_server(port, registry=registry)
        except OSError as error:
            raise PenstockError(f"metrics_port {port} cannot be used: {error.strerror or error}") from None
        self.port: int = self._server.server_port

    @classmethod
    def of(cls, port: int) -> MetricsServer:
        """The server of this port, started if it is the first time; `release` it when the job is over."""
        with cls._lock:
            server = cls._open.get(port) or cls(port)
            cls._open[server.port] = server
            server._users += 1
            return server

    def release(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users:
                return
            del self._open[self.port]
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
