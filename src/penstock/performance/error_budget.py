"""What a missed second is worth: more once the budget for them is overspent, less while it is not used.

A job may miss its targets for a small share of the time. The price of a missed second follows what was missed: after a
day without any it is a quarter, after missing twice what a day allows it is four times what it was. So, in the long
run, as much is missed as may be, with as few cores as that takes (the dual ascent of optimisation).

A second is missed alike by night and by day, but a slot more for an hour costs the same at either time as well: so the
price is in slots as the job usually has them, over a day, and not in those of the moment. Who may miss few seconds then
spends them on the changes that save the most.

What is missed while a job is sized for the first time counts as well: it is the same user who waits, and a job that
was late for minutes at its start has fewer seconds left to spend on changes that day. Only the slots of that time do
not count: they are not those that the job usually has.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import takewhile
from typing import Any

from penstock.model import Cycle, Observation

DAY = 86_400.0
FOURFOLD = 2 * math.log(2)
LOWEST, HIGHEST = 1 / 4, 5.0


class ErrorBudget:
    """Follows the seconds that were missed.

    share  of the time in which targets may be missed
    price  what a missed second is worth, as a multiple of the price at the beginning
    slots  those that the job had on average, over a day with forgetting; None until its targets were first met
    met    whether they ever were

    >>> budget = ErrorBudget(share=0.005)
    >>> budget.spend(seconds=43_200, missed=0.0)
    >>> round(budget.price, 3)
    0.5
    """

    def __init__(self, share: float, day: float = DAY) -> None:
        """`day` is how many seconds a day has: fewer where time is compressed."""
        self.share = share
        self.day = day
        self.price = 1.0
        self.counted_until = -1.0  # the time of the newest cycle that was counted
        self.met = False
        self.slots: float | None = None
        self.weight = 0.0  # seconds that the average rests on

    def learn(self, observation: Observation, missed_by: Callable[[Cycle], float]) -> None:
        """Count the windows of cycles that are over, those of warming up included, and what each change cost.

        `missed_by` says how many seconds a change made the job miss: what is shorter than a window does not show in
        the window's mean.
        """
        fresh = list(takewhile(lambda cycle: cycle.t > self.counted_until, reversed(observation.history)))
        for cycle in reversed(fresh):
            self.counted_until = cycle.t
            for window in cycle.samples:
                missed = bool(observation.slo.violations(window))
                self.met = self.met or not (missed or window.warm_up)
                self.spend(window.seconds, window.seconds if missed else 0.0)
                if self.met:
                    self.hold(window.seconds, observation.execution.slots(cycle.before, observation.topology))
            if cycle.changed and self.met:
                self.spend(0.0, missed_by(cycle))

    def spend(self, seconds: float, missed: float) -> None:
        rise = FOURFOLD * (missed - self.share * seconds) / (self.share * self.day)
        self.price = min(max(self.price * math.exp(rise), LOWEST), HIGHEST)

    def hold(self, seconds: float, slots: float) -> None:
        """The job had so many slots for so long."""
        self.weight = min(self.weight + seconds, self.day)
        self.slots = slots if self.slots is None else self.slots + (slots - self.slots) * seconds / self.weight

    def state(self) -> dict[str, Any]:
        return {
            "price": self.price, "counted_until": self.counted_until, "met": self.met, "slots": self.slots,
            "weight": self.weight,
        }  # fmt: skip

    def restore(self, state: Mapping[str, Any]) -> None:
        self.price, self.counted_until, self.met = state["price"], state["counted_until"], state["met"]
        self.slots, self.weight = state["slots"], state["weight"]
