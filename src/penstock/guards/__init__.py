"""Guards vet any plan. Each is a pure function of a decision and what was observed, with a reason of its own."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Protocol

from penstock.model import Decision, InvalidValueError, Observation
from penstock.model.catalog import Catalog
from penstock.model.errors import check_number, unknown


class Guard(Protocol):
    """Lets a decision pass as it is, or returns it `vetted`: with another plan and the reason why.

    `memory_seconds` is how far back it looks into `observation.history`.
    """

    name: ClassVar[str]
    source: ClassVar[str] = ""

    @property
    def memory_seconds(self) -> float:
        return 0.0

    def most_slots(self, observation: Observation) -> int | None:
        """The most slots that it lets a plan take, whatever the decision; None: it has no such limit."""
        return None

    def vet(self, decision: Decision, observation: Observation) -> Decision: ...


class TimedGuard(Guard):
    """A guard whose option `seconds` is how far back it looks."""

    seconds: float

    def __post_init__(self) -> None:
        check_number("seconds", self.seconds)

    @property
    def memory_seconds(self) -> float:
        return self.seconds


GUARDS: Catalog[Guard] = Catalog("guard", __name__)

DEFAULT_ORDER = (
    "roll_back",  # may replace the plan altogether, so it comes first
    "ineffective",
    "patience",
    "draining",
    "memory_first",
    "max_step",
    "quota",
    "bounds",  # whatever the others did, the plan can be run
    "stabilisation",  # these two only hold, so they come last
    "calendar",
)


GuardOptions = Mapping[str, Mapping[str, Any] | Guard | None]
"""Options of guards by name; None leaves a guard out, and a new name adds a guard of the user's own."""


def only(**kept: Mapping[str, Any] | Guard) -> GuardOptions:
    """Options that leave out all guards but these.

    >>> [guard.name for guard in chain(only(patience={"seconds": 60.0}))], chain(only())
    (['patience'], ())
    """
    return {**dict.fromkeys(DEFAULT_ORDER), **kept}


def chain(
    options: GuardOptions | None = None, rounding: Guard | None = None, unless_given: Iterable[str] = ()
) -> tuple[Guard, ...]:
    """Every guard in its place, with its own options; None leaves a guard out.

    Without options the quota and the calendar let every decision pass. A guard under another name vets before the
    bounds. `rounding` makes a plan one that the engine can carry out: it vets after those that change a plan and before
    those that only hold it. The guards in `unless_given`, whose work the policy does, are left out unless they have
    options.

    >>> [guard.name for guard in chain({"roll_back": None, "ineffective": None, "quota": {"slots": 40}})]
    ['patience', 'draining', 'memory_first', 'max_step', 'quota', 'bounds', 'stabilisation', 'calendar']
    """
    given = {} if options is None else options
    if not isinstance(given, Mapping):
        raise InvalidValueError("guards", f"must be the options of guards by name, not {given!r}")
    given = {**dict.fromkeys(unless_given), **given}
    own = [name for name in given if name not in DEFAULT_ORDER]
    for name in own:
        if given[name] is None or isinstance(given[name], Mapping):
            raise InvalidValueError("guard", unknown(name, DEFAULT_ORDER))
    for name, wish in given.items():
        if not (wish is None or isinstance(wish, Mapping) or hasattr(wish, "vet")):
            raise InvalidValueError(f"guard {name}", f"must be options by name, a guard or None, not {wish!r}")
    bounds, holding = DEFAULT_ORDER.index("bounds"), DEFAULT_ORDER.index("stabilisation")
    before = _made((*DEFAULT_ORDER[:bounds], *own, *DEFAULT_ORDER[bounds:holding]), given)
    return (*before, *(() if rounding is None else (rounding,)), *_made(DEFAULT_ORDER[holding:], given))


def _made(names: Iterable[str], given: GuardOptions) -> tuple[Guard, ...]:
    wishes = ((name, given.get(name, {})) for name in names)
    return tuple(
        GUARDS.create(name, wish) if isinstance(wish, Mapping) else wish for name, wish in wishes if wish is not None
    )


def cycles_to_remember(guards: Iterable[Guard], interval_seconds: float) -> int:
    """How many cycles the history must hold for these guards; with fewer, patience would never end.

    >>> cycles_to_remember(chain({"ineffective": None, "roll_back": None}), interval_seconds=10)
    31
    """
    longest = max((guard.memory_seconds for guard in guards), default=0.0)
    return math.ceil(longest / interval_seconds) + 1
