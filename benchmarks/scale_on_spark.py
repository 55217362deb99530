"""What a driver pays to read its own status store: with executors up to 10,000, and with stages, tasks and jobs kept.

The store is that of a real Spark, on `local[2]`. Executors are told to it by the events that a cluster would send; jobs
are run. Milliseconds are time on the clock: they are spent in the gateway between Python and the JVM.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from penstock.spark.executors.core_seconds import lifetimes
from penstock.spark.measure.stages import StageReader
from penstock.spark.measure.status_json import StatusJson
from penstock.testbed.session import local_session

EXECUTORS = (10, 100, 1_000, 10_000)
TASKS = (10, 100, 1_000, 10_000)
JOBS = (10, 100, 500)
ROUNDS = 3
FIELDS = ("id", "maxTasks", "activeTasks", "rddBlocks", "totalTasks")


@dataclass(frozen=True)
class Growth:
    what: str
    of: str
    count: int
    ms: float
    exponent: float | None


def rows() -> Iterator[Growth]:
    spark = local_session("local[2]", settings={"spark.ui.retainedStages": "2000", "spark.ui.retainedJobs": "2000"})
    try:
        yield from _stages(spark)
        yield from _executors(spark)
    finally:
        spark.stop()


def _executors(spark: Any) -> Iterator[Growth]:
    scala, jvm, there = spark.sparkContext._jsc.sc(), spark.sparkContext._jvm, 0
    reader, found = StatusJson(spark.sparkContext), {}
    for count in EXECUTORS:
        _add_executors(scala, jvm, there, count)
        there = count

        def figure_by_figure() -> list[list[Any]]:
            known = scala.statusStore().executorList(True)
            return [[getattr(known.apply(i), name)() for name in FIELDS] for i in range(known.size())]

        def one_by_one(count: int = count) -> None:
            asks = scala.isStopped
            for _ in range(count):
                asks()

        if count <= 1_000:
            found["the list of executors, figure by figure (as before)", count] = _ms(figure_by_figure)
        found["the list of executors, in one call", count] = _ms(
            lambda: reader.read(scala.statusStore().executorList(True))
        )
        found["one question for each executor: is it active?", count] = _ms(one_by_one)
        found["what executors have cost", count] = _ms(
            lambda: lifetimes(reader.read(scala.statusStore().executorList(False)))
        )
    yield from _grown(found, "executors")


def _add_executors(scala: Any, jvm: Any, begin: int, end: int) -> None:
    nothing, now = jvm.PythonUtils.toScalaMap({}), round(1e3 * time.time())
    for number in range(begin, end):
        info = jvm.org.apache.spark.scheduler.cluster.ExecutorInfo("host", 4, nothing)
        scala.listenerBus().post(jvm.org.apache.spark.scheduler.SparkListenerExecutorAdded(now, f"1{number:06d}", info))
        if number % 1_000 == 999:
            scala.listenerBus().waitUntilEmpty(60_000)
    scala.listenerBus().waitUntilEmpty(60_000)


def _stages(spark: Any) -> Iterator[Growth]:
    reader, found = StageReader(spark.sparkContext), {}
    for tasks in TASKS:
        jobs = _run(spark, reader, tasks)
        found["a job of two stages", tasks] = _ms(partial(reader.of_jobs, jobs))
    yield from _grown(found, "tasks of a stage")
    found, done = {}, len(TASKS)
    for kept in JOBS:
        while done < kept:
            jobs, done = _run(spark, reader, 2), done + 1
        found["the newest job of two stages", kept] = _ms(partial(reader.of_jobs, jobs))
    yield from _grown(found, "jobs kept by Spark")


def _run(spark: Any, reader: StageReader, tasks: int) -> Any:
    with reader.tagged("scale") as found:
        spark.range(tasks).repartition(tasks).write.format("noop").mode("overwrite").save()
    return found[0]


def _ms(work: Callable[[], Any]) -> float:
    """The least of some rounds: others are disturbed."""
    best = math.inf
    for _ in range(ROUNDS):
        began = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - began)
    return 1e3 * best


def _grown(found: dict[tuple[str, int], float], of: str) -> Iterator[Growth]:
    for what in dict.fromkeys(what for what, _ in found):
        counts: Sequence[int] = [count for name, count in found if name == what]
        for number, count in enumerate(counts):
            ms, exponent = found[what, count], None
            if number:
                before = counts[number - 1]
                exponent = round(math.log(ms / found[what, before]) / math.log(count / before), 2)
            yield Growth(what, of, count, round(ms, 2), exponent)
