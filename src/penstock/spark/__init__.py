"""A cluster that is real: pipelines on Spark, and the engines that run them.

Everything a user needs is here by name; Spark itself is imported when the first of them is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.spark.attached import attach
    from penstock.spark.files import files
    from penstock.spark.function import Function
    from penstock.spark.metered import metered
    from penstock.spark.native import NativeQuery
    from penstock.spark.pipeline import Pipeline
    from penstock.spark.replay import replay
    from penstock.spark.table import table
    from penstock.spark.topics import kafka

_HOME = {
    "Function": "function",
    "NativeQuery": "native",
    "Pipeline": "pipeline",
    "attach": "attached",
    "files": "files",
    "kafka": "topics",
    "metered": "metered",
    "replay": "replay",
    "table": "table",
}

__all__ = ["Function", "NativeQuery", "Pipeline", "attach", "files", "kafka", "metered", "replay", "table"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value  # a module of the same name would stand in the way: `files` is also files.py
    return value
