"""Vets any plan. Each guard is a pure function of a decision and what was observed, with a reason of its own."""

from __future__ import annotations

from typing import ClassVar, Protocol

from penstock.model import Decision, Observation
from penstock.model.catalog import Catalog


class Guard(Protocol):
    """Lets a decision pass as it is, or returns it `vetted`: with another plan and the reason why."""

    name: ClassVar[str]
    source: ClassVar[str] = ""

    def vet(self, decision: Decision, observation: Observation) -> Decision: ...


GUARDS: Catalog[Guard] = Catalog("guard", __name__)

DEFAULT_ORDER = (
    "roll_back",  # may replace the plan altogether, so it speaks first
    "ineffective",
    "patience",
    "draining",
    "max_step",
    "quota",
    "bounds",  # whatever the others made of it, the plan can be run
    "stabilisation",  # these two only hold, so they speak last
    "calendar",
)
