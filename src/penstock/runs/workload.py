"""A job with the target and the load that it is tried with, and on what it runs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from penstock.load.trace import Trace
from penstock.model import Slo
from penstock.simulator.job import Job


class RunsOn(StrEnum):
    SIMULATOR = "simulator"
    MICROBATCH = "microbatch"
    REALTIME = "realtime"
    NATIVE = "native"  # as a query of Spark's own with state, given to `penstock.spark.NativeQuery`


ALSO_A_PIPELINE = (RunsOn.SIMULATOR, RunsOn.MICROBATCH, RunsOn.REALTIME)
"""For a job that there is as a pipeline on Spark too, as a `penstock.runs.spark_workload.SparkWorkload`."""


@dataclass(frozen=True)
class Workload:
    """A job with the target and the load that it is usually tried with.

    `runs_on` is declared, not looked up: a listing must not have to import Spark.
    """

    job: Job
    slo: Slo
    trace: Trace
    summary: str
    source: str
    runs_on: tuple[RunsOn, ...] = (RunsOn.SIMULATOR,)

    @property
    def name(self) -> str:
        return self.job.name

    @property
    def where_it_runs(self) -> str:
        """`runs_on` in words."""
        if RunsOn.MICROBATCH in self.runs_on:
            return "the simulator, Spark in micro-batches and in real time"
        if RunsOn.NATIVE in self.runs_on:
            return (
                "the simulator, Spark as a native query (it keeps state, which neither engine of pipelines can rescale)"
            )
        return "the simulator"
