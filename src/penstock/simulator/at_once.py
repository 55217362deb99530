"""The inner loop for operators that run at once: Storm, Flink, Spark's real-time mode.

Time moves in steps. Records are whole numbers that move between queues, so none is ever made or lost by rounding.
Waiting shorter than a step cannot be seen that way; queueing theory supplies it (`_stochastic_wait`), from the load
and the number of instances of each step.

One step: how much can every instance do (`_capacity`), how much may every operator take without overflowing what lies
behind it (`_allowance`, from the sinks back), then records flow from the sources on (`_flow`).
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
    Floats,
    Ints,
    Layout,
    Network,
    State,
    Tally,
)
from penstock.simulator.backlog import pop, push
from penstock.simulator.compiled import compiled
from penstock.simulator.latency import count_latency

UNLIMITED = 1 << 60
NEARLY_FULL = 0.995  # beyond this utilisation the queue of the step loop says more than a steady state does

_erlang_b = compiled(queueing.erlang_b)


@compiled
def run(
    network: Network,
    layout: Layout,
    state: State,
    tally: Tally,
    t: float,
    dt: float,
    down_until: float,
    arrivals: Ints,
    noise: Floats,
    targets: Floats,
) -> None:
    """Simulate `len(arrivals)` steps of `dt` seconds from time `t` on; no record moves before `down_until`."""
    n, m = state.queue.shape
    service = np.empty(n)  # seconds a record, today
    capacity = np.empty((n, m), dtype=np.int64)
    allowance = np.empty(n, dtype=np.int64)
    incoming = np.empty(n, dtype=np.int64)
    ages = np.empty((n, 3))
    for step in range(len(arrivals)):
        now = t + step * dt
        offered = 0
        _replay(network, state, tally, now)
        for root in range(len(network.root)):
            push(state, root, arrivals[step, root], now + dt / 2)
            tally.offered[root] += arrivals[step, root]
            offered += arrivals[step, root]
        left = 0.0
        late = False
        if now >= down_until:
            _capacity(network, layout, state, dt, noise[step], service, capacity)
            _allowance(network, layout, state, capacity, allowance)
            left, late = _flow(
                network, layout, state, tally, now + dt, dt, service, capacity, allowance, incoming, ages, targets
            )
            _expire(network, layout, state, tally, service)
        behind = state.backlog.sum() > targets[2] * offered / dt
        tally.seconds[0] += dt
        tally.seconds[1] += dt if late or behind else 0.0
        tally.seconds[2] += abs(offered - left)
        tally.seconds[3] += offered


@compiled
def _capacity(
    network: Network, layout: Layout, state: State, dt: float, noise: Floats, service: Floats, capacity: Ints
) -> None:
    """Records that each instance can finish in this step."""
    for i in range(len(service)):
        k = layout.parallelism[i]
        state.noise[i] += noise[i] - state.noise[i] * min(1.0, dt / 60.0)  # wanders, with a memory of a minute
        service[i] = network.service[i] * (1.0 + network.coordination[i] * (k - 1)) * math.exp(state.noise[i])
        at_cap = k / network.rate_cap[i]
        for j in range(k):
            seconds = max(service[i] / _speed(layout, state, i, j), at_cap)
            capacity[i, j] = int(state.credit[i, j] + dt / seconds)
            state.credit[i, j] += dt / seconds - capacity[i, j]


@compiled
def _speed(layout: Layout, state: State, i: int, j: int) -> float:
    worker = layout.worker[i, j]
    return 1.0 if worker < 0 else state.speed[worker]


@compiled
def _allowance(network: Network, layout: Layout, state: State, capacity: Ints, allowance: Ints) -> None:
    """Records that each operator may receive in this step: its free room, and what it can pass on meanwhile."""
    n = len(allowance)
    if network.overflow != BACK_PRESSURE:
        allowance[:] = UNLIMITED
        return
    for i in range(n - 1, -1, -1):
        k = layout.parallelism[i]
        able, waiting = 0, 0
        for j in range(k):
            able += capacity[i, j]
            waiting += state.queue[i, j]
        able = min(able, _room_behind(network, state, i, allowance, 0))
        allowance[i] = max(0, int(k * network.queue_records) - waiting + able)


@compiled
def _room_behind(network: Network, state: State, i: int, allowance: Ints, served: int) -> int:
    """Records that operator i may process without overflowing a child; operators before `served` took their part."""
    room = UNLIMITED
    for edge in range(network.first_out[i], network.first_out[i + 1]):
        selectivity = network.edge_selectivity[edge]
        if selectivity > 0.0:
            child = network.edge_child[edge]
            room = min(room, int(allowance[child] * _claim(network, state, edge, child, served) / selectivity))
    return room


@compiled
def _claim(network: Network, state: State, edge: int, child: int, served: int) -> float:
    """A parent's share of the room in front of a child, among the parents that have not been served yet.

    Shares follow the last step's flows; one record is added to each so that nobody starves.
    """
    own, others = state.flow[edge] + 1.0, 0.0
    for place in range(network.first_in[child], network.first_in[child + 1]):
        other = network.into[place]
        if other != edge and network.edge_parent[other] >= served:
            others += state.flow[other] + 1.0
    return own / (own + others)


@compiled
def _flow(
    network: Network,
    layout: Layout,
    state: State,
    tally: Tally,
    now: float,
    dt: float,
    service: Floats,
    capacity: Ints,
    allowance: Ints,
    incoming: Ints,
    ages: Floats,
    targets: Floats,
) -> tuple[float, bool]:
    """Move records from the sources to the sinks; how many left, as source records, and whether they were late."""
    incoming[:] = 0
    ages[:] = 0.0
    runnable = np.zeros(len(network.cores))
    left, late = 0.0, False
    for root in range(len(network.root)):
        i = network.root[root]
        taken = min(state.backlog[root], allowance[i])
        if taken > 0:
            created = pop(state, root, taken)
            ages[i, 2] += max(0.0, taken * (now - dt / 2) - created)
        incoming[i] += taken
        tally.taken[root] += taken
    for i in range(len(service)):
        if incoming[i] > 0:
            for part in range(3):
                state.age[i, part] = ages[i, part] / incoming[i]
            _route(network, layout, state, i, incoming[i])
            tally.received[i] += incoming[i]
        room = _room_behind(network, state, i, allowance, i)
        done, queued = _process(network, layout, state, tally, i, room, dt, service[i], capacity, runnable)
        state.wait[i] = _stochastic_wait(network, layout, state, i, incoming[i] / dt, dt, service[i])
        if done == 0:
            _pass_on(network, layout, state, tally, i, 0, 0.0, 0.0, allowance, incoming, ages)
            continue
        wait, sojourn = queued + state.wait[i], queued + state.wait[i] + service[i]
        tally.waited[i] += done * wait
        tally.sojourn[i] += done * sojourn
        inside, random = state.age[i, 0] + sojourn, state.age[i, 1] + state.wait[i] + service[i]
        if network.first_out[i] == network.first_out[i + 1]:
            tally.emitted[i] += done
            left += done
            late = _leave(tally, done, inside, random, state.age[i, 2], targets) or late
        else:
            _pass_on(network, layout, state, tally, i, done, inside, random, allowance, incoming, ages)
    for worker in range(len(runnable)):
        # Runnable instances share the cores evenly; half of the old value keeps two workers from chasing each other.
        fair = min(1.0, network.cores[worker] / runnable[worker]) if runnable[worker] > 0 else 1.0
        state.speed[worker] = 0.5 * (state.speed[worker] + fair)
    return (left / network.leaf_visits if network.leaf_visits > 0 else left), late


@compiled
def _route(network: Network, layout: Layout, state: State, i: int, count: int) -> None:
    """Hand records to the instances of an operator."""
    k = layout.parallelism[i]
    if k == 1:
        state.queue[i, 0] += count
        return
    waiting, longest = 0, 0
    for j in range(k):
        waiting += state.queue[i, j]
        longest = max(longest, state.queue[i, j])
    level = (waiting + count) / k
    fill = network.grouping[i] == BALANCED and longest > 0
    shortfall = 0.0
    if fill:  # the least loaded first: raise all towards one level
        for j in range(k):
            shortfall += max(0.0, level - state.queue[i, j])
    given = 0
    for j in range(k):
        if fill:
            share = max(0.0, level - state.queue[i, j]) / shortfall if shortfall > 0 else 1.0 / k
        else:
            share = layout.weight[i, j] if network.grouping[i] == KEYED else 1.0 / k
        part = int(count * share)
        state.queue[i, j] += part
        given += part
    for odd in range(count - given):
        state.queue[i, (state.turn[i] + odd) % k] += 1
    state.turn[i] = (state.turn[i] + count - given) % k


@compiled
def _process(
    network: Network,
    layout: Layout,
    state: State,
    tally: Tally,
    i: int,
    room: int,
    dt: float,
    service: float,
    capacity: Ints,
    runnable: Floats,
) -> tuple[int, float]:
    """Work off the queues of an operator; how many records, and their mean seconds in the queue."""
    k = layout.parallelism[i]
    able = 0
    for j in range(k):
        able += min(state.queue[i, j], capacity[i, j])
    allowed = min(able, room)
    done, queued = 0, 0.0
    for j in range(k):
        want = min(state.queue[i, j], capacity[i, j])
        if allowed < able:  # children are full: everybody gets the same part, the last one the odd records
            want = min(want, allowed - done if j == k - 1 else int(want * (allowed / able)))
        saturated = want == capacity[i, j]
        state.queue[i, j] -= want
        if state.queue[i, j] == 0:
            state.credit[i, j] = 0.0  # idle time cannot be saved up
        if want > 0:
            queued += state.queue[i, j] * dt  # what is left waits as long as it takes to do what was done, again
        done += want
        busy = dt if saturated and state.queue[i, j] > 0 else min(dt, want * service / _speed(layout, state, i, j))
        tally.busy[i] += busy
        worker = layout.worker[i, j]
        if worker >= 0:
            runnable[worker] += network.cpu[i] * busy / dt
    tally.processed[i] += done
    return done, (queued / done if done > 0 else 0.0)


@compiled
def _stochastic_wait(
    network: Network, layout: Layout, state: State, i: int, rate: float, dt: float, service: float
) -> float:
    """Mean wait that a step is too coarse to show: Erlang C, scaled by the variability (Allen and Cunneen).

    A queue takes its time to fill: the wait follows its steady state with the relaxation time of M/M/k.
    """
    k = layout.parallelism[i]
    steady, slowest = 0.0, 0.0
    if network.grouping[i] == BALANCED:
        rho = min(rate * service / k, NEARLY_FULL)
        blocked = _erlang_b(k, rho * k)
        steady = blocked / (1.0 - rho * (1.0 - blocked)) * service / (k * (1.0 - rho))
        slowest = service / (k * (1.0 - math.sqrt(rho)) ** 2)
    else:
        for j in range(k):  # every instance for itself
            share = layout.weight[i, j] if network.grouping[i] == KEYED else 1.0 / k
            rho = min(rate * share * service, NEARLY_FULL)
            steady += share * rho * service / (1.0 - rho)
            slowest = max(slowest, service / (1.0 - math.sqrt(rho)) ** 2)
    steady *= network.variability[i]
    if network.overflow != REPLAY:
        steady = min(steady, network.queue_records * service)  # no more can wait than there is room
    pace = 1.0 - math.exp(-dt / max(slowest * max(network.variability[i], 1.0), 1e-12))
    return state.wait[i] + (steady - state.wait[i]) * pace


@compiled
def _pass_on(
    network: Network,
    layout: Layout,
    state: State,
    tally: Tally,
    i: int,
    done: int,
    inside: float,
    random: float,
    allowance: Ints,
    incoming: Ints,
    ages: Floats,
) -> None:
    """Send to each child what the processed records make of it."""
    most = 0
    for edge in range(network.first_out[i], network.first_out[i + 1]):
        child = network.edge_child[edge]
        exact = done * network.edge_selectivity[edge] + state.carry[edge]
        sent = int(exact)
        state.carry[edge] = exact - sent
        state.flow[edge] = sent
        allowance[child] -= sent
        incoming[child] += sent
        tally.sent[edge] += sent
        most = max(most, sent)
        kp, kc = layout.parallelism[i], layout.parallelism[child]
        hop = network.hop[child] + network.channel[child] * (kp * kc - max(kp, kc))
        hop += layout.remote[edge] * network.network_delay
        ages[child, 0] += sent * (inside + hop)
        ages[child, 1] += sent * random
        ages[child, 2] += sent * state.age[i, 2]
    tally.emitted[i] += most


@compiled
def _leave(tally: Tally, done: int, inside: float, random: float, waited: float, targets: Floats) -> bool:
    """Count records that leave the job; whether they were later than asked."""
    tally.left[0] += done
    tally.left[1] += done * inside
    tally.left[2] += done * (inside + waited)
    count_latency(tally.processing, done, inside - random, random)
    count_latency(tally.event, done, inside - random + waited, random)
    figure = inside + random * (targets[3] - 1.0)
    return figure > targets[0] or figure + waited > targets[1]


@compiled
def _replay(network: Network, state: State, tally: Tally, now: float) -> None:
    """Send again what has been missed for the length of the time-out."""
    state.limbo_at[0] = (state.limbo_at[0] + 1) % state.limbo.shape[1]
    for root in range(len(network.root)):
        again = state.limbo[root, state.limbo_at[0]]
        if again > 0:
            push(state, root, again, now - network.timeout)
            tally.replayed[0] += again
            state.limbo[root, state.limbo_at[0]] = 0


@compiled
def _expire(network: Network, layout: Layout, state: State, tally: Tally, service: Floats) -> None:
    """Remove what no longer fits and what would be too old by the time its turn comes."""
    if network.overflow == BACK_PRESSURE:
        return
    for i in range(len(service)):
        for j in range(layout.parallelism[i]):
            limit = UNLIMITED
            if network.overflow == DROP:
                limit = int(network.queue_records)
            if network.timeout < np.inf:
                patience = max(0.0, network.timeout - state.age[i, 0])
                limit = min(limit, int(patience * _speed(layout, state, i, j) / service[i]))
            lost = state.queue[i, j] - limit
            if lost <= 0:
                continue
            state.queue[i, j] = limit
            tally.dropped[i] += lost
            if network.overflow == REPLAY:  # the source sends the whole record again, however many it had become
                root = network.home[i]
                exact = state.owed[root] + lost / max(network.visits[i], 1e-12)
                state.limbo[root, state.limbo_at[0]] += int(exact)
                state.owed[root] = exact - int(exact)
