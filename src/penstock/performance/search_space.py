"""All configurations within bounds, and the best of them that was not tried yet.

A configuration is a parallelism for each operator, in the topology's order. A space of 40 instances for each of
five operators has a hundred million points: what is small enough is listed, the rest is climbed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from penstock.model import InvalidValueError, Topology
from penstock.performance.matern import Floats

Configuration: TypeAlias = tuple[int, ...]
Integers: TypeAlias = NDArray[np.int64]
Value: TypeAlias = Callable[[Floats], Floats]
"""What points (m, d), as `SearchSpace.unit` gives them, are worth; more is better."""

LISTED = 200_000
RANDOM_CANDIDATES = 4096
CLIMBERS = 6
MOST_CLIMBS = 60


@dataclass(frozen=True)
class SearchSpace:
    """Every whole-numbered configuration from `lower` to `upper`, both included.

    >>> space = SearchSpace((1, 2), (2, 4))
    >>> space.size, (2, 3) in space, (3, 3) in space
    (6, True, False)
    """

    lower: Configuration
    upper: Configuration

    def __post_init__(self) -> None:
        if len(self.lower) != len(self.upper) or any(
            low > high for low, high in zip(self.lower, self.upper, strict=True)
        ):
            raise InvalidValueError("search space", f"must not be empty: from {self.lower} to {self.upper}")

    @classmethod
    def above(cls, base: Configuration, topology: Topology) -> SearchSpace:
        """From a base configuration to the most that each operator may have."""
        return cls(base, ceiling(topology))

    @cached_property
    def size(self) -> int:
        return math.prod(high - low + 1 for low, high in zip(self.lower, self.upper, strict=True))

    def __contains__(self, configuration: Configuration) -> bool:
        return all(low <= k <= high for low, k, high in zip(self.lower, configuration, self.upper, strict=True))

    def unit(self, configurations: Integers | Sequence[Configuration]) -> Floats:
        """As a model sees them: log k / log P_max, from 0 at one instance to 1 at the most there may be.

        A second instance changes more than a twentieth does, and a Gaussian process takes its function for equally
        lively everywhere. Nothing here depends on `lower`, so models of different rates share their coordinates.
        """
        most = np.log(np.maximum(self.upper, 2))
        return np.asarray(np.log(np.asarray(configurations, dtype=np.float64)) / most)

    def listed(self) -> Integers:
        """Every point (size, d), the smallest first."""
        ranges = [np.arange(low, high + 1) for low, high in zip(self.lower, self.upper, strict=True)]
        return np.stack([axis.ravel() for axis in np.meshgrid(*ranges, indexing="ij")], axis=1)

    def best(
        self,
        value: Value,
        tried: Collection[Configuration],
        starts: Iterable[Configuration] = (),
        seed: Sequence[int] = (0,),
    ) -> Configuration | None:
        """The point of the highest value among those not tried; None when all were.

        The answer is exact while the space can be listed. Beyond that it is the highest of several hills, climbed
        from `starts` and from random points, which depend on `seed` alone.

        >>> space = SearchSpace((1, 1), (4, 4))
        >>> space.best(lambda points: points.sum(axis=1), tried=[(4, 4)])
        (3, 4)
        """
        if self.size > LISTED:
            return self._climbed(value, tried, starts, np.random.default_rng(list(seed)))
        points = self.listed()
        points = points[~self._among(self._known(tried), points)]
        return _configuration(points[np.argmax(value(self.unit(points)))]) if len(points) else None

    def _climbed(
        self, value: Value, tried: Collection[Configuration], starts: Iterable[Configuration], rng: np.random.Generator
    ) -> Configuration | None:
        """Coordinate moves from the best starts, all at once, until no move helps."""
        known = self._known(tried)

        def worth(points: Integers) -> Floats:
            return np.where(self._among(known, points), -np.inf, value(self.unit(points)))

        random = rng.integers(self.lower, self.upper, (RANDOM_CANDIDATES, len(self.lower)), endpoint=True)
        at = np.concatenate([self._within(np.array([*starts], dtype=np.int64)), random])
        worths = worth(at)
        top = np.argsort(-worths, kind="stable")[:CLIMBERS]
        at, worths = at[top], worths[top]
        for _ in range(MOST_CLIMBS):
            moves = self._moves(at)  # (climbers, moves, d)
            reached = worth(moves.reshape(-1, len(self.lower))).reshape(moves.shape[:2])
            together = self._together(at, worths, moves, reached)
            moves = np.concatenate([moves, together[:, None]], axis=1)
            reached = np.concatenate([reached, worth(together)[:, None]], axis=1)
            choice = np.argmax(reached, axis=1)
            gain = reached[np.arange(len(at)), choice] > worths
            if not gain.any():
                break
            at = np.where(gain[:, None], moves[np.arange(len(at)), choice], at)
            worths = np.where(gain, reached[np.arange(len(at)), choice], worths)
        best = int(np.argmax(worths))
        return None if np.isneginf(worths[best]) else _configuration(at[best])

    @cached_property
    def _steps(self) -> Integers:
        """Single-coordinate moves (moves, d): up and down by 1, 2, 4, ... and as far as the bounds allow."""
        d = len(self.lower)
        widest = max(high - low for low, high in zip(self.lower, self.upper, strict=True))
        sizes = [1 << power for power in range(widest.bit_length())]
        lengths = np.array([*sizes, *(-size for size in sizes)])
        steps: Integers = (np.eye(d, dtype=np.int64)[:, None, :] * lengths[None, :, None]).reshape(-1, d)
        return steps

    def _moves(self, at: Integers) -> Integers:
        return self._within(at[:, None, :] + self._steps)

    def _together(self, at: Integers, worths: Floats, moves: Integers, reached: Floats) -> Integers:
        """Each climber with every coordinate's best move at once: many operators then cost few climbs."""
        climbers, d = at.shape
        by_coordinate = reached.reshape(climbers, d, -1)
        choice = np.argmax(by_coordinate, axis=2)
        helps = np.take_along_axis(by_coordinate, choice[..., None], axis=2)[..., 0] > worths[:, None]
        own = np.arange(d)
        targets = moves.reshape(climbers, d, -1, d)[np.arange(climbers)[:, None], own, choice, own]
        return np.where(helps, targets, at)

    def _within(self, points: Integers) -> Integers:
        return np.clip(points.reshape(-1, len(self.lower)) if points.size == 0 else points, self.lower, self.upper)

    @cached_property
    def _multipliers(self) -> Integers:
        return np.random.default_rng(0).integers(1, 1 << 62, len(self.lower), dtype=np.int64)

    def _keys(self, points: Integers) -> Integers:
        """A number for each point. Two share one with a chance of about 1 in 10^18; then one is passed over."""
        with np.errstate(over="ignore"):
            return np.asarray(points @ self._multipliers)

    def _known(self, tried: Collection[Configuration]) -> Integers:
        return np.sort(self._keys(np.array([*tried], dtype=np.int64).reshape(-1, len(self.lower))))

    def _among(self, known: Integers, points: Integers) -> NDArray[np.bool_]:
        """Which points are among the known, given their sorted keys."""
        if not len(known):
            return np.zeros(len(points), dtype=bool)
        keys = self._keys(points)
        return np.asarray(known[np.minimum(np.searchsorted(known, keys), len(known) - 1)] == keys)


def ceiling(topology: Topology) -> Configuration:
    """P_max of each operator."""
    return tuple(topology.ceiling(name) for name in topology.names)


def within_bounds(configuration: Configuration, topology: Topology) -> Configuration:
    """The nearest configuration in which each operator has what it may have."""
    bounds = ((k, topology[n].min, topology.ceiling(n)) for n, k in zip(topology.names, configuration, strict=True))
    return tuple(min(max(k, least), most) for k, least, most in bounds)


def _configuration(point: Integers) -> Configuration:
    return tuple(int(k) for k in point)
