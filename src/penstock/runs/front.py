"""What a search has found so far: for each number of violated seconds the cheapest way to come there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SIZE = 256
"""Ways that a front keeps. Of those with about the same number of violated seconds it keeps the cheapest."""

LAST = SIZE - 1


@dataclass(frozen=True, slots=True)
class Front:
    """Ways that no other one surpasses in both figures; where there is none, the costs are infinite.

    cost      core-seconds
    violated  seconds in which a target was missed
    came_by   the way that each of these extends, by its number in the search
    """

    cost: Floats
    violated: Floats
    came_by: Ints

    @classmethod
    def empty(cls) -> Front:
        return cls(np.full(SIZE, np.inf), np.full(SIZE, np.inf), np.full(SIZE, -1, dtype=np.int64))

    @property
    def ways(self) -> Ints:
        """The places of the front that hold one."""
        return np.flatnonzero(np.isfinite(self.cost))

    def add(self, cost: Floats, violated: Floats, came_by: Ints, width: float) -> None:
        """Take in ways by growing violated seconds, each cheaper than the one before it; a place is this wide."""
        there = np.isfinite(cost)
        cost, violated, came_by = cost[there], violated[there], came_by[there]
        place = np.minimum((violated / width + 1e-9).astype(np.int64), LAST)
        better = cost < self.cost[place]
        # The last place is for all with still more violated seconds: there, the fewest count.
        beyond = np.flatnonzero(place == LAST)
        better[beyond] = False
        if len(beyond) and violated[beyond[0]] < self.violated[LAST]:
            better[beyond[0]] = True
        chosen = np.flatnonzero(better)  # of several for one place the last is written last, and is the cheapest
        place = place[chosen]
        self.cost[place], self.violated[place], self.came_by[place] = cost[chosen], violated[chosen], came_by[chosen]

    def trim(self) -> None:
        """Remove ways that cost as much as one with fewer violated seconds."""
        before = np.minimum.accumulate(np.concatenate(([np.inf], self.cost[:-1])))
        self.drop(self.cost >= before)

    def drop(self, places: npt.NDArray[np.bool_]) -> None:
        self.cost[places], self.violated[places] = np.inf, np.inf

    def surpassed_by(self, other: Front) -> npt.NDArray[np.bool_]:
        """The places whose way costs no less than one of the other front with no more violated seconds."""
        return self.cost >= np.minimum.accumulate(other.cost)


def cheapest_of(fronts: list[Front], extra: Floats) -> tuple[Floats, Floats, Ints, Ints]:
    """Place by place the cheapest of fronts, each with `extra` core-seconds: its figures, which front, which place."""
    costs = np.stack([front.cost for front in fronts]) + extra[:, None]
    which = costs.argmin(axis=0)
    places = np.arange(SIZE)
    cost = costs[which, places]
    before = np.minimum.accumulate(np.concatenate(([np.inf], cost[:-1])))
    cost[cost >= before] = np.inf
    violated = np.stack([front.violated for front in fronts])[which, places]
    return cost, violated, which, places
