"""Turns finished micro-batches into the samples that the loop reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

import numpy as np

from penstock.model import Batch, Latency, OperatorSample, Plan, Sample
from penstock.model.topology import Topology
from penstock.spark.microbatch.attribution import OperatorWork

QUANTILES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""At these quantiles the times of creation in a batch are kept: denser where records are oldest, as latency is read off
there."""


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """One finished micro-batch.

    began, ended     Unix seconds between which its operators ran
    plan             the plan under which it ran
    records          source records in it
    warm_up          whether it is one of the first after a change
    trigger_seconds  seconds from its trigger to its commit, as Spark reports; None: those between `began` and `ended`
    created          its records' times of creation at `QUANTILES`, Unix seconds; None: not measured
    mean_created     their mean
    work             what each operator did; None: not measured
    """

    began: float
    ended: float
    plan: Plan
    records: float
    warm_up: bool = False
    trigger_seconds: float | None = None
    created: tuple[float, ...] | None = None
    mean_created: float | None = None
    work: Mapping[str, OperatorWork] | None = None

    @property
    def seconds(self) -> float:
        return self.ended - self.began


def samples(
    topology: Topology,
    batches: Sequence[MicroBatch],
    since: float,
    input_rate: float | None,
    backlog: float | None,
    executors: int | None = None,
) -> list[Sample]:
    """One sample for each row of batches under one plan, apart from those that warmed up.

    The first sample begins at `since`, where the last one ended.
    """
    made = []
    for (plan, warm_up), run in groupby(batches, key=lambda batch: (batch.plan, batch.warm_up)):
        some = list(run)
        made.append(_sample(topology, some, plan, warm_up, since, input_rate, backlog, executors))
        since = some[-1].ended
    return made


def _sample(
    topology: Topology, batches: Sequence[MicroBatch], plan: Plan, warm_up: bool,
    since: float, input_rate: float | None, backlog: float | None, executors: int | None,
) -> Sample:  # fmt: skip
    seconds = max(1e-3, batches[-1].ended - since)
    records = sum(batch.records for batch in batches)
    measured = [batch for batch in batches if batch.work is not None]
    seen = sum(batch.records for batch in measured)
    scale = records / seen if seen else 0.0
    return Sample(
        t=since,
        seconds=seconds,
        operators={name: _operator(name, measured, plan[name], scale) for name in topology.names},
        input_rate=input_rate,
        throughput=records / seconds,
        backlog=backlog,
        processing_latency_ms=_latency((batch.seconds, batch.records, batch.seconds) for batch in batches),
        event_latency_ms=_event_latency(batches),
        executors=executors,
        batches=() if warm_up else tuple(_measured_batch(batch) for batch in measured),
        warm_up=warm_up,
    )


def _measured_batch(batch: MicroBatch) -> Batch:
    works = (batch.work or {}).values()
    useful, stages = _total(work.useful_seconds for work in works), _total(work.stage_seconds for work in works)
    seconds = batch.seconds if batch.trigger_seconds is None else batch.trigger_seconds
    return Batch(batch.records, seconds, useful or 0.0, stages or 0.0)


def _operator(name: str, measured: Sequence[MicroBatch], parallelism: int, scale: float) -> OperatorSample:
    """What the measured batches show, scaled to all batches."""
    works = [batch.work[name] for batch in measured if batch.work is not None and name in batch.work]
    stage_seconds = _total(work.stage_seconds for work in works)
    return OperatorSample(
        parallelism,
        records_in=_scaled(scale, (work.records_in for work in works)),
        records_out=_scaled(scale, (work.records_out for work in works)),
        useful_seconds=_scaled(scale, (work.useful_seconds for work in works)),
        latency_ms=None if stage_seconds is None else 1e3 * stage_seconds / len(works),
        instance_rates=next((work.instance_rates for work in reversed(works) if work.instance_rates), None),
        queue=0.0,  # a batch ends when the last operator has taken all that the first one was given
    )


def _scaled(scale: float, figures: Iterable[float | None]) -> float | None:
    total = _total(figures)
    return None if total is None else scale * total


def _total(figures: Iterable[float | None]) -> float | None:
    known = [figure for figure in figures if figure is not None]
    return sum(known) if known else None


def _event_latency(batches: Sequence[MicroBatch]) -> Latency | None:
    """All records of a batch leave when it ends: each is as late as it is old then."""
    rows = []
    for batch in batches:
        if batch.created is None or batch.mean_created is None:
            continue
        ages = [batch.ended - created for created in batch.created]
        rows += [(age, weight * batch.records, batch.ended - batch.mean_created) for age, weight in zip(
            ages, _WEIGHTS, strict=True)]  # fmt: skip
    return _latency(rows)


def _latency(rows: Iterable[tuple[float, float, float]]) -> Latency | None:
    """The distribution of rows, each with its seconds, its weight, and the mean of the group that it stands for."""
    table = np.array(sorted(rows))
    if not len(table) or not table[:, 1].sum():
        return None
    seconds, weights, means = table.T
    reached = np.cumsum(weights) / weights.sum()

    def at(share: float) -> float:
        return max(0.0, 1e3 * float(seconds[min(len(seconds) - 1, np.searchsorted(reached, share))]))

    mean = max(0.0, 1e3 * float(np.average(means, weights=weights)))
    return Latency(mean=mean, p50=at(0.50), p95=at(0.95), p99=at(0.99))


def _weights() -> tuple[float, ...]:
    """The share of records that each quantile stands for: half the way to its neighbours on either side."""
    edges = [0.0, *((a + b) / 2 for a, b in pairwise(QUANTILES)), 1.0]
    return tuple(b - a for a, b in pairwise(edges))


_WEIGHTS = _weights()
