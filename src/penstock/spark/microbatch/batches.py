"""Turns finished micro-batches into the samples that the loop reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

import numpy as np

from penstock.model import Latency, OperatorSample, Plan, Sample
from penstock.model.topology import Topology
from penstock.spark.microbatch.attribution import Work

QUANTILES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Of the times of creation in a batch. Denser where records are oldest, as that is where latency is read off."""

LEAST_SHARE_OF_WORK = 0.1


@dataclass(frozen=True, slots=True)
class Batch:
    """One micro-batch, after the fact.

    began, ended  seconds on the wall clock
    plan          under which it ran
    warm_up       whether it is one of the first after a change
    records       source records in it
    created       its records' times of creation at `QUANTILES`, seconds; None: not looked at
    mean_created  their mean
    work          of each operator, where the stages were read
    """

    began: float
    ended: float
    plan: Plan
    records: int
    warm_up: bool = False
    created: tuple[float, ...] | None = None
    mean_created: float | None = None
    work: Mapping[str, Work] | None = None

    @property
    def seconds(self) -> float:
        return self.ended - self.began


def samples(
    topology: Topology, batches: Sequence[Batch], since: float, input_rate: float | None, backlog: float | None
) -> list[Sample]:
    """One sample for each run of batches under one plan; those that warmed up apart. `since`: the last sample's end."""
    made = []
    for (plan, warm_up), run in groupby(batches, key=lambda batch: (batch.plan, batch.warm_up)):
        some = list(run)
        made.append(_sample(topology, some, plan, warm_up, since, input_rate, backlog))
        since = some[-1].ended
    return made


def _sample(
    topology: Topology, batches: Sequence[Batch], plan: Plan, warm_up: bool,
    since: float, input_rate: float | None, backlog: float | None,
) -> Sample:  # fmt: skip
    seconds = max(1e-3, batches[-1].ended - since)
    records = sum(batch.records for batch in batches)
    measured = [batch for batch in batches if batch.work is not None]
    seen = sum(batch.records for batch in measured)
    scale = records / seen if seen else 0.0
    useful = told_useful_seconds(measured, scale, seconds)
    return Sample(
        t=since,
        seconds=seconds,
        operators={name: _operator(name, measured, plan[name], scale, useful) for name in topology.names},
        input_rate=input_rate,
        throughput=records / seconds,
        backlog=backlog,
        processing_latency_ms=_latency((batch.seconds, batch.records, batch.seconds) for batch in batches),
        event_latency_ms=_event_latency(batches),
        warm_up=warm_up,
    )


def told_useful_seconds(measured: Sequence[Batch], scale: float, seconds: float) -> float | None:
    """What every operator is told, as operators in turn share the window: the useful time of all of them, made larger
    by the share of the window that goes to what a batch costs besides (planning, reading, committing)."""
    if not measured or not scale:
        return None
    works = [work for batch in measured for work in (batch.work or {}).values()]
    useful = sum(work.useful_seconds or 0.0 for work in works)
    held_up = sum(work.shared_seconds or 0.0 for work in works)
    besides = max(0.0, sum(batch.seconds for batch in measured) - held_up)
    share_of_work = max(LEAST_SHARE_OF_WORK, 1.0 - scale * besides / seconds)
    return scale * useful / share_of_work


def _operator(name: str, measured: Sequence[Batch], k: int, scale: float, useful: float | None) -> OperatorSample:
    works = [batch.work[name] for batch in measured if batch.work is not None and name in batch.work]
    records_in, records_out = _total(w.records_in for w in works), _total(w.records_out for w in works)
    held_up = _total(w.shared_seconds for w in works)
    return OperatorSample(
        parallelism=k,
        records_in=None if records_in is None else scale * records_in,
        records_out=None if records_out is None else scale * records_out,
        useful_seconds=useful,
        latency_ms=1e3 * held_up / len(works) if held_up is not None else None,
        queue=0.0,  # a batch ends when the last operator has taken all that the first one was given
    )


def _total(figures: Iterable[float | None]) -> float | None:
    known = [figure for figure in figures if figure is not None]
    return sum(known) if known else None


def _event_latency(batches: Sequence[Batch]) -> Latency | None:
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
    """Of seconds, weights and means of the group that each row stands for."""
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
