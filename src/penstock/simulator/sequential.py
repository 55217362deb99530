"""The inner loop for operators that run sequentially: Spark's micro-batches.

A batch takes all records that wait in the source, and its stages follow each other on the same slots; the next batch
starts at its trigger or when the last one ends, whichever is later. Latency is measured at the end of a batch, for all
its records together. The records of the running batch are in the queues of the roots.
"""

from __future__ import annotations

import math

import numpy as np

from penstock.simulator.arrays import Arrays, Floats, Ints, Layout, Network, Scratch, State, Tally
from penstock.simulator.backlog import pop, push
from penstock.simulator.compiled import compiled, total
from penstock.simulator.latency import count_latency

RECORDS, SECONDS, USEFUL, WORKED = range(4)  # of State.finished
START, END, CREATED, TRIGGER, LATE = range(5)  # of State.batch; an END of 0 means that no batch runs
SLICES = 20  # records of one batch were created evenly over an interval: they are counted in this many slices


@compiled
def run(arrays: Arrays, t: float, dt: float, down_until: float, arrivals: Ints, noise: Floats, targets: Floats) -> None:
    """Simulate `len(arrivals)` steps of `dt` seconds from time `t` on; no batch starts before `down_until`."""
    network, layout, state, _, tally, scratch = arrays
    batch = state.batch
    pushed = scratch.pushed
    for step in range(len(arrivals)):
        now = t + step * dt
        end = now + dt
        for i in range(len(network.service)):
            state.noise[i] += noise[step, i] - state.noise[i] * min(1.0, dt / 60.0)
        pushed[:] = 0
        left = 0.0
        time = now
        while True:
            if batch[END] > 0.0:
                if batch[END] > end:
                    break
                time = batch[END]
                left += _finish(network, layout, state, tally, scratch, targets)
            time = max(time, batch[TRIGGER], down_until)
            if time >= end:
                break
            _arrive(state, tally, arrivals[step], pushed, now, time, dt)
            _start(network, layout, state, tally, time)
            batch[TRIGGER] = time + network.batch_seconds
        _arrive(state, tally, arrivals[step], pushed, now, end, dt)
        offered = total(arrivals[step])
        behind = total(state.backlog) > (targets[2] + network.batch_seconds) * offered / dt
        tally.seconds[0] += dt
        tally.seconds[1] += dt if batch[LATE] > 0.0 or behind else 0.0
        tally.seconds[2] += abs(offered - left)
        tally.seconds[3] += offered


@compiled
def _arrive(state: State, tally: Tally, arrivals: Ints, pushed: Ints, now: float, time: float, dt: float) -> None:
    """Put the records created in this step up to `time` into the source."""
    for root in range(len(arrivals)):
        due = int(arrivals[root] * (time - now) / dt + 0.5)
        count = due - pushed[root]
        if count > 0:
            push(state, root, count, now + dt * (pushed[root] + count / 2) / arrivals[root])
            tally.offered[root] += count
            pushed[root] = due


@compiled
def _start(network: Network, layout: Layout, state: State, tally: Tally, time: float) -> None:
    """Start a batch of all records that wait; without records none starts."""
    taken, created = 0, 0.0
    for root in range(len(network.root)):
        count = state.backlog[root]
        if count > 0:
            created += pop(state, root, count)
            i = network.root[root]
            state.queue[i, 0] += count
            tally.taken[root] += count
            tally.received[i] += count
            taken += count
    if taken == 0:
        return
    duration = seconds_a_batch(network, layout)
    for i in range(len(network.service)):
        duration += taken * network.visits[i] * seconds_a_record(network, layout, state, i)
    state.batch[START] = time
    state.batch[END] = time + duration
    state.batch[CREATED] = created / taken


@compiled
def seconds_a_batch(network: Network, layout: Layout) -> float:
    """Time that a batch takes whatever its records."""
    if network.batch_work == 0.0:
        return network.batch_overhead
    return network.batch_overhead + network.batch_work / _sharing(network, layout, _widest(layout))


@compiled
def _widest(layout: Layout) -> int:
    widest = 0
    for i in range(len(layout.parallelism)):
        if layout.parallelism[i] > layout.parallelism[widest]:
            widest = i
    return widest


@compiled
def _sharing(network: Network, layout: Layout, i: int) -> float:
    """How many instances share the work of a stage: in the last of several rounds of tasks some have none."""
    k, tasks = float(layout.parallelism[i]), network.tasks[i]
    return k if tasks == 0.0 else tasks / max(1.0, math.ceil(tasks / k - 1e-9))


@compiled
def seconds_a_record(network: Network, layout: Layout, state: State, i: int) -> float:
    """Time that a stage takes for each of its records, all its tasks together."""
    cores = 0.0 if len(network.cores) > 0 else np.inf
    for worker in network.cores:
        cores += worker
    at_work = min(_sharing(network, layout, i), cores / max(network.cpu[i], 1e-9))
    return max(_service(network, layout, state, i) / at_work, 1.0 / network.rate_cap[i])


@compiled
def _service(network: Network, layout: Layout, state: State, i: int) -> float:
    k = layout.parallelism[i]
    return network.service[i] * (1.0 + network.coordination[i] * (k - 1)) * math.exp(state.noise[i])


@compiled
def _finish(network: Network, layout: Layout, state: State, tally: Tally, scratch: Scratch, targets: Floats) -> float:
    """Pass the records of the batch through all stages; returns how many left, as source records."""
    batch = state.batch
    duration = batch[END] - batch[START]
    waited = max(0.0, batch[START] - batch[CREATED])
    incoming = scratch.incoming
    incoming[:] = 0
    for root in range(len(network.root)):
        i = network.root[root]
        incoming[i] = state.queue[i, 0]
        state.queue[i, 0] = 0
    gone = 0
    finished = state.finished
    finished[:] = 0.0
    finished[SECONDS] = duration
    finished[USEFUL] = network.batch_work
    finished[WORKED] = seconds_a_batch(network, layout) - network.batch_overhead
    tally.busy[network.root[0]] += network.batch_work
    for root in network.root:
        finished[RECORDS] += incoming[root]
    for i in range(len(incoming)):
        count = incoming[i]
        finished[USEFUL] += count * _service(network, layout, state, i)
        tally.processed[i] += count
        tally.busy[i] += count * _service(network, layout, state, i)
        stage = count * seconds_a_record(network, layout, state, i)
        finished[WORKED] += stage
        tally.sojourn[i] += count * stage
        most = 0
        for edge in range(network.first_out[i], network.first_out[i + 1]):
            exact = count * network.edge_selectivity[edge] + state.carry[edge]
            sent = int(exact)
            state.carry[edge] = exact - sent
            incoming[network.edge_child[edge]] += sent
            tally.received[network.edge_child[edge]] += sent
            tally.sent[edge] += sent
            most = max(most, sent)
        if network.first_out[i] == network.first_out[i + 1]:
            gone += count
            most = count
        tally.emitted[i] += most
    tally.left[0] += gone
    tally.left[1] += gone * duration
    tally.left[2] += gone * (duration + waited)
    count_latency(tally.processing, gone, duration, 0.0)
    for piece in range(SLICES):
        age = 2.0 * waited * (piece + 0.5) / SLICES
        count_latency(tally.event, gone / SLICES, duration + age, 0.0)
    late = duration > targets[0] or duration + waited * min(targets[3], 2.0) > targets[1]
    batch[LATE] = 1.0 if late else 0.0
    batch[END] = 0.0
    return gone / network.leaf_visits if network.leaf_visits > 0 else float(gone)
