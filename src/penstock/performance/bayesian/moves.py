"""Many points with one coordinate changed, which a climb evaluates together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from penstock.performance.bayesian.matern import Floats
from penstock.performance.bayesian.search_space import Integers


@dataclass(frozen=True)
class Moves:
    """Moves along single coordinates, each from one of the `points` (c, d). For every move (m,):

    origin      which of the points it starts from
    coordinate  which coordinate it changes
    target      the new value of that coordinate

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
        """The value of the changed coordinate before the move."""
        return np.asarray(self.points[self.origin, self.coordinate])

    def written_out(self) -> Floats:
        """Every move as a point of its own: (m, d)."""
        points = self.points[self.origin]
        points[np.arange(len(self)), self.coordinate] = self.target
        return points

    def chunks(self, size: int) -> Iterator[tuple[slice, Moves]]:
        """The moves in parts of at most `size`, each with its place among all moves."""
        for start in range(0, len(self), size):
            part = slice(start, start + size)
            yield part, Moves(self.points, self.origin[part], self.coordinate[part], self.target[part])
