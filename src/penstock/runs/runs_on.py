"""On what each workload runs. Known without Spark: `penstock.papers.spark.job` is not imported to tell."""

from __future__ import annotations

from enum import StrEnum


class RunsOn(StrEnum):
    SIMULATOR = "simulator"
    MICROBATCH = "microbatch"
    REALTIME = "realtime"
    NATIVE = "native"  # as a query of Spark's own with state, given to `penstock.spark.NativeQuery`


PIPELINES = frozenset({
    "advertising", "clicks", "diamond", "dns", "dp_top_n", "dp_wordcount", "linear", "linear_peaks", "star", "twitter",
    "twitter_complex", "twitter_raw", "wordcount", "yahoo", "yahoo_open_store",
})  # fmt: skip
"""Those of `penstock.workloads.on_spark.jobs()`: all of their operators are native and keep no state."""

QUERIES = frozenset({"nexmark_q5", "nexmark_q11"})
"""Windows over event time keep state, which Spark rescales within a query of its own only."""


def runs_on(name: str) -> tuple[RunsOn, ...]:
    """
    >>> [place.value for place in runs_on("clicks")], [place.value for place in runs_on("nexmark_q5")]
    (['simulator', 'microbatch', 'realtime'], ['simulator', 'native'])
    """
    if name in PIPELINES:
        return (RunsOn.SIMULATOR, RunsOn.MICROBATCH, RunsOn.REALTIME)
    return (RunsOn.SIMULATOR, RunsOn.NATIVE) if name in QUERIES else (RunsOn.SIMULATOR,)


def told(name: str) -> str:
    """The same in words.

    >>> told("clicks")
    'the simulator, Spark in micro-batches and in real time'
    """
    places = runs_on(name)
    if RunsOn.MICROBATCH in places:
        return "the simulator, Spark in micro-batches and in real time"
    if RunsOn.NATIVE in places:
        return "the simulator, Spark as a native query (it keeps state, which neither engine of pipelines can rescale)"
    return "the simulator"
