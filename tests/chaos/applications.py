"""Applications on a cluster that chaos happens to: queries that Penstock did not write, steered by their executors."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql.streaming.query import StreamingQuery

from chaos.jobs import Given, Steered, counted, written
from penstock.model import Cycle, Plan
from penstock.spark import attach, watch
from penstock.spark.application.watch import Watch
from penstock.spark.executors.executor_slots import ExecutorSlots

EXECUTORS = 3
SETTINGS = {
    "spark.executor.cores": "1",
    "spark.cores.max": str(EXECUTORS),
    "spark.executor.memory": "512m",
    # Two cores are a whole cluster here: the compiler and the collector of a large machine would take both.
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.decommission.enabled": "true",
    "spark.storage.decommission.enabled": "true",
    "spark.storage.decommission.replicationReattemptInterval": "1s",
    "spark.sql.shuffle.partitions": "2",
}
COPIES = "copies"
"""The folder of the query that copies numbers."""
LOOK_SECONDS = 0.2


@dataclass(frozen=True)
class Application:
    """Queries, and who steers them. Its plan is the number of its executors."""

    queries: tuple[StreamingQuery, ...]
    watch: Watch
    executors: ExecutorSlots
    on_cycle: Callable[[Cycle], None]

    @property
    def duplicates(self) -> int | None:
        return None

    def believed(self, plan: Plan) -> dict[str, int]:
        return {"executors": plan.executors or 0}

    def in_force(self) -> dict[str, int]:
        return {"executors": self.executors.executors()}

    def wait(self) -> object:
        """Tells of the cycles as they come, in this thread; raises what ended a query."""
        newest: Cycle | None = None
        while all(query.isActive for query in self.queries):
            cycles = self.watch.report().total.cycles
            told = next((n for n, cycle in enumerate(cycles, 1) if cycle is newest), 0)
            for newest in cycles[told:]:
                self.on_cycle(newest)
            time.sleep(LOOK_SECONDS)
        return [query.awaitTermination(1) for query in self.queries]


def attached(given: Given) -> Steered:
    """One query with a state, which is attached to."""
    query = _counting(given)
    watched = attach(query, executors=(1, EXECUTORS), mode="active", store=_store(given), **given.steering)
    return Application((query,), watched, ExecutorSlots(given.spark.sparkContext), given.on_cycle)


def watched(given: Given) -> Steered:
    """The same beside one that copies its numbers, both under one watch, which is there before they are."""
    steered = watch(given.spark, executors=(1, EXECUTORS), mode="active", store=_store(given), **given.steering)
    queries = (_counting(given), _copying(given))
    return Application(queries, steered, ExecutorSlots(given.spark.sparkContext), given.on_cycle)


def _store(given: Given) -> str:
    """Beside the checkpoints of the queries."""
    folder = given.folder / "checkpoint"
    folder.mkdir(exist_ok=True)
    return f"sqlite:///{folder / 'penstock.db'}"


def _counting(given: Given) -> StreamingQuery:
    return _started(given, "counting", counted(given, given.source.stream(given.spark)))


def _copying(given: Given) -> StreamingQuery:
    texts = given.healthy(given.source.stream(given.spark)).selectExpr("cast(value as string) as text")
    return _started(given, "copying", texts.writeStream.foreachBatch(written(given.folder / COPIES)))


def _started(given: Given, name: str, writer: object) -> StreamingQuery:
    checkpoint = str(given.folder / "checkpoint" / name)
    query: StreamingQuery = (
        writer.queryName(name).option("checkpointLocation", checkpoint)  # type: ignore[attr-defined]
        .trigger(processingTime="1 second").start()
    )  # fmt: skip
    return query
