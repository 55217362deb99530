"""The configurations that were tried already, with a fast test of thousands of points."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from penstock.performance.bayesian.search_space import Configuration, Integers

Booleans = NDArray[np.bool_]


@dataclass(frozen=True)
class Tried:
    """A set of configurations of `d` operators, each kept as one number (a hash).

    Two configurations share a number with a probability of about 1 in 10^18; then one of them is skipped. In return,
    the number of a configuration with one operator changed follows from that change alone.

    >>> tried = Tried.of([(1, 2), (3, 4)], d=2)
    >>> tried.among(np.array([[1, 2], [2, 1], [3, 4]])).tolist()
    [True, False, True]
    """

    keys: Integers
    multipliers: Integers

    @classmethod
    def of(cls, configurations: Collection[Configuration], d: int) -> Tried:
        multipliers = _multipliers(d)
        return cls(np.sort(np.array([*configurations], dtype=np.int64).reshape(-1, d) @ multipliers), multipliers)

    def among(self, points: Integers) -> Booleans:
        """Which of the points (m, d) have been tried."""
        return self._known(points @ self.multipliers)

    def among_moves(self, points: Integers, targets: Integers) -> Booleans:
        """The same for `points` (c, d) with one coordinate set to its target, for each of `targets` (c, s, d)."""
        moved = (targets - points[:, None]) * self.multipliers  # wraps around, as the keys themselves do
        return self._known((points @ self.multipliers)[:, None, None] + moved)

    def _known(self, keys: Integers) -> Booleans:
        if not len(self.keys):
            return np.zeros(keys.shape, dtype=bool)
        return np.asarray(self.keys[np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)] == keys)


@lru_cache(maxsize=64)
def _multipliers(d: int) -> Integers:
    return np.random.default_rng(0).integers(1, 1 << 62, d, dtype=np.int64)
