"""What a change costs a query whose state moves with it: a part that is always the same, and one for each byte.

    h(B) = u F + v s B   seconds of silence for a state of B bytes

    F, s  the line as it was measured for a query on two cores, `FIXED_SECONDS` and `SECONDS_PER_BYTE`
    u, v  how many times as much this job pays for either part; 1 before it has shown a change

Of n changes with B_i bytes and h_i seconds, u and v are what makes

    (u - 1)² + (v - 1)² + sum over i of w_i ((h(B_i) - h_i) / e (F + s B_i))²

smallest: the measured line is a guess that may be wrong by its own size, a change tells its own silence to within the
share e, and w_i halves with every third change. A job whose state stays as large as it is learns what its changes cost,
and one whose state grows learns what growing does to them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FIXED_SECONDS = 3.3
SECONDS_PER_BYTE = 24e-9
"""Of the changes in `benchmarks/results/state.json`, from 1 MB to 1 GB."""

ERROR = 0.1
"""By this share a measured silence may be wrong."""

KEPT = 0.8
"""What an earlier change counts beside the next one."""


class StatePrice:
    """The price of changes by the bytes of state, learnt from one change after the other.

    >>> price = StatePrice()
    >>> price.seconds(0.0) == FIXED_SECONDS
    True
    >>> price.learn(2e9, 300.0)
    >>> 270 < price.seconds(2e9) < 300, price.seconds(1e9) < price.seconds(2e9)
    (True, True)
    """

    def __init__(self) -> None:
        self.changes = 0
        self._sums = (0.0, 0.0, 0.0, 0.0, 0.0)  # of xx, xz, zz, xy, zy: the parts of the measured line and the excess

    def seconds(self, state_bytes: float) -> float:
        """The silence of a change with so much state."""
        u, v = self._factors()
        return u * FIXED_SECONDS + v * SECONDS_PER_BYTE * state_bytes

    def learn(self, state_bytes: float, silence: float) -> None:
        """A change of a state of so many bytes was silent for so long."""
        usual = FIXED_SECONDS + SECONDS_PER_BYTE * state_bytes
        x, y = FIXED_SECONDS / (ERROR * usual), (silence / usual - 1.0) / ERROR
        z = 1.0 / ERROR - x
        new = (x * x, x * z, z * z, x * y, z * y)
        self._sums = tuple(KEPT * old + each for old, each in zip(self._sums, new, strict=True))  # type: ignore[assignment]
        self.changes += 1

    def _factors(self) -> tuple[float, float]:
        """u and v. Neither part can be negative: where it would be, the other one explains all alone."""
        xx, xz, zz, xy, zy = self._sums
        xx, zz = xx + 1.0, zz + 1.0  # the guess itself
        determinant = xx * zz - xz * xz
        u, v = 1.0 + (zz * xy - xz * zy) / determinant, 1.0 + (xx * zy - xz * xy) / determinant
        if u < 0:
            return 0.0, max(0.0, 1.0 + (zy + xz) / zz)
        if v < 0:
            return max(0.0, 1.0 + (xy + xz) / xx), 0.0
        return u, v

    def state(self) -> dict[str, Any]:
        return {"changes": self.changes, "sums": list(self._sums)}

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> StatePrice:
        price = cls()
        price.changes = state["changes"]
        xx, xz, zz, xy, zy = state["sums"]
        price._sums = (xx, xz, zz, xy, zy)
        return price
