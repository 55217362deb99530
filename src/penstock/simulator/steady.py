"""What a plan comes to at a constant rate: the simulator's own capacity and latency, in its steady state.

The two inner loops approach these figures when rate and service times stay as they are. Nothing here is a policy's
model: demand and oracle rest on it, so that policies are measured against what the simulated job really needs.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from penstock.model import Execution, Plan, Slo
from penstock.simulator.arrays import KEYED, REPLAY, Floats, Layout, Network, State, layout_of, network_of, zeros
from penstock.simulator.compiled import compiled
from penstock.simulator.concurrent import steady_wait
from penstock.simulator.job import Job
from penstock.simulator.latency import targets_of
from penstock.simulator.sequential import seconds_a_batch, seconds_a_record

CLOSE_ENOUGH = 1e-4
"""The highest rate of a plan is found to this part of it."""


class Excess(NamedTuple):
    """By how much a plan misses what is asked of it; zeros mean that every target holds.

    overload  parts of their capacity that operators and workers are short of, summed
    lateness  parts of their targets by which latencies exceed them, summed
    """

    overload: float
    lateness: float


class SteadyState:
    """The steady state of one job under any plan and rate."""

    def __init__(self, job: Job, slo: Slo) -> None:
        self.job = job
        self._slo = slo
        self._network = network_of(job)
        self._targets = targets_of(slo)
        self._calm = zeros(State, self._network)
        n, w = len(self._network.service), len(self._network.cores)
        self._flow, self._ages, self._used = np.zeros(n), np.zeros((n, 2)), np.zeros(w)
        self._layouts: dict[tuple[int, ...], Layout] = {}

    def excess(self, plan: Plan, rate: float) -> Excess:
        layout = self._layout(plan)
        if self.job.engine.execution is Execution.SEQUENTIAL:
            return Excess(*_sequential(self._network, layout, self._calm, rate, self._targets))
        scratch = self._flow, self._ages, self._used
        return Excess(*_concurrent(self._network, layout, rate, self._targets, *scratch))

    @cached_property
    def apart(self) -> SteadyState:
        """The same job with instances of its own for every operator."""
        return SteadyState(replace(self.job, topology=self.job.topology.apart), self._slo)

    def slots(self, plan: Plan) -> int:
        return self.job.engine.execution.slots(plan, self.job.topology)

    def holds(self, plan: Plan, rate: float) -> bool:
        """Whether the job keeps up and every target holds."""
        return self.excess(plan, rate) == (0.0, 0.0)

    def highest_rate(self, plan: Plan, up_to: float) -> float | None:
        """The highest rate at which every target holds, at most `up_to`; None if they hold at none."""
        if not self.holds(plan, 0.0):
            return None
        low, high = 0.0, up_to
        if self.holds(plan, high):
            return high
        while high - low > CLOSE_ENOUGH * high:
            middle = (low + high) / 2
            low, high = (middle, high) if self.holds(plan, middle) else (low, middle)
        return low

    def _layout(self, plan: Plan) -> Layout:
        key = tuple(plan.parallelism.values())
        if key not in self._layouts:
            self._layouts[key] = layout_of(self.job, self.job.placed(plan), self._network)
        return self._layouts[key]


@compiled
def _concurrent(
    network: Network, layout: Layout, rate: float, targets: Floats, flow: Floats, ages: Floats, used: Floats
) -> tuple[float, float]:
    """Overload and lateness of operators that run concurrently; the last three arrays hold intermediate results.

    flow  records a second that reach an operator
    ages  mean age of a record on arrival, seconds: inside the job, and its random part
    used  cores that instances at work use of each worker
    """
    overload, lateness = 0.0, 0.0
    flow[:] = 0.0
    ages[:] = 0.0
    used[:] = 0.0
    for root in network.root:
        flow[root] += rate
        ages[root, 0] += rate * layout.entry[root]
    for i in range(len(flow)):
        k = layout.parallelism[i]
        service = network.service[i] * (1.0 + network.coordination[i] * (k - 1))
        seconds = max(service / layout.share[i], k / network.rate_cap[i])
        most = layout.weight[i, 0] if network.grouping[i] == KEYED else 1.0 / k
        overload += max(0.0, flow[i] * most * seconds - 1.0)
        for j in range(k):
            if layout.worker[i, j] >= 0:
                share = layout.weight[i, j] if network.grouping[i] == KEYED else 1.0 / k
                used[layout.worker[i, j]] += network.cpu[i] * min(1.0, flow[i] * share * seconds) * layout.share[i]
        wait, _ = steady_wait(k, flow[i], service / layout.share[i], network.grouping[i], layout.weight[i])
        wait *= 0.0 if layout.follows[i] else network.variability[i]
        if network.overflow != REPLAY:
            wait = min(wait, network.queue_records * service / layout.share[i])
        if flow[i] > 0.0:
            ages[i, 0] /= flow[i]
            ages[i, 1] /= flow[i]
        inside, random = ages[i, 0] + wait + service, ages[i, 1] + wait + service
        if network.first_out[i] == network.first_out[i + 1]:
            figure = inside + random * (targets[3] - 1.0)
            lateness += max(0.0, figure / min(targets[0], targets[1]) - 1.0)
        for edge in range(network.first_out[i], network.first_out[i + 1]):
            child = network.edge_child[edge]
            sent = flow[i] * network.edge_selectivity[edge]
            channels = k * layout.parallelism[child] - max(k, layout.parallelism[child])
            hop = network.hop[child] + network.channel[child] * channels + layout.remote[edge] * network.network_delay
            hop = 0.0 if layout.follows[child] else hop
            flow[child] += sent
            ages[child, 0] += sent * (inside + hop)
            ages[child, 1] += sent * random
    for w in range(len(used)):
        overload += max(0.0, used[w] / network.cores[w] - 1.0)
    return overload, lateness


@compiled
def _sequential(network: Network, layout: Layout, calm: State, rate: float, targets: Floats) -> tuple[float, float]:
    """Overload and lateness of micro-batches that each take what came since the last one."""
    work = 0.0  # seconds that a batch takes for each second of input
    for i in range(len(network.service)):
        work += len(network.root) * rate * network.visits[i] * seconds_a_record(network, layout, calm, i)
    every, fixed = network.batch_seconds, seconds_a_batch(network, layout)
    if fixed + work * every > every:  # the next batch starts when this one ends
        if work >= 1.0:
            return work - 1.0 + 1e-9, 0.0
        every = fixed / (1.0 - work)
    duration = fixed + work * every
    late = max(0.0, duration / targets[0] - 1.0)
    late += max(0.0, (duration + every / 2.0 * min(targets[3], 2.0)) / targets[1] - 1.0)
    behind = max(0.0, every / (targets[2] + network.batch_seconds) - 1.0)
    return behind, late
