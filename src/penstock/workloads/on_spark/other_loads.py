"""Jobs that are on Spark already, under the loads of the papers' other workloads."""

from __future__ import annotations

from dataclasses import replace

from penstock.spark.ends.endpoints import Sink, Source
from penstock.spark.pipeline import Pipeline
from penstock.workloads import Workload
from penstock.workloads.autoscale import LINEAR_PEAKS
from penstock.workloads.on_spark import OnSpark
from penstock.workloads.on_spark.linear import JOBS as LINE
from penstock.workloads.on_spark.twitter import JOBS as TWITTER
from penstock.workloads.psps import RAW


def _under(load: Workload, job: OnSpark, seconds: float) -> OnSpark:
    """The same job under the other stream within so many seconds, as high as the job's own."""

    def pipeline(source: Source, sink: Sink, most: int = 12) -> Pipeline:
        made = job.pipeline(source, sink, most=most)
        made.name = load.name
        return made

    trace = load.trace.compressed(load.trace.seconds / seconds)
    return replace(job, name=load.name, pipeline=pipeline, trace=trace.scaled(job.trace.peak))


JOBS = (_under(LINEAR_PEAKS, LINE[0], 90.0), _under(RAW, TWITTER[0], 110.0))
