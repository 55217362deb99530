"""Runs of AUTOSCALE's jobs under one scheduler, over several streams, and what the figures show of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from statistics import median

from penstock.model import Cycle, Plan, Sample, Topology
from penstock.papers.autoscale.workloads import five_step, three_step
from penstock.papers.catalogue import workload
from penstock.papers.runs import Runs, under
from penstock.papers.traces import latency_of, over_traces, per_minute, samples_of
from penstock.report.item import Chart

STREAMS = (0, 1, 2, 3, 4)
"""Seeds of the streams' small fluctuations, which are all that is random here; figures are medians over them."""

MINUTE = 60.0

SETTING = (
    "storm_default against autoscale (a measurement and a decision every 10 s, a window of 60 s, Table II's "
    f"parameters, CPU claims up to 1.5 times a machine), medians over streams seeded {', '.join(map(str, STREAMS))}"
)

OPTIONS = {"autoscale": {"cpu_overcommit": 1.5}}
"""The scheduler that the paper builds on takes CPU for a soft constraint and memory for a hard one.

How soft is derived from two of its figures: a whole advertising job, which claims 2.8 cores, ends on one machine of two
(1.4 times at least), and eight sinks of 0.8 cores take three of them, not two (less than 1.6 times). So how many
machines are in use in these figures is no finding.
"""
OVERCOMMIT = "how many times CPU may be claimed, from the machines in use in Fig. 9 and 12"


@dataclass(frozen=True)
class SchedulerRuns:
    """The runs of one scheduler on one job, one for each stream; figures are medians over them."""

    runs: Runs
    topology: Topology

    @property
    def processed(self) -> float:
        return median(result.processed_ratio for result in self.runs.results)

    @property
    def latency(self) -> float:
        return median(result.processing_latency_ms.mean or 0.0 for result in self.runs.results)

    @property
    def usual_latency(self) -> float:
        """The median over time, as a curve shows it: half of all measurements lie above."""
        return median(median(map(latency_of, samples_of(run))) for run in self.runs.cycles)

    @property
    def cores(self) -> float:
        return self._claimed("cpu_cores")

    @property
    def memory(self) -> float:
        return self._claimed("memory_mb")

    def _claimed(self, resource: str) -> float:
        return median(claimed(samples_of(run), self.topology, resource) for run in self.runs.cycles)

    @property
    def samples(self) -> list[Sample]:
        """All measurements of all runs."""
        return [sample for run in self.runs.cycles for sample in samples_of(run)]

    def dephased(self, since: float = 0.0, until: float = math.inf) -> float:
        """Items that timed out in that time and had to be sent again."""
        return median(
            sum(s.dropped or 0.0 for s in samples_of(run) if since <= s.t < until) for run in self.runs.cycles
        )

    @property
    def dephased_in_the_last_minute(self) -> float:
        return self.dephased(self.runs.results[0].seconds - MINUTE)

    @property
    def congested(self) -> bool:
        return self.processed < 0.99 and self.dephased_in_the_last_minute > 0

    @property
    def state(self) -> str:
        return "congested" if self.congested else "keeps up"

    def most(self, name: str) -> int:
        """The highest degree that an operator had."""
        return max(sample.operators[name].parallelism for sample in self.samples)


def claimed(samples: Sequence[Sample], topology: Topology, resource: str) -> float:
    """Cores (`cpu_cores`) or memory (`memory_mb`) that the instances in force claim, averaged over time."""
    claim = {operator.name: getattr(operator, resource) for operator in topology.operators}
    total = sum(s.seconds * sum(claim[name] * o.parallelism for name, o in s.operators.items()) for s in samples)
    return float(total / sum(sample.seconds for sample in samples))


@cache
def seen(name: str, policy: str, *, expert: bool = False, slow: int | None = None, pause: bool = True) -> SchedulerRuns:
    """Run a job from minimal or, with `expert`, from expert degrees: the paper's ConfMin and ConfExpt.

    With `slow`, every slow operator begins with that degree. Without `pause` a change does not interrupt the job, which
    shows what the pause costs that we chose.
    """
    chosen = workload(name)
    job = chosen.job
    if not pause:
        chosen = under(chosen, engine=replace(job.engine, downtime_seconds=0.0))
    stream = five_step if name == "linear_peaks" else three_step
    start = job.over_provisioned if expert else None
    if slow is not None:
        start = Plan({o.name: slow if o.cpu_cores > 0.5 else 1 for o in job.topology.operators})
    return SchedulerRuns(
        over_traces(chosen, map(stream, STREAMS), policy, OPTIONS.get(policy), start=start), job.topology
    )


def less(ours: float, reference: float) -> float:
    """How much lower ours is than the reference, in percent."""
    return 100.0 * (1.0 - ours / reference)


def supervisors(cycle: Cycle) -> tuple[int, int]:
    """Workers in use before and after a cycle."""
    before, after = cycle.before.placement or {}, cycle.decision.plan.placement or {}
    return len({w for places in before.values() for w in places}), len({w for places in after.values() for w in places})


def charts(figure: str, storm: SchedulerRuns, autoscale: SchedulerRuns, slow: str) -> tuple[Chart, ...]:
    """Throughput, latency, dephased items and degree over time, for the first of the streams."""
    ours, theirs = (samples_of(each.runs.cycles[0]) for each in (autoscale, storm))
    both = (("Storm", theirs), ("AUTOSCALE", ours))
    offered = per_minute("input", ours, [sample.offered_rate for sample in ours])
    done = (per_minute(label, samples, [s.throughput or 0.0 for s in samples]) for label, samples in both)
    latencies = (per_minute(label, samples, [latency_of(s) for s in samples]) for label, samples in both)
    dephased = (per_minute(label, samples, [s.dropped or 0.0 for s in samples]) for label, samples in both)
    degrees = (per_minute(label, ss, [float(s.operators[slow].parallelism) for s in ss]) for label, ss in both)
    return (
        Chart(f"{figure}: throughput", "min", "items/s", (offered, *done)),
        Chart(f"{figure}: latency", "min", "ms", tuple(latencies)),
        Chart(f"{figure}: dephased items", "min", "items a measurement", tuple(dephased)),
        Chart(f"{figure}: degree of {slow}", "min", "instances", tuple(degrees)),
    )
