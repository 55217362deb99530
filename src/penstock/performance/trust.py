"""Whether a model may be relied on: what it expected of the windows, beside what they showed.

A latency far below its target may be off by any factor without harm, so both are counted as at least a part of the
target. A job that falls behind although the model says that its plan carries the load is a miss as well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

HARMLESS = 0.4
"""Latencies below this part of the target are as good as each other."""

OFF = 2.0
"""A factor between measured and expected beyond which the model was wrong."""

SEVERAL, AGAIN = 3, 6
"""Windows in which it was wrong, one behind the other, until it is not relied on; and right, until it is again."""


class Trust:
    """Counts windows in which a model was wrong, and right.

    >>> trust = Trust()
    >>> [trust.learn(measured=0.9, expected=0.2, target=0.5) for _ in range(3)]
    [True, True, False]
    >>> [trust.learn(measured=0.3, expected=0.2, target=0.5) for _ in range(6)][-2:]
    [False, True]
    """

    def __init__(self) -> None:
        self.wrong = 0
        self.right = AGAIN
        self.relied_on = True

    def learn(self, measured: float, expected: float, target: float) -> bool:
        """Take in a window, all in seconds; says whether the model is relied on after it."""
        least, most = HARMLESS * target, 1e3 * target
        ratio = min(max(measured, least), most) / min(max(expected, least), most)
        if abs(math.log(ratio)) > math.log(OFF):
            self.wrong, self.right = self.wrong + 1, 0
        else:
            self.wrong, self.right = 0, self.right + 1
        self.relied_on = self.right >= AGAIN if not self.relied_on else self.wrong < SEVERAL
        return self.relied_on

    def state(self) -> dict[str, Any]:
        return {"wrong": self.wrong, "right": self.right, "relied_on": self.relied_on}

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> Trust:
        trust = cls()
        trust.wrong, trust.right, trust.relied_on = state["wrong"], state["right"], state["relied_on"]
        return trust
