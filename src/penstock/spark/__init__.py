"""A cluster that is real: pipelines on Spark, and the engines that run them.

Everything a user needs is here by name; Spark itself is imported when the first of them is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.spark.attached.query import attach
    from penstock.spark.ends.file_sink import files
    from penstock.spark.ends.function import Function
    from penstock.spark.ends.replayed import replay
    from penstock.spark.ends.table_sink import table
    from penstock.spark.microbatch.python_meter import metered
    from penstock.spark.pipeline import Pipeline
    from penstock.spark.stateful.query import NativeQuery
    from penstock.spark.topics.kafka import kafka

# No module or package beside this one bears the name of what it offers: once imported, it would stand in the way.
_HOME = {
    "Function": "ends.function",
    "NativeQuery": "stateful.query",
    "Pipeline": "pipeline",
    "attach": "attached.query",
    "files": "ends.file_sink",
    "kafka": "topics.kafka",
    "metered": "microbatch.python_meter",
    "replay": "ends.replayed",
    "table": "ends.table_sink",
}

__all__ = ["Function", "NativeQuery", "Pipeline", "attach", "files", "kafka", "metered", "replay", "table"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
