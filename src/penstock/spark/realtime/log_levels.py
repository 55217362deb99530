"""Keeps Spark's log free of errors when a real-time query is stopped on purpose."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from pyspark.sql import SparkSession

# A stop interrupts tasks that run for as long as the query does, and each writes stack traces of several pages.
# When one of them fails by itself, the query raises it.
NOISY = (
    "org.apache.spark.shuffle.streaming",
    "org.apache.spark.sql.execution.datasources.v2",
    "org.apache.spark.sql.execution.streaming.runtime",
    "org.apache.spark.util.ErrorNotifier",
    "org.apache.spark.util.Utils",
    "org.apache.spark.executor.Executor",
    "org.apache.spark.scheduler.TaskSetManager",
    "org.apache.spark.network",
)


GRACE_SECONDS = 5.0
"""Tasks write their traces a moment after the query has stopped."""

_lock = threading.Lock()
_levels: dict[str, Any] = {}  # those that the loggers had, while they are muted; None: that of their parent
_stopping = 0  # stops under way
_until = 0.0  # of the last one


@contextmanager
def muted(spark: SparkSession) -> Iterator[None]:
    """Spark's loggers say nothing in this block and for a few seconds after it. Then they have their own levels again:
    whatever else runs in this driver is heard."""
    global _stopping, _until
    jvm: Any = spark.sparkContext._jvm
    with _lock:
        _stopping += 1
        if not _levels:
            _mute(jvm)
    try:
        yield
    finally:
        with _lock:
            _stopping -= 1
            _until = time.monotonic() + GRACE_SECONDS
        later = threading.Timer(GRACE_SECONDS, _restore, [jvm])
        later.daemon = True
        later.start()


def _mute(jvm: Any) -> None:
    logging = jvm.org.apache.logging.log4j
    configuration = logging.LogManager.getContext(False).getConfiguration()
    for name in NOISY:
        own = configuration.getLoggers().get(name)
        _levels[name] = None if own is None else own.getLevel()
        logging.core.config.Configurator.setLevel(name, logging.Level.OFF)


def _restore(jvm: Any) -> None:
    """Unless another stop has begun meanwhile: the last one does it."""
    with _lock, suppress(Exception):  # Spark may have ended
        if _stopping or time.monotonic() < _until:
            return
        logging = jvm.org.apache.logging.log4j
        context = logging.LogManager.getContext(False)
        for name, level in _levels.items():
            if level is None:
                context.getConfiguration().removeLogger(name)
            else:
                logging.core.config.Configurator.setLevel(name, level)
        context.updateLoggers()
        _levels.clear()
