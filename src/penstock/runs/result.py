"""What a run came to: the figures that policies are compared by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from penstock.model import Latency
from penstock.simulator.cluster import SimulatedCluster


@dataclass(frozen=True, slots=True)
class Result:
    """One simulated run. The fields are those of `penstock simulate --json`.

    policy                  who decided
    workload                the job
    trace                   the load curve
    seed                    of all that was random
    seconds                 seconds that were simulated
    violation_ratio         part of all seconds in which a target was missed
    core_seconds            slots that the engine reserved, times the seconds that it did
    mean_parallelism        instances of all operators together, averaged over time
    rescales                changes of plan that the job went through
    processed_ratio         records that came out for those that went in
    throughput_degradation  |in - out| / in, second by second
    saved_resources         1 - mean parallelism / parallelism of the over-provisioned plan
    lost_records            records that no one will ever process: a full queue, a time-out, a lossy restart
    processing_latency_ms   milliseconds from entering the job to leaving it
    event_latency_ms        milliseconds from a record's creation to its leaving the job
    decision_ms             milliseconds of wall-clock time that one decision took
    """

    policy: str
    workload: str
    trace: str
    seed: int
    seconds: float
    violation_ratio: float
    core_seconds: float
    mean_parallelism: float
    rescales: int
    processed_ratio: float
    throughput_degradation: float
    saved_resources: float
    lost_records: int
    processing_latency_ms: Latency
    event_latency_ms: Latency
    decision_ms: Latency

    def to_json(self) -> dict[str, Any]:
        figures = asdict(self)
        del figures["decision_ms"]["mean"], figures["decision_ms"]["p95"]
        return figures


def result_of(cluster: SimulatedCluster, *, policy: str, seed: int, decision_ms: Sequence[float]) -> Result:
    """Sum up a cluster that has run."""
    total = cluster.total
    seconds, violated, off, offered = total.seconds.tolist()
    processing, event = cluster.latencies()
    mean_parallelism = cluster.instance_seconds / seconds if seconds else 0.0
    completed = float(total.left[0]) / cluster.leaf_visits
    return Result(
        policy=policy,
        workload=cluster.job.name,
        trace=cluster.trace.name,
        seed=seed,
        seconds=seconds,
        violation_ratio=violated / seconds if seconds else 0.0,
        core_seconds=cluster.core_seconds,
        mean_parallelism=mean_parallelism,
        rescales=cluster.rescales,
        processed_ratio=completed / offered if offered else 1.0,
        throughput_degradation=off / offered if offered else 0.0,
        saved_resources=1.0 - mean_parallelism / cluster.job.largest_plan.total,
        lost_records=int(total.dropped.sum()) if not cluster.replays else 0,
        processing_latency_ms=processing or Latency(),
        event_latency_ms=event or Latency(),
        decision_ms=percentiles(decision_ms),
    )


def percentiles(values: Sequence[float]) -> Latency:
    if not values:
        return Latency()
    p50, p95, p99 = np.percentile(values, [50, 95, 99]).tolist()
    return Latency(mean=float(np.mean(values)), p50=p50, p95=p95, p99=p99)
