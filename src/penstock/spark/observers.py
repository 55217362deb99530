"""Who looks on while jobs run: metrics, and the log of decisions. The only place where they are put beside a job."""

from __future__ import annotations

import logging
from collections.abc import Callable

from pyspark import SparkContext

from penstock.control.assembly import Steering
from penstock.control.controller import Controller
from penstock.metrics.job_figures import JobFigures
from penstock.metrics.server import MetricsServer
from penstock.stores.decision_log import DecisionLog

log = logging.getLogger("penstock")


class Observers:
    """The observers of the jobs of one application. What cannot be opened is refused before a job starts."""

    def __init__(self, steering: Steering) -> None:
        context = SparkContext._active_spark_context  # a process has one
        self._application_id = "" if context is None else str(context.applicationId)
        port = steering.metrics_port
        self._metrics = None if port is None else MetricsServer.of(port)
        if self._metrics is not None:
            log.info("metrics are served at port %d, /metrics", self._metrics.port)

    @property
    def metrics_port(self) -> int | None:
        """The port at which metrics are served."""
        return None if self._metrics is None else self._metrics.port

    def add(self, controller: Controller) -> Callable[[], None]:
        """Observe the job of a controller, before it starts; returns what ends that."""
        controller.observers.append(DecisionLog(self._application_id, controller.name))
        if self._metrics is None:
            return lambda: None
        figures, collector = JobFigures(self._application_id, controller.name, controller), self._metrics.collector
        controller.observers.append(figures)
        collector.add(figures)
        return lambda: collector.remove(figures)

    def close(self) -> None:
        if self._metrics is not None:
            self._metrics.release()
            self._metrics = None
