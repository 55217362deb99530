"""Leaves out what PySpark writes down of every call that makes a frame or a column.

So that an error can name the line of the job that caused it, each such call asks the JVM for the session, for two
settings and for a class, looks through the stack and tries to import IPython: milliseconds, for each function and
method that an operator uses. The frames of a micro-batch are built anew for each batch, while all cores wait. The lines
of the job are known from the start, where every operator is tried once.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.errors import utils

_KEPT = "_enable_debugging_cache"
"""Whether PySpark writes them down; None: it has not looked up the setting yet. One for the whole process."""

_lock = threading.Lock()
_inside = 0
_before: Any = None


@contextmanager
def without_call_sites() -> Iterator[None]:
    """Inside, frames and columns are made without them. Several threads may be inside at the same time."""
    global _inside, _before
    with _lock:
        if _inside == 0:
            _before = getattr(utils, _KEPT, None)
            setattr(utils, _KEPT, False)
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                setattr(utils, _KEPT, _before)
