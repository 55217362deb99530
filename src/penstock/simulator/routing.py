"""Which instance of an operator gets the records of a step."""

from __future__ import annotations

from penstock.simulator.arrays import BALANCED, KEYED, Floats, Ints
from penstock.simulator.compiled import compiled, total


@compiled
def route(queue: Ints, count: int, grouping: int, weight: Floats, turn: int) -> int:
    """Give records to the instances of an operator; returns the instance that gets the next odd one."""
    k = len(queue)
    if k == 1:
        queue[0] += count
        return 0
    if grouping == BALANCED:
        return _fill(queue, count, turn)
    given = 0
    for j in range(k):
        part = int(count * (weight[j] if grouping == KEYED else 1.0 / k))
        queue[j] += part
        given += part
    for odd in range(count - given):
        queue[(turn + odd) % k] += 1
    return (turn + count - given) % k


@compiled
def balance(queue: Ints, given: Ints, count: int, full: int, turn: int) -> int:
    """Give each record to the least utilised instance: PSPS's Algorithm 1 for all records of a step together.

    `given` is their utilisation in records, and `full` what is 1. Once all are full they take turns.
    """
    k = len(queue)
    room = 0
    for j in range(k):
        room += max(0, full - given[j])
        queue[j] -= given[j]  # for now, so that what is added to the one can be told for the other
    first = min(count, room)
    if first > 0:
        turn = _fill(given, first, turn)
    rest = count - first
    for j in range(k):
        queue[j] += given[j] + rest // k
    for odd in range(rest % k):
        queue[(turn + odd) % k] += 1
    return (turn + rest % k) % k


@compiled
def _fill(queue: Ints, count: int, turn: int) -> int:
    """Give each record to the instance with the shortest queue.

    The shortest queues end at one level, like water over an uneven floor; longer ones are unchanged.
    """
    k = len(queue)
    level = (total(queue) + count) / k
    while True:
        wet, floor = 0, 0
        for j in range(k):
            if queue[j] < level:
                wet += 1
                floor += queue[j]
        lower = (floor + count) / wet
        if lower >= level:
            break
        level = lower
    whole, given = int(level), 0
    for j in range(k):
        if queue[j] < whole:
            given += whole - queue[j]
            queue[j] = whole
    odd, next_turn = count - given, turn
    for step in range(k):
        j = (turn + step) % k
        if odd > 0 and queue[j] == whole:
            queue[j] += 1
            odd -= 1
            next_turn = (j + 1) % k
    return next_turn
