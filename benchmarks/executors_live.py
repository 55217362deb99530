"""How long executors take to come and to go while a query runs, and what one look at the query costs the driver.

A real standalone cluster; the query runs small batches back to back, so its executors are busy most of the time.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pyspark.sql.streaming.query import StreamingQuery

WORKERS = 2
CORES = 2
TIMES = 3
LOOKS = 10
BATCHES = 5


@dataclass(frozen=True)
class Row:
    what: str
    times: int
    shortest_seconds: float
    longest_seconds: float


def rows() -> Iterator[Row]:
    """In a process of its own: other benchmarks have a Spark context too."""
    done = subprocess.run([sys.executable, "-m", __name__], capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        what, *seconds = line.split("\t")
        yield Row(what, len(seconds), min(map(float, seconds)), max(map(float, seconds)))


def measure() -> None:
    from penstock.control.clock import WallClock
    from penstock.spark.executors.executor_slots import ExecutorSlots
    from penstock.spark.measure.query_monitor import QueryMonitor
    from penstock.spark.measure.stages import StageReader
    from penstock.testbed.session import local_session
    from penstock.testbed.standalone import standalone_cluster

    settings = {
        "spark.executor.cores": "1",
        "spark.executor.memory": "512m",
        "spark.cores.max": str(WORKERS * CORES),
        "spark.decommission.enabled": "true",
    }
    with standalone_cluster(WORKERS, CORES) as cluster, tempfile.TemporaryDirectory() as checkpoint:
        spark = local_session(cluster.master, settings=settings)
        executors = ExecutorSlots(spark.sparkContext)
        executors.wait_for(WORKERS * CORES, 120)
        rate = spark.readStream.format("rate").option("rowsPerSecond", 1000).load()
        query = rate.writeStream.format("noop").option("checkpointLocation", checkpoint).start()
        until(lambda: len(query.recentProgress) > 3)

        def let_go() -> None:
            there = cluster.ask()["coresused"]
            executors.give_back(executors.slots() - 1)
            until(lambda: cluster.ask()["coresused"] < there)

        def get() -> None:
            executors.require(executors.slots() + 1)

        going, coming = [], []
        for _ in range(TIMES):
            going.append(seconds(let_go))
            coming.append(seconds(get))
        stages = StageReader(spark.sparkContext)
        monitor = QueryMonitor(query, stages, WallClock(), executors.slots, executors.executors)
        monitor.read()  # looks at all that was before
        looks = []
        for _ in range(LOOKS):
            batch = last_batch(query) + BATCHES
            until(lambda batch=batch: last_batch(query) >= batch)  # type: ignore[misc]
            looks.append(seconds(monitor.read))
        look = f"one look at {BATCHES} batches"
        for what, figures in (("an executor leaves", going), ("an executor comes", coming), (look, looks)):
            print(what, *(f"{figure:.3f}" for figure in figures), sep="\t")
        query.stop()
        spark.stop()


def last_batch(query: StreamingQuery) -> int:
    return int(query._jsq.lastProgress().batchId())


def seconds(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def until(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.05)


if __name__ == "__main__":
    measure()
