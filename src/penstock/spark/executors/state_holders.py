"""Which executors hold the state of a query: they are the last to be released."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

from pyspark import SparkContext
from pyspark.sql.streaming.query import StreamingQuery

STORES = ("default", "left-keyWithIndexToValue", "right-keyWithIndexToValue")
"""Spark's names of the stores of one operator: most have one, a join between streams has one for each side."""


def state_holders(context: SparkContext, query: StreamingQuery) -> set[str]:
    """The ids of the executors in whose memory the query's state stores are open; empty for a query without state.

    State survives its executor, for it lies in the checkpoint too. But the next one has to load it from there.
    """
    last = query._jsq.lastProgress()
    operators = [] if last is None else json.loads(last.json())["stateOperators"]
    if not operators:
        return set()
    execution = query._jsq.streamingQuery()
    coordinator = query._jsq.sparkSession().streams().stateStoreCoordinator()
    jvm: Any = context._jvm
    state = jvm.org.apache.spark.sql.execution.streaming.state
    root = f"{execution.resolvedCheckpointRoot()}/state"
    places = (
        coordinator.getLocation(state.StateStoreProviderId(state.StateStoreId(root, *store), execution.runId()))
        for number, operator in enumerate(operators)
        for store in product([number], range(operator["numShufflePartitions"]), STORES)
    )
    return {place.get().rpartition("_")[2] for place in places if place.isDefined()}  # executor_HOST_ID
