"""The inner loop for operators that run concurrently: Storm, Flink, Spark's real-time mode.

Time moves in steps. Records are integers that move between queues, so none is ever created or lost by rounding.
Waiting shorter than a step is not visible that way; queueing theory supplies it (`steady_wait`), from the load
and the number of instances of each step.

A step computes what every instance can process (`_measure_capacity`) and what every operator may receive without
overflowing those downstream (`_allow`, from the sinks back); then records flow from the sources on (`_flow`).
"""

from __future__ import annotations

import math

import numpy as np

from penstock.performance import queueing
from penstock.simulator.arrays import (
    BACK_PRESSURE,
    BALANCED,
    DROP,
    KEYED,
    REPLAY,
    UTILISATION,
    Arrays,
    Floats,
    Ints,
    Layout,
    Network,
    Scratch,
    State,
    Tally,
    Waiting,
)
from penstock.simulator.backlog import pop, push
from penstock.simulator.compiled import compiled, total
from penstock.simulator.expiry import begin_step, expire, note
from penstock.simulator.latency import count_latency
from penstock.simulator.routing import balance, route

UNLIMITED = 1 << 60
NEARLY_FULL = 0.995  # beyond this utilisation the queue of the steps counts, not the steady state

_erlang_b = compiled(queueing.erlang_b)


@compiled
def run(arrays: Arrays, t: float, dt: float, down_until: float, arrivals: Ints, noise: Floats, targets: Floats) -> None:
    """Simulate `len(arrivals)` steps of `dt` seconds from time `t` on; no record moves before `down_until`."""
    network, layout, state, waiting, tally, scratch = arrays
    keeps = network.timeout < np.inf or network.grouping_seconds > 0.0  # a call costs, as it hands on all arrays
    loses = network.overflow == DROP or network.timeout < np.inf
    for step in range(len(arrivals)):
        now = t + step * dt
        offered = 0
        if keeps:
            begin_step(network, layout, state, waiting, tally, now, dt)
        for root in range(len(network.root)):
            push(state, root, arrivals[step, root], now + dt / 2)
            tally.offered[root] += arrivals[step, root]
            offered += arrivals[step, root]
        left, late = 0.0, False
        if now >= down_until:
            _measure_capacity(network, layout, state, scratch, dt, noise[step])
            _allow(network, layout, state, scratch)
            left, late = _flow(network, layout, state, waiting, tally, scratch, now + dt, dt, targets)
            _share_cores(network, layout, state, scratch, dt)
            if keeps:
                note(network, layout, state, waiting, scratch, now + dt / 2)
            if loses:
                expire(network, layout, state, waiting, tally, scratch, now + dt)
        behind = total(state.backlog) > targets[2] * offered / dt
        tally.seconds[0] += dt
        tally.seconds[1] += dt if late or behind else 0.0
        tally.seconds[2] += abs(offered - left)
        tally.seconds[3] += offered


@compiled
def _measure_capacity(
    network: Network, layout: Layout, state: State, scratch: Scratch, dt: float, noise: Floats
) -> None:
    """Find the records that each instance can finish in this step."""
    wander, credit, speed, worker = state.noise, state.credit, state.speed, layout.worker
    seconds, capacity = scratch.seconds, scratch.capacity
    for i in range(len(noise)):
        k = layout.parallelism[i]
        wander[i] += noise[i] - wander[i] * min(1.0, dt / 60.0)  # it returns to its mean within about a minute
        service = network.service[i] * (1.0 + network.coordination[i] * (k - 1)) * math.exp(wander[i])
        scratch.service[i] = service
        at_cap = k / network.rate_cap[i]
        for j in range(k):
            slowed = service if worker[i, j] < 0 else service / speed[worker[i, j]]
            seconds[i, j] = max(slowed / layout.share[i], at_cap)
            exact = credit[i, j] + dt / seconds[i, j]
            capacity[i, j] = int(exact)
            credit[i, j] = exact - capacity[i, j]


@compiled
def _allow(network: Network, layout: Layout, state: State, scratch: Scratch) -> None:
    """Find the records that each operator may receive: its free room, and what it can process in this step."""
    allowance, queue, capacity = scratch.allowance, state.queue, scratch.capacity
    if network.overflow != BACK_PRESSURE:
        allowance[:] = UNLIMITED
        return
    first_out, edge_child, selectivity = network.first_out, network.edge_child, network.edge_selectivity
    first_in, into, parent, flow = network.first_in, network.into, network.edge_parent, state.flow
    for i in range(len(allowance) - 1, -1, -1):
        k = layout.parallelism[i]
        able, waiting = 0, 0
        for j in range(k):
            able += capacity[i, j]
            waiting += queue[i, j]
        for edge in range(first_out[i], first_out[i + 1]):
            if selectivity[edge] > 0.0:
                child = edge_child[edge]
                claim = _claim(edge, into[first_in[child] : first_in[child + 1]], parent, flow, 0)
                able = min(able, _passing(allowance[child], claim, selectivity[edge]))
        allowance[i] = max(0, int(k * network.queue_records) - waiting + able)


@compiled
def _claim(edge: int, siblings: Ints, parent: Ints, flow: Floats, served: int) -> float:
    """A parent's share of the room in front of a child; parents before `served` have used theirs already.

    Shares follow the flows of the last step; one record is added to each so that no parent starves.
    """
    if len(siblings) == 1:
        return 1.0
    others = 0.0
    for other in siblings:
        if other != edge and parent[other] >= served:
            others += flow[other] + 1.0
    return (flow[edge] + 1.0) / (flow[edge] + 1.0 + others)


@compiled
def _passing(room: int, claim: float, selectivity: float) -> int:
    """Records that a parent may process until its share of a child's room is full; limited to what an integer holds."""
    return int(min(room * claim / selectivity, float(UNLIMITED)))


@compiled
def _flow(
    network: Network,
    layout: Layout,
    state: State,
    waiting: Waiting,
    tally: Tally,
    scratch: Scratch,
    now: float,
    dt: float,
    targets: Floats,
) -> tuple[float, bool]:
    """Move records from the sources to the sinks; returns how many left, as source records, and if they were late."""
    queue, credit, age, wait, turn = state.queue, state.credit, state.age, state.wait, state.turn
    carry, flow = state.carry, state.flow
    capacity, seconds, busy, service = scratch.capacity, scratch.seconds, scratch.busy, scratch.service
    allowance, incoming, ages = scratch.allowance, scratch.incoming, scratch.ages
    first_out, edge_child, selectivity = network.first_out, network.edge_child, network.edge_selectivity
    first_in, into, parent = network.first_in, network.into, network.edge_parent
    grouping, variability, hop_seconds, channel = network.grouping, network.variability, network.hop, network.channel
    overflow, queue_records, network_delay = network.overflow, network.queue_records, network.network_delay
    received, processed, emitted, sent_along = tally.received, tally.processed, tally.emitted, tally.sent
    busy_seconds, sojourns = tally.busy, tally.sojourn
    totals, processing, event = tally.left, tally.processing, tally.event
    parallelism, weight, remote = layout.parallelism, layout.weight, layout.remote
    share, follows = layout.share, layout.follows
    finished, timeout = scratch.finished, np.inf if overflow == BACK_PRESSURE else network.timeout
    incoming[:] = 0
    ages[:] = 0.0
    left, late = 0.0, False
    for root in range(len(network.root)):
        i = network.root[root]
        taken = min(state.backlog[root], allowance[i])
        if taken > 0:
            created = pop(state, root, taken)
            ages[i, 0] += taken * layout.entry[i]
            ages[i, 2] += max(0.0, taken * (now - dt / 2) - created)
        incoming[i] += taken
        tally.taken[root] += taken
    for i in range(len(service)):
        k = parallelism[i]
        if incoming[i] > 0:
            for part in range(3):
                age[i, part] = ages[i, part] / incoming[i]
            if grouping[i] == UTILISATION:
                full = int(network.grouping_seconds / service[i])
                turn[i] = balance(queue[i, :k], waiting.given[i, :k], incoming[i], full, turn[i])
            else:
                turn[i] = route(queue[i, :k], incoming[i], grouping[i], weight[i], turn[i])
            received[i] += incoming[i]
        room = UNLIMITED
        for edge in range(first_out[i], first_out[i + 1]):
            if selectivity[edge] > 0.0:
                child = edge_child[edge]
                claim = _claim(edge, into[first_in[child] : first_in[child + 1]], parent, flow, i)
                room = min(room, _passing(allowance[child], claim, selectivity[edge]))
        done, queued = _process(queue[i, :k], capacity[i], credit[i], seconds[i], busy[i], finished[i], room, dt)
        queued = min(queued, max(0.0, timeout - age[i, 0]))  # who waits longer fails
        for j in range(k):
            busy_seconds[i] += busy[i, j] * share[i]
        processed[i] += done
        # Those that share instances wait once: in front of the first, for all of them.
        steady, relaxation = steady_wait(k, incoming[i] / dt, service[i] / share[i], grouping[i], weight[i])
        steady *= 0.0 if follows[i] else variability[i]
        if overflow != REPLAY:
            steady = min(steady, queue_records * service[i] / share[i])  # no more can wait than there is room
        # A queue fills gradually: the wait approaches its steady state with the relaxation time of M/M/k.
        pace = relaxation * max(variability[i], 1.0)
        wait[i] += (steady - wait[i]) * (1.0 - math.exp(-dt / max(pace, 1e-12)))
        sojourn = queued + wait[i] + service[i]
        sojourns[i] += done * sojourn
        inside, random = age[i, 0] + sojourn, age[i, 1] + wait[i] + service[i]
        if first_out[i] == first_out[i + 1]:
            emitted[i] += done
            if done > 0:
                left += done
                _leave(totals, processing, event, done, inside, random, age[i, 2])
                figure = inside + random * (targets[3] - 1.0)
                late = late or figure > targets[0] or figure + age[i, 2] > targets[1]
            continue
        most = 0
        for edge in range(first_out[i], first_out[i + 1]):
            child = edge_child[edge]
            exact = done * selectivity[edge] + carry[edge]
            sent = int(exact)
            carry[edge] = exact - sent
            flow[edge] = sent
            allowance[child] -= sent
            incoming[child] += sent
            sent_along[edge] += sent
            most = max(most, sent)
            channels = k * parallelism[child] - max(k, parallelism[child])
            hop = hop_seconds[child] + channel[child] * channels + remote[edge] * network_delay
            hop = 0.0 if follows[child] else hop
            ages[child, 0] += sent * (inside + hop)
            ages[child, 1] += sent * random
            ages[child, 2] += sent * age[i, 2]
        emitted[i] += most
    return (left / network.leaf_visits if network.leaf_visits > 0 else left), late


@compiled
def _process(
    queue: Ints, capacity: Ints, credit: Floats, seconds: Floats, busy: Floats, finished: Ints, room: int, dt: float
) -> tuple[int, float]:
    """Process records from the queues of an operator; returns how many, and their mean seconds in the queue."""
    k = len(queue)
    able = 0
    for j in range(k):
        able += min(queue[j], capacity[j])
    allowed = min(able, room)
    done, queued = 0, 0.0
    for j in range(k):
        want = min(queue[j], capacity[j])
        if allowed < able:  # children are full: all instances get the same part, the last one the odd records
            want = min(want, allowed - done if j == k - 1 else int(want * (allowed / able)))
        queue[j] -= want
        finished[j] = want
        done += want
        if queue[j] == 0:
            credit[j] = 0.0  # unused capacity is not carried over
        elif want > 0:
            queued += queue[j] * dt  # the wait is the time to process what is left at the rate of this step
        busy[j] = dt if queue[j] > 0 and want == capacity[j] else min(dt, want * seconds[j])
    return done, (queued / done if done > 0 else 0.0)


@compiled
def steady_wait(k: int, rate: float, service: float, grouping: int, weight: Floats) -> tuple[float, float]:
    """The mean wait in a queue in its steady state, and the relaxation time, both in seconds."""
    if grouping == BALANCED:  # one queue for all instances: Erlang C
        rho = min(rate * service / k, NEARLY_FULL)
        blocked = _erlang_b(k, rho * k)
        wait = blocked / (1.0 - rho * (1.0 - blocked)) * service / (k * (1.0 - rho))
        return wait, service / (k * (1.0 - math.sqrt(rho)) ** 2)
    if grouping == UTILISATION:  # records go round: each instance gets every k-th, which halves the chance in arrivals
        rho = min(rate * service / k, NEARLY_FULL)
        wait = rho * service / (1.0 - rho) * (1.0 + 1.0 / k) / 2.0
        return wait, service / (1.0 - math.sqrt(rho)) ** 2
    wait, slowest = 0.0, 0.0
    for j in range(k):  # one queue for each instance: M/M/1
        share = weight[j] if grouping == KEYED else 1.0 / k
        rho = min(rate * share * service, NEARLY_FULL)
        wait += share * rho * service / (1.0 - rho)
        slowest = max(slowest, service / (1.0 - math.sqrt(rho)) ** 2)
    return wait, slowest


@compiled
def _leave(
    left: Floats, processing: Floats, event: Floats, done: int, inside: float, random: float, outside: float
) -> None:
    """Count records that leave the job after `inside` seconds in it and `outside` seconds in the source."""
    left[0] += done
    left[1] += done * inside
    left[2] += done * (inside + outside)
    count_latency(processing, done, inside - random, random)
    count_latency(event, done, inside - random + outside, random)


@compiled
def _share_cores(network: Network, layout: Layout, state: State, scratch: Scratch, dt: float) -> None:
    """Let the instances that had work share the cores of their worker evenly in the next step."""
    if len(network.cores) == 0:
        return
    runnable, busy, worker, speed = scratch.runnable, scratch.busy, layout.worker, state.speed
    runnable[:] = 0.0
    for i in range(len(network.service)):
        for j in range(layout.parallelism[i]):
            if worker[i, j] >= 0:
                runnable[worker[i, j]] += network.cpu[i] * busy[i, j] * layout.share[i] / dt
    for w in range(len(runnable)):
        fair = min(1.0, network.cores[w] / runnable[w]) if runnable[w] > 0.0 else 1.0
        speed[w] = 0.5 * (speed[w] + fair)  # half of the old value damps oscillations between workers
