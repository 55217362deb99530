"""Jobs on Spark: pipelines, native queries and watched queries, and the engines that run them.

Everything a user needs can be imported from here; Spark itself is imported when the first of these names is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from penstock.model.extras import ensure

if TYPE_CHECKING:
    from penstock.spark.application.watch import attach, watch
    from penstock.spark.io.by_format import sink, source
    from penstock.spark.io.file_sink import files
    from penstock.spark.io.function import Function
    from penstock.spark.io.kafka_topic import kafka
    from penstock.spark.io.replayed import replay
    from penstock.spark.io.table_sink import table
    from penstock.spark.measure.python_meter import metered
    from penstock.spark.native.query import NativeQuery
    from penstock.spark.pipeline import Pipeline

# No module or package beside this one has one of these names: once imported, it would hide what is offered.
_HOME = {
    "Function": "io.function",
    "NativeQuery": "native.query",
    "Pipeline": "pipeline",
    "attach": "application.watch",
    "files": "io.file_sink",
    "kafka": "io.kafka_topic",
    "metered": "measure.python_meter",
    "replay": "io.replayed",
    "sink": "io.by_format",
    "source": "io.by_format",
    "table": "io.table_sink",
    "watch": "application.watch",
}

__all__ = [
    "Function", "NativeQuery", "Pipeline", "attach", "files", "kafka", "metered", "replay", "sink", "source", "table",
    "watch",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    ensure("spark")
    if name == "replay":  # an older PySpark does not have what it imports
        versions = import_module(f"{__name__}.versions")
        versions.require("the source replay", versions.REPLAY)
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
