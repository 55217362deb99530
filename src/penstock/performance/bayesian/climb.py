"""The best configuration of a space that was not tried yet.

A space of 40 instances for each of five operators has a hundred million points: a small space is listed in full, a
large one is climbed. A climber evaluates all moves of single operators together.
Shapes: c climbers, d operators, s step sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from penstock.performance.bayesian.matern import Floats
from penstock.performance.bayesian.moves import Moves
from penstock.performance.bayesian.search_space import Configuration, Integers, SearchSpace
from penstock.performance.bayesian.tried import Booleans, Tried

LISTED = 200_000
"""A space of at most this many points is listed in full."""
RANDOM_CANDIDATES = 512
"""This many random points compete with the given starts."""
CLIMBERS = 6
"""At least this many climbers start. With few operators a climber costs little, and there are more of them."""
COORDINATES = 256
"""As many climbers start as have this many coordinates in total, if that is more than `CLIMBERS`."""
ALL_CLIMB = 2
"""From this round on, the lower half of the climbers gives up after each round."""
MOST_ROUNDS = 60
"""A climb ends after this many rounds."""


@dataclass(frozen=True)
class Landscape:
    """A function to be searched for its highest point.

    value           its value at points (m, d), as `SearchSpace.unit` gives them
    value_of_moves  its value at such points with one coordinate changed: a model that knows how far a point is from
                    its samples needs one more term for a move, not d. Where it is None, moves are expanded to points.
    """

    value: Callable[[Floats], Floats]
    value_of_moves: Callable[[Moves], Floats] | None = None

    def moved(self, moves: Moves) -> Floats:
        return self.value(moves.written_out()) if self.value_of_moves is None else self.value_of_moves(moves)


def best_untried(
    space: SearchSpace,
    landscape: Landscape,
    tried: Collection[Configuration],
    starts: Iterable[Configuration] = (),
    seed: Sequence[int] = (0,),
) -> Configuration | None:
    """The point of the highest value among those not tried; None when all were.

    The answer is exact while the space can be listed. Beyond that it is the highest of several hills, climbed from
    `starts` and from random points, which depend on `seed` alone.

    >>> best_untried(SearchSpace((1, 1), (4, 4)), Landscape(lambda points: points.sum(axis=1)), tried=[(4, 4)])
    (3, 4)
    """
    known = Tried.of(tried, len(space.lower))
    if space.size > LISTED:
        return climbed(space, landscape, known, starts, np.random.default_rng(list(seed)))
    points = space.listed()
    points = points[~known.among(points)]
    return _configuration(points[np.argmax(landscape.value(space.unit(points)))]) if len(points) else None


def climbed(
    space: SearchSpace, landscape: Landscape, tried: Tried, starts: Iterable[Configuration], rng: np.random.Generator
) -> Configuration | None:
    """The highest point reached by several climbers, which start at the best candidates, until no move helps."""
    d = len(space.lower)

    def value(points: Integers) -> Floats:
        return np.where(tried.among(points), -np.inf, landscape.value(space.unit(points)))

    given = np.array([*starts], dtype=np.int64).reshape(-1, d)
    random = rng.integers(space.lower, space.upper, (RANDOM_CANDIDATES, d), endpoint=True)
    at = np.concatenate([np.clip(given, space.lower, space.upper), random])
    at, height = _highest(at, value(at), max(CLIMBERS, COORDINATES // d))
    top, summit = at[0], height[0]
    strides = _strides(space)
    for rounds in range(1, MOST_ROUNDS + 1):
        targets = np.clip(at[:, None] + strides, space.lower, space.upper)
        fresh = _new(at, targets) & ~tried.among_moves(at, targets)
        origin, _, operator = np.nonzero(fresh)
        reached = np.full(targets.shape, -np.inf)
        reached[fresh] = landscape.moved(Moves(space.unit(at), origin, operator, space.unit(targets)[fresh]))
        at, height = _next(at, height, targets, reached, value)
        if not len(at):
            break
        at, height = _highest(at, height, len(at) if rounds < ALL_CLIMB else (len(at) + 1) // 2)
        if height[0] > summit:
            top, summit = at[0], height[0]
    return None if np.isneginf(summit) else _configuration(top)


def _strides(space: SearchSpace) -> Integers:
    """The step sizes 1, 2, 4, ... as far as the bounds allow, upwards and then downwards: (s, 1)."""
    widest = max(high - low for low, high in zip(space.lower, space.upper, strict=True))
    sizes = [1 << power for power in range(widest.bit_length())]
    return np.array([*sizes, *(-size for size in sizes)])[:, None]


def _new(at: Integers, targets: Integers) -> Booleans:
    """Which targets differ from the start and from the target of the next shorter stride, after clipping."""
    here, half = at[:, None], targets.shape[1] // 2
    shorter = np.concatenate([here, targets[:, : half - 1], here, targets[:, half:-1]], axis=1)
    return np.asarray(targets != shorter)


def _next(
    at: Integers, height: Floats, targets: Integers, reached: Floats, value: Callable[[Integers], Floats]
) -> tuple[Integers, Floats]:
    """The next points and heights of those climbers for whom some move helps; the others have arrived.

    A climber makes its best single move, or the best moves of all operators together where that leads higher: then
    many operators need few rounds.
    """
    climber, choice = np.arange(len(at)), np.argmax(reached, axis=1)[:, None]
    target = np.take_along_axis(targets, choice, axis=1)[:, 0]  # (c, d): the best target of each operator
    gained = np.take_along_axis(reached, choice, axis=1)[:, 0]
    operator = np.argmax(gained, axis=1)
    alone = at.copy()
    alone[climber, operator] = target[climber, operator]
    together = np.where(gained > height[:, None], target, at)
    alone_height, together_height = gained[climber, operator], value(together)
    at = np.where((together_height > alone_height)[:, None], together, alone)
    reached_height = np.maximum(together_height, alone_height)
    helps = reached_height > height
    return at[helps], reached_height[helps]


def _highest(points: Integers, height: Floats, count: int) -> tuple[Integers, Floats]:
    order = np.argsort(-height, kind="stable")[:count]
    return points[order], height[order]


def _configuration(point: Integers) -> Configuration:
    return tuple(int(k) for k in point)
