"""The simulated cluster. It has the same ports as Spark, so that policies run on either without a change."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from penstock.load.trace import Trace
from penstock.model import Batch, Execution, Latency, OperatorSample, Plan, Sample, Slo
from penstock.performance.placement import round_robin
from penstock.simulator import concurrent, sequential
from penstock.simulator.arrays import (
    Arrays,
    Floats,
    Ints,
    Layout,
    Scratch,
    State,
    Tally,
    add,
    clear,
    layout_of,
    network_of,
    zeros,
)
from penstock.simulator.backlog import push
from penstock.simulator.job import Change, Job, Overflow
from penstock.simulator.latency import OF_MEAN, summarise


class SimulatedCluster:
    """Runs one job under one load. It is monitor, actuator and clock in one: time passes when `advance` is called."""

    def __init__(
        self,
        job: Job,
        trace: Trace,
        slo: Slo,
        *,
        seed: int = 0,
        step_seconds: float = 1.0,
        measure_seconds: float = 60.0,
        change: Change | None = None,
        backlog: int = 0,
    ) -> None:
        """`backlog` records wait in each source from the beginning; they count as created then, not as offered."""
        self.job = job
        self.trace = trace
        self.step_seconds = step_seconds
        self.measure_seconds = measure_seconds
        self.change = change or job.engine.change
        self.core_seconds = 0.0
        self.instance_seconds = 0.0
        self.rescales = 0
        self._t = 0.0
        self._steps = 0
        self._down_until = 0.0
        self._settles_at = 0.0
        self._random = np.random.default_rng(seed)
        self._network = network_of(job)
        self._run = concurrent.run if job.engine.execution is Execution.CONCURRENT else sequential.run
        self._targets = _targets(slo)
        self._carry = np.zeros(len(self._network.root))
        self._samples: list[Sample] = []
        self._window = zeros(Tally, self._network)
        self.total = zeros(Tally, self._network)
        self._plan = self._placed(job.first_plan)
        self._layout: Layout = layout_of(job, self._plan, self._network)
        most = self._layout.weight.shape[1]
        self.state = zeros(State, self._network, most, step_seconds)
        self.state.speed.fill(1.0)
        self._scratch = zeros(Scratch, self._network, most)
        for root in range(len(self._network.root) if backlog else 0):
            push(self.state, root, backlog, 0.0)

    # The ports -------------------------------------------------------------------------------------------------------

    def now(self) -> float:
        return self._t

    def read(self) -> Sequence[Sample]:
        samples, self._samples = self._samples, []
        return samples

    def plan(self) -> Plan:
        return self._plan

    def apply(self, plan: Plan) -> None:
        """Put a plan in force immediately, at the cost that a change has on this engine."""
        plan.check(self.job.topology)
        plan = self._placed(plan)
        if plan == self._plan:
            return
        self.rescales += 1
        if self.change is not Change.LIVE:
            self._down_until = self._t + self.job.engine.downtime_seconds
        if self.change is Change.LOSSY_RESTART:
            np.add(self.total.dropped, self.state.queue.sum(axis=1), out=self.total.dropped)
            self.state.queue.fill(0)
        self._settles_at = max(self._down_until, self._t)
        self._plan, self._layout = plan, layout_of(self.job, plan, self._network)
        self._hand_over()

    # Time ------------------------------------------------------------------------------------------------------------

    @property
    def over(self) -> bool:
        """Whether the trace has ended."""
        return self._t >= self.trace.seconds - 1e-9

    def advance(self, seconds: float) -> None:
        """Let the job run, and measure it every `measure_seconds`."""
        end = min(self._t + seconds, self.trace.seconds)
        while self._t < end - 1e-9:
            self._advance_window(min(self.measure_seconds, end - self._t))

    def _advance_window(self, seconds: float) -> None:
        began, steps = self._t, max(1, round(seconds / self.step_seconds))
        sigma = self.job.engine.noise * np.sqrt(2.0 * min(1.0, self.step_seconds / 60.0))
        shape = (steps, len(self._network.service))
        noise = sigma * self._random.standard_normal(shape) if sigma else np.zeros(shape)
        arrays = Arrays(self._network, self._layout, self.state, self._window, self._scratch)
        self._run(arrays, began, self.step_seconds, self._down_until, self._arrivals(steps), noise, self._targets)
        self._steps += steps
        self._t = self._steps * self.step_seconds
        lasted = self._t - began
        self.core_seconds += self.job.engine.execution.slots(self._plan) * lasted
        self.instance_seconds += self._plan.total * lasted
        self._samples.append(self._measure(began, lasted))
        add(self.total, self._window)
        clear(self._window)

    def _arrivals(self, steps: int) -> Ints:
        """Whole records for each step and root; fractions are carried over to the next call, so none is lost."""
        middles = (self._steps + np.arange(steps) + 0.5) * self.step_seconds
        exact = np.cumsum(self.trace.at(middles) * self.step_seconds)[:, None] + self._carry
        whole = np.floor(exact + 1e-9)
        self._carry = np.maximum(0.0, exact[-1] - whole[-1])
        return np.diff(whole, axis=0, prepend=0.0).astype(np.int64)

    # Measuring -------------------------------------------------------------------------------------------------------

    def _measure(self, began: float, seconds: float) -> Sample:
        window, network, topology = self._window, self._network, self.job.topology
        useful = window.busy.tolist()
        queues = self.state.queue.sum(axis=1).tolist()
        processed, emitted = window.processed.tolist(), window.emitted.tolist()
        sojourn, sent = window.sojourn.tolist(), window.sent.tolist()
        operators = {}
        for i, name in enumerate(topology.order):
            edges = network.into[network.first_in[i] : network.first_in[i + 1]].tolist()
            k = self._plan[name]
            operators[name] = OperatorSample(
                parallelism=k,
                records_in=processed[i],
                records_out=emitted[i],
                useful_seconds=useful[i],
                waiting_seconds=max(0.0, k * seconds - useful[i]),
                queue=queues[i],
                latency_ms=1e3 * sojourn[i] / processed[i] if processed[i] else None,
                records_from={topology.order[network.edge_parent[e]]: sent[e] for e in edges} or None,
            )
        offered = (window.offered / seconds).tolist()
        left = float(window.left[0])
        completed = left / network.leaf_visits if network.leaf_visits else float(window.taken.sum())
        return Sample(
            t=began,
            seconds=seconds,
            operators=operators,
            input_rate=offered[0] if len(offered) == 1 else dict(zip(topology.roots, offered, strict=True)),
            throughput=completed / seconds,
            backlog=int(self.state.backlog.sum()),
            processing_latency_ms=summarise(window.processing, left, float(window.left[1])),
            event_latency_ms=summarise(window.event, left, float(window.left[2])),
            dropped=int(window.dropped.sum()),
            batches=self._batches(),
            executors=self._plan.executors,
            warm_up=began < self._settles_at - 1e-9,
        )

    def _batches(self) -> tuple[Batch, ...] | None:
        """The last micro-batch that ended in the window, which represents all of them."""
        last = Batch(*self.state.finished.tolist())
        self.state.finished.fill(0.0)
        return (last,) if last.records else None

    # Changing --------------------------------------------------------------------------------------------------------

    def _placed(self, plan: Plan) -> Plan:
        """The plan with the placement of the engine, if it has none of its own."""
        workers, slots = self.job.workers, self.job.engine.slots_per_worker
        if not workers or plan.placement is not None:
            return plan
        if slots is None:
            placement = round_robin(self.job.topology, plan.parallelism, workers)
        else:
            slot = [workers[j // slots % len(workers)].name for j in range(plan.widest)]
            placement = {name: tuple(slot[:k]) for name, k in plan.parallelism.items()}
        return Plan(plan.parallelism, plan.executors, placement)

    def _hand_over(self) -> None:
        """Give the queues to the new instances. After a restart all records are shared evenly. In a live change old
        instances keep their queues, and only the orphaned records of removed instances are shared."""
        for i, k in enumerate(self._layout.parallelism.tolist()):
            queue = self.state.queue[i]
            orphaned = queue[k:] if self.change is Change.LIVE else queue
            waiting = int(orphaned.sum())
            orphaned.fill(0)
            queue[:k] += waiting // k
            queue[: waiting % k] += 1
            self.state.credit[i].fill(0.0)

    @property
    def leaf_visits(self) -> float:
        """Records that leave the job for each one that enters it."""
        return self._network.leaf_visits or 1.0

    @property
    def replays(self) -> bool:
        """Whether a record that timed out is replayed, and so is not lost."""
        return self.job.engine.overflow is Overflow.REPLAY

    def latencies(self) -> tuple[Latency | None, Latency | None]:
        """Processing and event latency of the whole run."""
        left, processing, event = self.total.left.tolist()
        return summarise(self.total.processing, left, processing), summarise(self.total.event, left, event)


def _targets(slo: Slo) -> Floats:
    """Targets for the inner loop: processing and event latency and tolerated lag in seconds, the statistic's factor."""

    def seconds(milliseconds: float | None) -> float:
        return np.inf if milliseconds is None else milliseconds / 1e3

    processing, event = seconds(slo.processing_latency_ms), seconds(slo.event_latency_ms)
    return np.array([processing, event, slo.tolerated_lag_seconds, OF_MEAN[slo.statistic]])
