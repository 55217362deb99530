"""Load-balancing grouping: each event goes to the replica that has had the least to do in this interval.

Glossary (PSPS, equation 5 and Algorithm 1):

    U_ij  utilisation of replica j in an interval: events it processed * et_i / td
    step  et_i / td: what one event adds to the utilisation of its replica
    turn  the replica whose turn it is once all are full and events go round in a ring

This is the algorithm as it is written, event by event. The simulator routes all records of a step together by the same
rule (`Grouping.UTILISATION`), and its tests compare that with this.
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

    It is the least utilised one, and among equals the first. Once even that one is full, replicas take turns.

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
