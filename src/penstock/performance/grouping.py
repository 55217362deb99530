"""Load-balancing grouping: each event goes to the replica that has had the least to do in this interval.

Glossary (PSPS, equation 5 and Algorithm 1):

    U_ij  utilisation of replica j in an interval: events it processed * et_i / td
    step  et_i / td: what one event adds to the utilisation of its replica
    turn  the replica whose turn it is once all are full and events go round in a ring

`send_each` follows the algorithm event by event; `send_all` gives the same counts at once. The latter is plain
arithmetic on arrays, so that a compiled kernel can use it as it stands.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Utilisations = NDArray[np.float64]
Counts = NDArray[np.int64]

ROUNDING = 1e-9
"""A replica is full at 1; ten times 0.1 is 0.9999999999999999."""


def utilisation(processed: float, execution_seconds: float, interval_seconds: float) -> float:
    """U_ij of a replica that processed so many events (5).

    >>> utilisation(90, execution_seconds=0.1, interval_seconds=30)
    0.3
    """
    return processed * execution_seconds / interval_seconds


def choose(utilisations: Sequence[float] | Utilisations, turn: int) -> tuple[int, int]:
    """The replica for the next event, and whose turn it is afterwards (Algorithm 1, lines 1 to 9).

    The least utilised one, and among equals the first; round robin once even that one is full.

    >>> choose([0.5, 0.2, 0.2], turn=0), choose([1.0, 1.0, 1.0], turn=2)
    ((1, 0), (2, 0))
    """
    least = 0
    for replica in range(1, len(utilisations)):
        if utilisations[replica] < utilisations[least]:
            least = replica
    if utilisations[least] >= 1 - ROUNDING:
        return turn, (turn + 1) % len(utilisations)
    return least, turn


def send_each(utilisations: Utilisations, step: float, events: int, turn: int = 0) -> tuple[Counts, int]:
    """How many of `events` each replica gets, one event after the other, and whose turn it is then.

    >>> counts, turn = send_each(np.array([0.0, 0.5, 0.0]), step=0.25, events=5)
    >>> counts.tolist(), turn
    ([3, 0, 2], 0)
    """
    load = utilisations.copy()
    counts = np.zeros(len(load), dtype=np.int64)
    for _ in range(events):
        full = load.min() >= 1 - ROUNDING
        replica, turn = choose(load, turn)
        if not full:
            load[replica] += step
        counts[replica] += 1
    return counts, turn


def send_all(utilisations: Utilisations, step: float, events: int, turn: int = 0) -> tuple[Counts, int]:
    """What `send_each` gives, up to the order among equals, in the time of a sort.

    Measured in events, replica j stands at L_j = U_j / step, and its next events come at the heights L_j, L_j + 1,
    L_j + 2 and so on. The algorithm takes the lowest heights of all replicas, as water fills a vessel with an
    uneven floor: up to one step below the surface every height is taken, and in that last step each replica that
    the water reaches has exactly one height more.

    >>> counts, turn = send_all(np.array([0.0, 0.5, 0.0]), step=0.25, events=5)
    >>> counts.tolist(), turn
    ([3, 0, 2], 0)
    """
    replicas = len(utilisations)
    floor = utilisations / step
    room = np.maximum(0.0, np.ceil((1.0 - ROUNDING) / step - floor))
    if events >= room.sum():  # all full: the rest goes round in a ring
        counts = room.astype(np.int64)
        rest = events - counts.sum()
        counts += rest // replicas
        for extra in range(rest % replicas):
            counts[(turn + extra) % replicas] += 1
        return counts, int((turn + rest) % replicas)
    surface = _surface(floor[np.argsort(floor, kind="mergesort")], events)
    taken = np.maximum(0.0, np.ceil(surface - 1.0 - floor))
    counts = taken.astype(np.int64)
    last_step = np.argsort(floor + taken, kind="mergesort")  # keeps the first replica first among equals
    for replica in last_step[: events - counts.sum()]:
        counts[replica] += 1
    return counts, turn


def _surface(floor: Utilisations, volume: float) -> float:
    """How high the water stands over a floor (sorted, lowest first) into which `volume` was poured.

    >>> _surface(np.array([0.0, 2.0, 10.0]), 4.0)
    3.0
    """
    level = floor[0] + volume
    total = floor[0]
    for wet in range(1, len(floor)):
        if floor[wet] >= level:
            break
        total += floor[wet]
        level = (volume + total) / (wet + 1)
    return float(level)
