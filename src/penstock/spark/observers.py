"""Who looks on while jobs run: metrics, the page, the log of decisions. Only here they are put beside a job."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from pyspark import SparkContext

from penstock.control.assembly import Steering
from penstock.control.controller import Controller
from penstock.control.ports import Store
from penstock.metrics.job_figures import JobFigures
from penstock.metrics.server import MetricsServer
from penstock.model import InvalidValueError
from penstock.serving.access import Access
from penstock.stores.decision_log import DecisionLog

log = logging.getLogger("penstock")


class Observers:
    """The observers of the jobs of one application. What cannot be opened is refused before a job starts.

    store          the store that the jobs are to use: the one that was named, unless the page needs another
    metrics_port   where metrics are served; None: nowhere
    dashboard_url  where the page is, with the token if it needs one; None: nowhere
    """

    def __init__(self, steering: Steering, store: Store | str | None) -> None:
        """
        store  where the jobs would keep their history without a page
        """
        context = SparkContext._active_spark_context  # a process has one
        self._application_id = "" if context is None else str(context.applicationId)
        self._metrics: MetricsServer | None = None
        self.store = store
        self.metrics_port: int | None = None
        self.dashboard_url: str | None = None
        with ExitStack() as unless_all_is_open:
            if steering.metrics_port is not None:
                self._metrics = MetricsServer.of(steering.metrics_port, steering.access)
                unless_all_is_open.callback(self._metrics.release)
                self.metrics_port = self._metrics.port
                log.info("metrics are served at %s", self._metrics.server.url("/metrics"))
            if steering.dashboard:
                self._serve_page(unless_all_is_open, steering.access)
            self._open = unless_all_is_open.pop_all()

    def _serve_page(self, stack: ExitStack, access: Access) -> None:
        from penstock.dashboard.server import Dashboard  # SQLAlchemy takes long to import

        if self.store is None or self.store == "memory":
            folder = tempfile.TemporaryDirectory(prefix="penstock-", ignore_cleanup_errors=True)
            self.store = f"sqlite:///{Path(stack.enter_context(folder)) / 'history.db'}"
        if not isinstance(self.store, str):
            raise InvalidValueError("dashboard", "needs a store by its URL, such as sqlite:///penstock.db")
        page = stack.enter_context(Dashboard(self.store, access))
        self.dashboard_url = page.url
        log.warning("the page of this job is at %s", page.server.url())  # without the token: logs are read by many

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
        self._open.close()
