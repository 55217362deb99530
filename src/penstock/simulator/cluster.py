"""The simulated cluster. It has the same ports as Spark, so that policies run on either without a change."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from penstock.load.trace import Trace
from penstock.model import Batch, Execution, Latency, OperatorSample, Plan, Sample, Slo
from penstock.simulator import concurrent, sequential
from penstock.simulator.arrays import (
    Arrays,
    Ints,
    Layout,
    Scratch,
    State,
    Tally,
    Waiting,
    add,
    clear,
    layout_of,
    network_of,
    zeros,
)
from penstock.simulator.arrivals import ArrivalProcess
from penstock.simulator.backlog import push
from penstock.simulator.conditions import IDEAL, Conditions
from penstock.simulator.executors import ExecutorPool
from penstock.simulator.job import Change, Job, Overflow
from penstock.simulator.latency import summarise, targets_of


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
        measure_seconds: float | None = 60.0,
        change: Change | None = None,
        backlog: int = 0,
        conditions: Conditions = IDEAL,
    ) -> None:
        """`backlog` records wait in each source from the beginning; they count as created then, not as offered.

        Without `measure_seconds` nothing is measured, only summed up: for whoever needs no samples.
        """
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
        self._lost_in_changes = 0  # since the last measurement
        self._random = np.random.default_rng(seed)
        self._network = network_of(job)
        self._run = concurrent.run if job.engine.execution is Execution.CONCURRENT else sequential.run
        self._targets = targets_of(slo)
        self.conditions = conditions
        self._arriving = None if conditions.arrivals is None else ArrivalProcess(conditions.arrivals, seed)
        self._carry = np.zeros(len(self._network.root))
        self._samples: list[Sample] = []
        self._window = zeros(Tally, self._network)
        self.total = zeros(Tally, self._network)
        self._plan = job.placed(job.first_plan)
        self._next: tuple[float, Plan] | None = None  # a plan that waits for its executors, and when they serve
        slots = self._slots(self._plan)
        self._pool = None if conditions.executors is None else ExecutorPool(conditions.executors, slots)
        self.supply = [(0.0, slots)]  # the slots of the plans that were in force, and since when
        self._layout = self._lay_out(self._plan)
        most = self._layout.weight.shape[1]
        self.state = zeros(State, self._network, most, step_seconds)
        self.state.speed.fill(1.0)
        self.waiting = zeros(Waiting, self._network, most, step_seconds)
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
        """The plan in force, or the one that waits for its executors."""
        return self._plan if self._next is None else self._next[1]

    def apply(self, plan: Plan) -> None:
        """Put a plan in force at the cost that a change has on this engine: now, or when it has its executors."""
        plan.check(self.job.topology)
        plan = self.job.placed(plan)
        if plan == self.plan():
            return
        self.rescales += 1
        if self._next is not None and plan == self._plan:  # the plan that waited is called off
            self._next = None
            self._give_back()
            return
        self._next = None
        serves_at = self._t if self._pool is None else self._pool.require(self._slots(plan), self._t)
        if serves_at > self._t + 1e-9:
            self._next = (serves_at, plan)
            self._settles_at = serves_at
        else:
            self._put_in_force(plan)

    def _put_in_force(self, plan: Plan) -> None:
        silence = 0.0 if self.change is Change.LIVE else self.job.engine.downtime_seconds
        silence += self.conditions.seconds_per_key * self._keys_that_move(plan)
        if silence or self.change is not Change.LIVE:
            self._down_until = self._t + silence
        if self.change is Change.LOSSY_RESTART:
            lost = self.state.queue.sum(axis=1)
            np.add(self.total.dropped, lost, out=self.total.dropped)
            self._lost_in_changes += int(lost.sum())
            self.state.queue.fill(0)
        self._settles_at = max(self._down_until, self._t)
        self._plan, self._layout = plan, self._lay_out(plan)
        self._hand_over()
        self._give_back()
        self.supply.append((self._t, self._slots(plan)))

    def _lay_out(self, plan: Plan) -> Layout:
        return layout_of(self.job, plan, self._network)

    def _give_back(self) -> None:
        """Release the executors that the plan in force does not need."""
        if self._pool is not None:
            self._pool.give_back(self._slots(self._plan), self._t)

    def leaving(self) -> int | None:
        """Executors that were released and are not gone yet; None where single slots come and go."""
        return None if self._pool is None else self._pool.leaving(self._t)

    def _keys_that_move(self, plan: Plan) -> int:
        return sum(each.state_keys for name, each in self.job.behaviours.items() if plan[name] != self._plan[name])

    def _slots(self, plan: Plan) -> int:
        return self.job.engine.execution.slots(plan, self.job.topology)

    # Time ------------------------------------------------------------------------------------------------------------

    @property
    def over(self) -> bool:
        """Whether the trace has ended."""
        return self._t >= self.trace.seconds - 1e-9

    def advance(self, seconds: float) -> None:
        """Let the job run, and measure it every `measure_seconds`."""
        end = min(self._t + seconds, self.trace.seconds)
        while self._t < end - 1e-9:
            left = end - self._t
            self._advance_window(left if self.measure_seconds is None else min(self.measure_seconds, left))

    def _advance_window(self, seconds: float) -> None:
        began = self._t
        self._advance_until(self._steps + max(1, round(seconds / self.step_seconds)))
        if self.measure_seconds is not None:
            self._samples.append(self._measure(began, self._t - began))
        add(self.total, self._window)
        clear(self._window)

    def _advance_until(self, until: int) -> None:
        """Simulate up to this number of steps, with the plan that waits put in force when it has its executors."""
        while self._steps < until:
            if self._next is not None and self._next[0] <= self._t + 1e-9:
                (_, plan), self._next = self._next, None
                self._put_in_force(plan)
            due = until if self._next is None else math.ceil(self._next[0] / self.step_seconds - 1e-9)
            self._advance_steps(min(until, due) - self._steps)

    def _advance_steps(self, steps: int) -> None:
        began = self._t
        sigma = self.job.engine.noise * np.sqrt(2.0 * min(1.0, self.step_seconds / 60.0))
        shape = (steps, len(self._network.service))
        noise = sigma * self._random.standard_normal(shape) if sigma else np.zeros(shape)
        arrays = Arrays(self._network, self._layout, self.state, self.waiting, self._window, self._scratch)
        self._run(arrays, began, self.step_seconds, self._down_until, self._arrivals(steps), noise, self._targets)
        self._steps += steps
        self._t = self._steps * self.step_seconds
        lasted = self._t - began
        paid = self._slots(self._plan) * lasted if self._pool is None else self._pool.core_seconds(began, self._t)
        self.core_seconds += paid
        self.instance_seconds += self._plan.total * lasted

    def _arrivals(self, steps: int) -> Ints:
        """Whole records for each step and root; fractions are carried over to the next call, so none is lost."""
        middles = (self._steps + np.arange(steps) + 0.5) * self.step_seconds
        expected = self.trace.at(middles) * self.step_seconds
        if self._arriving is not None:
            return self._arriving.counts(np.repeat(expected[:, None], len(self._carry), axis=1), middles)
        exact = np.cumsum(expected)[:, None] + self._carry
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
        dropped, self._lost_in_changes = int(window.dropped.sum()) + self._lost_in_changes, 0
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
            dropped=dropped,
            batches=self._batches(),
            executors=self._plan.executors if self._pool is None else self._pool.serving,
            warm_up=began < self._settles_at - 1e-9,
        )

    def _batches(self) -> tuple[Batch, ...] | None:
        """The last micro-batch that ended in the window, which represents all of them."""
        last = Batch(*self.state.finished.tolist())
        self.state.finished.fill(0.0)
        return (last,) if last.records else None

    # Changing --------------------------------------------------------------------------------------------------------

    def _hand_over(self) -> None:
        """Give the queues to the new instances. After a restart all records are shared evenly. In a live change old
        instances keep their queues, and only the orphaned records of removed instances are shared."""
        arrived, arrived_by = self.waiting.arrived, self.waiting.arrived_by
        for i, k in enumerate(self._layout.parallelism.tolist()):
            queue = self.state.queue[i]
            older = np.maximum(0, queue[:, None] - (arrived[i][:, None] - arrived_by[i]))  # came up to each step
            orphaned = slice(k if self.change is Change.LIVE else 0, None)
            waiting, waiting_older = int(queue[orphaned].sum()), older[orphaned].sum(axis=0)
            queue[orphaned] = 0
            older[orphaned] = 0
            queue[:k] += waiting // k
            queue[: waiting % k] += 1
            older[:k] += waiting_older // k  # of an odd one, the last instance knows no age but the newest
            arrived_by[i] = (arrived[i] - queue)[:, None] + older
            self.state.credit[i].fill(0.0)
            self.waiting.given[i, k:] = 0
            self.waiting.worked[i, k:] = 0

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
