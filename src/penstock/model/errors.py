"""What goes wrong in ways a user can mend: always one sentence that names the field."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from difflib import get_close_matches


class PenstockError(Exception):
    """A problem the user can mend. Its text is one sentence; the command line prints it and exits with 2."""


class InvalidValueError(PenstockError, ValueError):
    """A value that cannot be: refused where it is made.

    >>> raise InvalidValueError("rate", "must not be negative, not -3")
    Traceback (most recent call last):
    penstock.model.errors.InvalidValueError: rate must not be negative, not -3
    """

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(field, problem)  # both, so that it can be sent to another process
        self.field = field
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.field} {self.problem}"


def check_number(field: str, value: float | None, minimum: float = 0.0) -> None:
    """Refuse text, NaN, infinity and anything below `minimum`; None means "not measured" and passes."""
    if value is None or (type(value) is float and minimum <= value < math.inf):  # nearly always
        return
    check_required_number(field, value, minimum)


def check_required_number(field: str, value: float, minimum: float = 0.0) -> None:
    """As `check_number`, for a figure that nobody can do without: None is refused too."""
    try:
        if minimum <= value < math.inf and value is not True and value is not False:
            return
    except TypeError:
        pass
    raise InvalidValueError(field, f"must be a finite number of at least {minimum:g}, not {value!r}")


LARGEST = 2.0**63
"""What no counter of 64 bits holds was not counted: a sum of such figures would not be finite."""


def check_measured(field: str, value: float | None) -> None:
    """As `check_number`, for a figure that somebody measured.

    >>> check_measured("backlog", 1e300)
    Traceback (most recent call last):
    penstock.model.errors.InvalidValueError: backlog must be at most 9.22337e+18, which no counter exceeds, not 1e+300
    """
    check_number(field, value)
    if value is not None and value > LARGEST:
        raise InvalidValueError(field, f"must be at most {LARGEST:g}, which no counter exceeds, not {value!r}")


def check_whole(field: str, value: int, minimum: int = 0) -> None:
    """Refuse anything but a whole number of at least `minimum`."""
    if not isinstance(value, int) or isinstance(value, bool) or value < minimum:
        raise InvalidValueError(field, f"must be a whole number of at least {minimum}, not {value!r}")


def check_port(field: str, value: object) -> None:
    """Refuse what is not the number of a TCP port; 0 stands for any free one."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= 65535:
        raise InvalidValueError(field, f"must be a port, from 0 (any free one) to 65535, not {value!r}")


def check_choice(field: str, value: str, choices: Sequence[str]) -> None:
    """Refuse what is not among `choices`, and name the nearest one."""
    if value not in choices:
        raise InvalidValueError(field, unknown(value, choices))


def check_options(owner: str, given: Iterable[str], known: Iterable[str], listed: str = "") -> None:
    """Refuse a name that is not that of an option; `listed` is where a user reads what each option means."""
    names, where = list(known), f" ({listed} says what each does)" if listed else ""
    for name in given:
        if name not in names:
            raise InvalidValueError(f"{owner}: option", unknown(name, names) + where)


def unknown(value: object, choices: Iterable[str]) -> str:
    """Say that `value` is not known, and what is.

    >>> unknown("ds3", ["ds2", "drs"])
    "'ds3' is not known; did you mean 'ds2'? There is: drs, ds2"
    """
    known = sorted(choices)
    near = get_close_matches(str(value), known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    return f"{value!r} is not known{hint} There is: {', '.join(known) or 'nothing'}"


class MissingFigureError(PenstockError):
    """A decision needs a figure that nobody measured. The loop turns this into a hold; nothing is made up.

    >>> print(MissingFigureError("useful_seconds", "split"))
    useful_seconds of split was not measured
    """

    def __init__(self, figure: str, of: str = "the job") -> None:
        super().__init__(figure, of)
        self.figure = figure
        self.of = of

    def __str__(self) -> str:
        return f"{self.figure} of {self.of} was not measured"
