"""Times during which the plan must not change."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import ClassVar

from penstock.guards import Guard
from penstock.guards._plans import at_least
from penstock.guards._windows import Window, parse, zone
from penstock.model import Decision, InvalidValueError, Observation, ReasonCode
from penstock.model.options import option


@dataclass(frozen=True)
class Calendar(Guard):
    """Holds the plan in force during blackout windows; with `allow_growth` it may grow but not shrink.

    Windows recur weekly ("Mon-Fri 08:00-18:00", "Sat,Sun 00:00-24:00", "22:00-06:00" for every night) or occur
    once ("2026-12-24 00:00-2026-12-27 00:00"). The loop's clock must return Unix time.
    """

    name: ClassVar[str] = "calendar"

    windows: tuple[str, ...] = option((), "when the plan is held")
    timezone: str = option("UTC", "the time zone of the windows")
    allow_growth: bool = option(False, "whether the plan may grow in a window")

    _zone: tzinfo = field(init=False, repr=False, compare=False)
    _parsed: tuple[Window, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if isinstance(self.windows, str):
            raise InvalidValueError("windows", f"must be a list of windows, not the string {self.windows!r}")
        object.__setattr__(self, "_zone", zone(self.timezone))
        object.__setattr__(self, "_parsed", tuple(parse(text, self._zone) for text in self.windows))

    def vet(self, decision: Decision, observation: Observation) -> Decision:
        if decision.plan == observation.plan or not self.windows:
            return decision
        moment = datetime.fromtimestamp(observation.t, self._zone)
        blackout = next((text for text, w in zip(self.windows, self._parsed, strict=True) if w.contains(moment)), None)
        if blackout is None:
            return decision
        plan = at_least(decision.plan, observation.plan) if self.allow_growth else observation.plan
        if plan == decision.plan:
            return decision
        text = f"it is {moment:%a %Y-%m-%d %H:%M} in {self.timezone}, inside the blackout {blackout}"
        return decision.vetted(self.name, ReasonCode.BLACKOUT, text, plan)
