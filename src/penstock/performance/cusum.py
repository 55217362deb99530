"""Notices that a quantity has changed for good: the cumulative sum of Page (1954), for rises and for falls.

    z    how far a value is from what was expected, in standard deviations; at most MOST counts
    S    max(0, S + z - ALLOWED), begun again at 0 as soon as the values are as expected
    S >= LIMIT: a change, which began when S was last 0

A single value, however far off, proves nothing: three are needed. Three are enough for a large change, six for one
of two and a half deviations; less than one and a half is never called a change.
"""

from __future__ import annotations

from collections.abc import Sequence

ALLOWED, MOST, LIMIT = 1.5, 3.5, 6.0


class Cusum:
    """Adds up values one after the other.

    >>> cusum = Cusum()
    >>> [cusum.add(z) for z in (0.3, 9.0, -0.5, 9.0, 9.0, 9.0)]
    [0, 0, 0, 0, 0, 3]
    """

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._sums = {+1: 0.0, -1: 0.0}  # rises, falls
        self._lasted = {+1: 0, -1: 0}

    def add(self, z: float) -> int:
        """How many values a change has lasted that is noticed with this one; 0 if there is none.

        After a change everything begins again.
        """
        for side in (+1, -1):
            self._sums[side] = max(0.0, self._sums[side] + min(side * z, MOST) - ALLOWED)
            self._lasted[side] = self._lasted[side] + 1 if self._sums[side] else 0
        lasted = max((self._lasted[side] for side in (+1, -1) if self._sums[side] >= LIMIT), default=0)
        if lasted:
            self._begin()
        return lasted

    def state(self) -> list[float]:
        """What was added up so far, as plain JSON values."""
        return [self._sums[+1], self._sums[-1], self._lasted[+1], self._lasted[-1]]

    @classmethod
    def restored(cls, state: Sequence[float]) -> Cusum:
        cusum = cls()
        rises, falls, risen, fallen = state
        cusum._sums, cusum._lasted = {+1: rises, -1: falls}, {+1: int(risen), -1: int(fallen)}
        return cusum
