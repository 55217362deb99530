"""When the records that wait came, and what becomes of those that wait too long or do not fit.

A queue is first in, first out, so it is enough to know how many records had come by the end of each of the last steps.
"""

from __future__ import annotations

import numpy as np

from penstock.simulator.arrays import (
    BACK_PRESSURE,
    DROP,
    REPLAY,
    Ints,
    Layout,
    Network,
    Scratch,
    State,
    Tally,
    Waiting,
)
from penstock.simulator.backlog import push
from penstock.simulator.compiled import compiled


@compiled
def begin_step(
    network: Network, layout: Layout, state: State, waiting: Waiting, tally: Tally, now: float, dt: float
) -> None:
    """Replay what failed, and turn to the next entry of what is kept by step and the next interval of grouping."""
    if network.timeout < np.inf:
        for root in range(len(network.root)):
            push(state, root, waiting.replays[root], now - network.timeout)
            tally.replayed[0] += waiting.replays[root]
            waiting.replays[root] = 0
        last, entries = waiting.entry[0], waiting.entered.shape[1]
        entry = (last + 1) % entries
        waiting.entry[0] = entry
        for i in range(len(network.service)):
            waiting.entered[i, entry] = waiting.entered[i, last]
            for j in range(layout.parallelism[i]):
                waiting.arrived_by[i, j, entry] = waiting.arrived[i, j]
                waiting.queued[i, j] = state.queue[i, j]
            if waiting.late[i] == entry:  # the oldest that is kept comes next, and is late by its age alone
                waiting.late[i] = (entry + 1) % entries
    if network.grouping_seconds > 0.0:
        if waiting.interval[0] >= network.grouping_seconds - dt / 2:
            for i in range(len(network.service)):
                for j in range(waiting.given.shape[1]):
                    waiting.given[i, j] = waiting.worked[i, j]
                    waiting.worked[i, j] = 0
            waiting.interval[0] = 0.0
        waiting.interval[0] += dt


@compiled
def note(network: Network, layout: Layout, state: State, waiting: Waiting, scratch: Scratch, middle: float) -> None:
    """Note what came to each instance in this step and what it processed, where records may time out or take turns."""
    entry, expires = waiting.entry[0], network.timeout < np.inf
    for i in range(len(network.service)):
        if scratch.incoming[i] > 0 and expires:
            waiting.entered[i, entry] = middle - state.age[i, 0]
        for j in range(layout.parallelism[i]):
            done = scratch.finished[i, j]
            waiting.worked[i, j] += done
            if expires:
                waiting.arrived[i, j] += state.queue[i, j] + done - waiting.queued[i, j]
                waiting.arrived_by[i, j, entry] = waiting.arrived[i, j]


@compiled
def expire(
    network: Network, layout: Layout, state: State, waiting: Waiting, tally: Tally, scratch: Scratch, now: float
) -> None:
    """Remove records that have been in the job for longer than the time-out, and records that do not fit."""
    if network.overflow == BACK_PRESSURE:
        return
    queue, failed = state.queue, scratch.failed
    failed[:] = 0.0
    for i in range(len(network.service) - 1, -1, -1):
        lost = 0
        if network.timeout < np.inf:
            lost += _remove_late(queue, waiting, i, layout.parallelism[i], now - network.timeout)
        if network.overflow == DROP:
            for j in range(layout.parallelism[i]):
                surplus = max(0, queue[i, j] - int(network.queue_records))
                queue[i, j] -= surplus
                waiting.arrived[i, j] -= surplus  # what does not fit is what came last
                lost += surplus
        tally.dropped[i] += lost
        failed[i] += lost / max(network.home_visits[i], 1e-12)
        if network.home[i] >= 0:  # branches lose parts of the same records: their source replays a record once
            failed[network.home[i]] = max(failed[network.home[i]], failed[i])
    if network.overflow == REPLAY:
        for root in range(len(network.root)):
            exact = state.owed[root] + failed[network.root[root]]
            waiting.replays[root] = int(exact)
            state.owed[root] = exact - waiting.replays[root]


@compiled
def _remove_late(queue: Ints, waiting: Waiting, i: int, k: int, since: float) -> int:
    """Remove the records of an operator that entered the job before `since`; returns how many.

    Queues are first in, first out. So of the records that came up to some step, those still wait for which there is no
    room among the ones that came later.
    """
    entries, now, late = waiting.entered.shape[1], waiting.entry[0], waiting.late[i]
    while late != now and waiting.entered[i, (late + 1) % entries] < since:
        late = (late + 1) % entries
    waiting.late[i] = late
    if waiting.entered[i, late] >= since:
        return 0
    lost = 0
    for j in range(k):
        later = waiting.arrived[i, j] - waiting.arrived_by[i, j, late]
        too_late = max(0, min(queue[i, j], queue[i, j] - later))
        queue[i, j] -= too_late
        lost += too_late
    return lost
