"""What Spark reports of the state that a query keeps, with each finished batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.model.errors import InvalidValueError, check_measured

ON_DISK = "rocksdbSstFileSize"
HITS, MISSES = "rocksdbReadBlockCacheHitCount", "rocksdbReadBlockCacheMissCount"


@dataclass(frozen=True, slots=True)
class StateProgress:
    """The state of all stateful steps of a query when a batch ended.

    bytes         what it takes on disk; None where the store has no files, or does not say
    memory_bytes  what it takes in memory
    hits, misses  blocks that the batch found in memory, and those that it had to read from disk
    """

    bytes: float | None
    memory_bytes: float
    hits: float
    misses: float


def read_state(steps: object) -> StateProgress | None:
    """Reads the stateful steps of a progress event, as Spark writes them; None: the query keeps no state.

    >>> read_state([{"memoryUsedBytes": 10, "customMetrics": {"rocksdbSstFileSize": 70}}])
    StateProgress(bytes=70, memory_bytes=10, hits=0.0, misses=0.0)
    """
    if not isinstance(steps, Sequence) or not all(isinstance(step, Mapping) for step in steps):
        raise InvalidValueError("stateOperators of Spark's progress", f"is not as Spark writes it: {steps!r}")
    if not steps:
        return None
    files = [_custom(step, ON_DISK) for step in steps]
    return StateProgress(
        bytes=None if None in files else sum(file for file in files if file is not None),
        memory_bytes=sum(_figure("memoryUsedBytes", step.get("memoryUsedBytes", 0)) for step in steps),
        hits=sum(_custom(step, HITS) or 0.0 for step in steps),
        misses=sum(_custom(step, MISSES) or 0.0 for step in steps),
    )


def hit_ratio(progress: Sequence[StateProgress]) -> float | None:
    """The share of blocks that batches found in memory; None if they read none.

    >>> hit_ratio([StateProgress(None, 0, hits=3, misses=1), StateProgress(None, 0, hits=0, misses=0)])
    0.75
    """
    hits = sum(each.hits for each in progress)
    read = hits + sum(each.misses for each in progress)
    return hits / read if read else None


def _custom(step: Mapping[str, Any], name: str) -> float | None:
    metrics = step.get("customMetrics")
    return _figure(name, metrics[name]) if isinstance(metrics, Mapping) and name in metrics else None


def _figure(name: str, value: object) -> float:
    field = f"{name} of Spark's progress"
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise InvalidValueError(field, f"is not as Spark writes it: {value!r}")
    check_measured(field, value)
    return value
