"""A cluster that is real: pipelines on Spark, and the engines that run them.

Everything a user needs is here by name; Spark itself is imported when the first of them is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.spark.attached import attach
    from penstock.spark.file_sink import files
    from penstock.spark.function import Function
    from penstock.spark.native import NativeQuery
    from penstock.spark.pipeline import Pipeline
    from penstock.spark.python_meter import metered
    from penstock.spark.replayed import replay
    from penstock.spark.table_sink import table
    from penstock.spark.topics import kafka

# No module bears the name of what it offers: once imported, it would stand in the way.
_HOME = {
    "Function": "function",
    "NativeQuery": "native",
    "Pipeline": "pipeline",
    "attach": "attached",
    "files": "file_sink",
    "kafka": "topics",
    "metered": "python_meter",
    "replay": "replayed",
    "table": "table_sink",
}

__all__ = ["Function", "NativeQuery", "Pipeline", "attach", "files", "kafka", "metered", "replay", "table"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
