"""What PSPS' tables on Spark share: trials of a job behind a spout, and the paper's metrics of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from penstock.load.trace import Trace
from penstock.model import Execution, Plan
from penstock.papers.psps.runs import Metrics, degradation
from penstock.papers.psps.spark.grouping import ReplicaGrouping
from penstock.papers.psps.spark.spout import SPOUT, behind_a_spout
from penstock.papers.spark.trial import Run, Trial
from penstock.runs.spark_workload import SHARE_OF_WORK, SparkWorkload
from penstock.testbed.service import Function

BATCH = 2.0
START_SECONDS = 15.0
SPOUT_MS = 0.01
"""What policies are told that the spout takes: it has one instance in any case."""


def after_a_calm(stream: Trace, seconds: float = START_SECONDS) -> Trace:
    """The stream, after so many seconds at its first rate: the replay does not wait until the job has started.

    >>> after_a_calm(Trace("ramp", (0.0, 10.0), (5.0, 50.0)), 3.0)
    Trace(name='ramp', times=(0.0, 3.0, 13.0), rates=(5.0, 5.0, 50.0))
    """
    times = (stream.times[0], *(t + seconds for t in stream.times))
    return Trace(stream.name, times, (stream.rates[0], *stream.rates))


def execution_ms(job: SparkWorkload) -> dict[str, float]:
    """Known from a benchmark, as in the paper. Operators that run sequentially take the time of all."""
    return dict.fromkeys(job.service_ms, sum(job.service_ms.values()) / SHARE_OF_WORK)


@dataclass(frozen=True)
class SpoutJob:
    """A job behind a spout, with a time-out and an interval, both in seconds.

    over_provisioned  replicas of each operator that carry the peak, against which resources are saved
    """

    job: SparkWorkload
    functions: Mapping[str, Function]
    timeout: float
    td: float
    over_provisioned: int

    def trial(
        self, label: str, policy: str = "psps", replicas: int = 1, grouped: bool = False, queue: int | None = None
    ) -> Trial:
        """A trial from so many replicas of each operator. One that is grouped has a grouping of its own, which follows
        the decisions of its loop. With `queue` so many events wait for each replica of the first operator when a batch
        begins, and the rest is dropped."""
        job, et = self.job, execution_ms(self.job)
        start = Plan({SPOUT: 1, **dict.fromkeys(job.service_ms, replicas)})
        grouping = ReplicaGrouping(et, self.td)
        grouping.begin(start)
        name = f"{job.name}_behind_a_spout"
        first = next(iter(self.functions))
        room = None if queue is None else lambda: queue * len(grouping.shares(first))
        pipeline = partial(behind_a_spout, name, self.functions, self.timeout, grouping if grouped else None, room=room)
        options = {"window_seconds": self.td, "execution_ms": {SPOUT: SPOUT_MS, **et}} if policy == "psps" else {}
        return Trial(
            label, replace(job, name=name, pipeline=pipeline, service_ms={SPOUT: 0.0, **job.service_ms}, start=start),
            after_a_calm(job.trace), job.slo, start, policy=policy, policy_options=options,
            execution=Execution.SEQUENTIAL, interval=f"{self.td:g} s", batch_seconds=BATCH,
            on_cycle=grouping.on_cycle,
        )  # fmt: skip

    def busiest(self, run: Run) -> float:
        """How many times the events of an even share one replica was sent in an interval, at most: Algorithm 1 again,
        over the cycles of a run that was grouped by it."""
        grouping, most = ReplicaGrouping(execution_ms(self.job), self.td), 1.0
        grouping.begin(run.trial.start)
        for cycle in run.cycles:
            grouping.on_cycle(cycle)
            shares = [grouping.shares(name) for name in self.functions]
            most = max(most, *(len(each) * max(each) for each in shares))
        return most

    def metrics(self, run: Run) -> Metrics:
        """The paper's metrics. An event that failed or was dropped at the spout was read, but not processed. Latency is
        the event latency, since no event of the paper waits outside of Storm."""
        result, samples = run.result, run.samples
        came = sum(sample.offered_rate * sample.seconds for sample in samples)
        spout = [sample.operators[SPOUT] for sample in samples]
        failed = sum((each.records_in or 0.0) - (each.records_out or 0.0) for each in spout)
        replicas = result.mean_parallelism - 1  # the spout is none
        return Metrics(
            saved=1.0 - replicas / (len(self.functions) * self.over_provisioned),
            degradation=degradation([cycle for cycle in run.cycles if cycle.samples]),
            processed=result.processed_ratio - failed / came,
            latency_ms=result.event_latency_ms.mean or 0.0,
        )
