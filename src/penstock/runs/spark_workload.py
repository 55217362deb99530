"""A workload as Spark runs it: a generator of records, and operators from DataFrame to DataFrame.

It is the workload of the same name, scaled down to what a laptop carries: an operator waits for its service time
instead of computing, as one that calls a service does, so that many instances find room on few cores, and the
instances of a plan relate to each other as in the simulated job.

Two things differ from the simulated ones, because both of Spark's engines must run them. An operator sends all of its
output to each operator behind it: where the paper splits a stream, the ones behind drop what is not theirs. And none
keeps state from record to record, since real time could not rescale it: what counts emits increments.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from penstock.load.trace import Trace
from penstock.model import Execution, FrozenMap, Plan, Slo
from penstock.runs.workload import Workload
from penstock.spark.io.endpoints import Sink, Source
from penstock.spark.io.replayed import Values
from penstock.spark.pipeline import Pipeline

SHARE_OF_WORK = 0.6
"""The share of a micro-batch that goes to records, measured with batches of a second on two cores."""


class MakesPipeline(Protocol):
    def __call__(self, source: Source, sink: Sink, most: int = ...) -> Pipeline:
        """The operators between two ends; none may have more than `most` instances."""


@dataclass(frozen=True)
class SparkWorkload:
    """A workload that Spark can run.

    name        that of the workload
    pipeline    makes the job
    values      its records, by number: the same for the same number, always
    service_ms  milliseconds that an instance of each operator takes for a record
    trace, slo  load and target on this scale
    start       the plan that runs of it begin with
    visits      records that reach an operator for each one of the source, where that is not one
    """

    name: str
    pipeline: MakesPipeline
    values: Values
    service_ms: Mapping[str, float]
    trace: Trace
    slo: Slo
    start: Plan
    visits: Mapping[str, float] = field(default_factory=FrozenMap)

    def busy(self, rate: float) -> dict[str, float]:
        """How many instances of each operator are busy at a rate of source records."""
        return {name: rate * self.visits.get(name, 1.0) * ms / 1e3 for name, ms in self.service_ms.items()}

    def sized_for(self, rate: float, execution: Execution, busy: float = 0.5, chaining: bool = False) -> Plan:
        """What someone who sizes by hand would choose: no instance more than so busy at this rate.

        Operators that run sequentially share the slots, and a good part of each batch goes to planning and committing.
        With `chaining` concurrent ones share their instances.
        """
        load = {name: instances / busy for name, instances in self.busy(rate).items()}
        if execution is Execution.SEQUENTIAL:
            return Plan(dict.fromkeys(load, math.ceil(sum(load.values()) / SHARE_OF_WORK)))
        if chaining:
            return Plan(dict.fromkeys(load, max(1, math.ceil(sum(load.values())))))
        return Plan({name: max(1, math.ceil(share)) for name, share in load.items()})


def scaled_down(
    simulated: Workload,
    pipeline: MakesPipeline,
    values: Values,
    service_ms: Mapping[str, float],
    *,
    seconds: float,
    peak: float,
    visits: Mapping[str, float] | None = None,
) -> SparkWorkload:
    """A simulated workload on Spark: its load compressed to `seconds`, with at most `peak` records a second.

    The papers' targets were for clusters. Two seconds leave room for what a change of plan costs on a laptop.
    """
    return SparkWorkload(
        name=simulated.name,
        pipeline=pipeline,
        values=values,
        service_ms=FrozenMap(service_ms),
        trace=simulated.trace.compressed(simulated.trace.seconds / seconds).scaled(peak),
        slo=Slo(event_latency="2 s"),
        start=Plan(dict.fromkeys(service_ms, 1)),
        visits=FrozenMap(visits),
    )


def under_load(load: Workload, job: SparkWorkload, seconds: float) -> SparkWorkload:
    """A job under the load of another workload, compressed to `seconds` and as high as the job's own."""

    def pipeline(source: Source, sink: Sink, most: int | None = None) -> Pipeline:
        made = job.pipeline(source, sink) if most is None else job.pipeline(source, sink, most=most)
        made.name = load.name
        return made

    trace = load.trace.compressed(load.trace.seconds / seconds)
    return replace(job, name=load.name, pipeline=pipeline, trace=trace.scaled(job.trace.peak))
