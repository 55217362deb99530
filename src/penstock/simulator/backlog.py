"""The source's queue, first in first out, as cohorts of records with one mean creation time each.

When all cohorts are in use, neighbours are merged: memory is bounded, at the cost of the resolution of ages.
"""

from __future__ import annotations

from penstock.simulator.arrays import COHORTS, State
from penstock.simulator.compiled import compiled


@compiled
def push(state: State, root: int, count: int, created: float) -> None:
    """Append `count` records that were created at about the same time."""
    if count <= 0:
        return
    if state.cohort_size[root] == COHORTS:
        _merge_neighbours(state, root)
    last = (state.cohort_first[root] + state.cohort_size[root]) % COHORTS
    state.cohort_count[root, last] = count
    state.cohort_time[root, last] = created
    state.cohort_size[root] += 1
    state.backlog[root] += count


@compiled
def pop(state: State, root: int, count: int) -> float:
    """Remove the `count` oldest records and return the sum of their creation times."""
    created = 0.0
    state.backlog[root] -= count
    while count > 0:
        first = state.cohort_first[root]
        part = min(count, state.cohort_count[root, first])
        created += part * state.cohort_time[root, first]
        state.cohort_count[root, first] -= part
        count -= part
        if state.cohort_count[root, first] == 0:
            state.cohort_first[root] = (first + 1) % COHORTS
            state.cohort_size[root] -= 1
    return created


@compiled
def _merge_neighbours(state: State, root: int) -> None:
    first = state.cohort_first[root]
    for pair in range(COHORTS // 2):
        a, b = (first + 2 * pair) % COHORTS, (first + 2 * pair + 1) % COHORTS
        to = (first + pair) % COHORTS
        count = state.cohort_count[root, a] + state.cohort_count[root, b]
        created = (
            state.cohort_count[root, a] * state.cohort_time[root, a]
            + state.cohort_count[root, b] * state.cohort_time[root, b]
        )
        state.cohort_count[root, to] = count
        state.cohort_time[root, to] = created / count
    state.cohort_size[root] = COHORTS // 2
