"""More memory for the state of a query: it starts anew with it, and its state stays where it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from nexmark_stream import Stream
from patience import wait_for
from penstock.model import Plan
from penstock.spark.native.engine import BLOCK_CACHE, DEFAULT_BLOCK_CACHE_MB, STATE, NativeEngine

pytestmark = pytest.mark.spark


def cache_mb(native: NativeEngine) -> int:
    """Megabytes for each partition, by the settings that the running query has kept."""
    return int(native.query._jsq.streamingQuery().sparkSessionForStream().conf().get(BLOCK_CACHE))


def test_memory_is_doubled_without_a_repartition_and_together_with_one(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream("nexmark_q11", tmp_path)
    stream.arrive(0, 2)
    native = stream.native(spark)
    native.start(Plan({STATE: 2}))
    native.query.processAllAvailable()
    assert native.plan() == Plan({STATE: 2})

    native.apply(Plan({STATE: 2}, memory_level=2))
    assert native.plan() == Plan({STATE: 2}, memory_level=2)
    assert cache_mb(native) == 4 * DEFAULT_BLOCK_CACHE_MB
    (cost,) = native.changes
    assert (cost.before, cost.after) == (2, 2)
    stream.arrive(2, 3)
    native.query.processAllAvailable()

    native.apply(Plan({STATE: 3}, memory_level=3))
    assert native.plan() == Plan({STATE: 3}, memory_level=3)
    assert cache_mb(native) == 8 * DEFAULT_BLOCK_CACHE_MB
    assert spark.conf.get(BLOCK_CACHE, None) is None, "other queries of the session keep what they have"

    stream.close(3)
    answer = stream.batch_answer(spark)
    native.query.processAllAvailable()
    wait_for(lambda: stream.results(spark) == answer, every=0.5)
    native.stop()
    assert answer
