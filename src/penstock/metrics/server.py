"""Serves the series of the jobs of this process at /metrics."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from penstock.metrics.job_figures import JobFigures
from penstock.metrics.series import JOB_LABELS, SERIES
from penstock.model import InvalidValueError
from penstock.serving.access import Access
from penstock.serving.server import Answer, Request, Server

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
    """The one server of a port in this process: several jobs share it, and it ends with the last of them.

    collector  the jobs whose series it serves
    port       where it listens
    """

    _open: dict[int, MetricsServer] = {}  # noqa: RUF012
    _lock = threading.Lock()

    def __init__(self, port: int, access: Access) -> None:
        self.collector = JobCollector()
        self._users = 0
        self._registry = CollectorRegistry()
        self._registry.register(self.collector)
        self.server = Server("metrics_port", {"/metrics": self._answer}, access, port)
        self.port = self.server.port

    @classmethod
    def of(cls, port: int, access: Access | None = None) -> MetricsServer:
        """The server of this port, started if it is the first time; `release` it when the job is over.

        access  who may read; None: only this machine
        """
        access = access or Access()
        with cls._lock:
            server = cls._open.get(port) or cls(port, access)
            if server.server.access != access:
                raise InvalidValueError("listen", f"must be the same for all jobs of a process at metrics_port {port}")
            cls._open[server.port] = server
            server._users += 1
            return server

    def release(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users:
                return
            del self._open[self.port]
        self.server.stop()

    def _answer(self, request: Request) -> Answer:
        encoder, kind = choose_encoder(request.headers.get("Accept", ""))
        return Answer(kind, encoder(self._registry))
