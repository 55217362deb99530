"""Points with one coordinate changed: what a climb looks at, many at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from penstock.performance.bayesian.matern import Floats
from penstock.performance.bayesian.search_space import Integers


@dataclass(frozen=True)
class Moves:
    """From each of `points` (c, d), moves along single coordinates. For every move (m,):

    origin      which of the points it starts from
    coordinate  which one it changes
    target      what that becomes

    >>> Moves(np.array([[0.1, 0.2]]), np.array([0, 0]), np.array([0, 1]), np.array([0.5, 0.6])).written_out().tolist()
    [[0.5, 0.2], [0.1, 0.6]]
    """

    points: Floats
    origin: Integers
    coordinate: Integers
    target: Floats

    def __len__(self) -> int:
        return len(self.target)

    @property
    def start(self) -> Floats:
        """What the changed coordinate was before."""
        return np.asarray(self.points[self.origin, self.coordinate])

    def written_out(self) -> Floats:
        """Every move as a point of its own: (m, d)."""
        points = self.points[self.origin]
        points[np.arange(len(self)), self.coordinate] = self.target
        return points

    def chunks(self, size: int) -> Iterator[tuple[slice, Moves]]:
        """At most `size` moves at a time, and where they stand among all."""
        for start in range(0, len(self), size):
            part = slice(start, start + size)
            yield part, Moves(self.points, self.origin[part], self.coordinate[part], self.target[part])
