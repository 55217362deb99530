"""Load curves: a rate over time, from a file or from a formula."""

from __future__ import annotations

import csv
import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.model import InvalidValueError, PenstockError
from penstock.model.errors import check_number

Floats = npt.NDArray[np.float64]

HEADER = ["t_seconds", "rate"]
NO_RATE = ("", "nan", "null", "none")
"""What files have where nothing was measured."""
MOST_RECORDS = 1e12
"""The highest rate, in records per second: they are counted as 64-bit integers, over years if need be."""


@dataclass(frozen=True)
class Trace:
    """Rates in records per second at growing times, with straight lines in between.

    >>> ramp = Trace("ramp", (0.0, 100.0), (0.0, 50.0))
    >>> ramp.seconds, ramp.peak, ramp.at(np.array([10.0, 90.0])).tolist()
    (100.0, 50.0, [5.0, 45.0])
    """

    name: str
    times: tuple[float, ...]
    rates: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.times) != len(self.rates) or len(self.times) < 2:
            raise InvalidValueError(f"trace {self.name}", "must have at least two points")
        for t, rate in zip(self.times, self.rates, strict=True):
            check_number(f"trace {self.name}: rate at {t:g} s", rate)
            if rate > MOST_RECORDS:
                raise InvalidValueError(f"trace {self.name}: rate at {t:g} s", f"must be at most {MOST_RECORDS:g}")
        if any(b < a for a, b in zip(self.times, self.times[1:], strict=False)):
            raise InvalidValueError(f"trace {self.name}: t_seconds", "must not decrease")

    @property
    def seconds(self) -> float:
        return self.times[-1] - self.times[0]

    @property
    def peak(self) -> float:
        return max(self.rates)

    def at(self, seconds: npt.NDArray[np.floating[Any]]) -> Floats:
        """The rates at these numbers of seconds after the beginning."""
        times, rates = self._points
        found: Floats = np.interp(seconds + self.times[0], times, rates)
        return found

    @cached_property
    def _points(self) -> tuple[Floats, Floats]:
        return np.array(self.times), np.array(self.rates)

    def scaled(self, peak: float | None) -> Trace:
        """The same curve with another highest rate."""
        if peak is None:
            return self
        check_number("peak", peak)
        if self.peak == 0:
            raise InvalidValueError(f"trace {self.name}", "must not be 0 throughout to be scaled to a peak")
        return Trace(self.name, self.times, tuple(rate * peak / self.peak for rate in self.rates))

    def compressed(self, factor: float) -> Trace:
        """The same curve, `factor` times as fast."""
        check_number("compress", factor, 1e-9)
        return Trace(self.name, tuple(t / factor for t in self.times), self.rates)

    def first(self, seconds: float | None) -> Trace:
        """The first `seconds` of the curve; all of it for None.

        >>> Trace("ramp", (0.0, 100.0), (0.0, 50.0)).first(60.0)
        Trace(name='ramp', times=(0.0, 60.0), rates=(0.0, 30.0))
        """
        if seconds is None or seconds >= self.seconds:
            return self
        check_number("seconds", seconds, 1e-3)
        end = self.times[0] + seconds
        kept = [point for point in zip(self.times, self.rates, strict=True) if point[0] < end]
        last = float(np.interp(end, self.times, self.rates))
        return Trace(self.name, (*(t for t, _ in kept), end), (*(rate for _, rate in kept), last))

    def after(self, seconds: float) -> Trace:
        """What is left of the curve after its first `seconds`, with its beginning at 0.

        >>> Trace("ramp", (0.0, 100.0), (0.0, 50.0)).after(60.0)
        Trace(name='ramp', times=(0.0, 40.0), rates=(30.0, 50.0))
        """
        check_number("seconds", seconds, 0.0)
        if not seconds < self.seconds:
            raise InvalidValueError(f"trace {self.name}", f"must be longer than {seconds:g} s for a part after them")
        start = self.times[0] + seconds
        kept = [point for point in zip(self.times, self.rates, strict=True) if point[0] > start]
        first = float(np.interp(start, self.times, self.rates))
        return Trace(self.name, (0.0, *(t - start for t, _ in kept)), (first, *(rate for _, rate in kept)))


def read_trace(path: Path, *, fill_gaps: bool = False) -> Trace:
    """Read a file of `t_seconds,rate` lines at even distances; an error names the line.

    With `fill_gaps`, lines may be missing or have no rate: the points on both sides of such a gap are joined by a
    straight line.
    """
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = [(number, row) for number, row in enumerate(csv.reader(file), 1) if row]
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "it is not a text file"
        raise PenstockError(f"trace {path} cannot be read: {reason}") from None
    if not rows or [cell.strip() for cell in rows[0][1]] != HEADER:
        raise PenstockError(f"trace {path} must begin with the line {','.join(HEADER)}")
    times: list[float] = []
    rates: list[float] = []
    for number, row in rows[1:]:
        where = f"trace {path}, line {number}"
        if len(row) != 2:
            raise PenstockError(f"{where}: must have two values, not {len(row)}")
        if fill_gaps and row[1].strip().lower() in NO_RATE:
            continue
        times.append(_number(where, "t_seconds", row[0]))
        rates.append(_number(where, "rate", row[1]))
        if len(times) > 1 and times[-1] <= times[-2]:
            raise PenstockError(f"{where}: t_seconds must grow, but {times[-1]:g} follows {times[-2]:g}")
        if (
            not fill_gaps
            and len(times) > 2
            and not math.isclose(times[-1] - times[-2], times[1] - times[0], rel_tol=1e-3)
        ):
            usual = times[1] - times[0]
            raise PenstockError(
                f"{where}: t_seconds must be evenly spaced by {usual:g} s, but {times[-1]:g} follows {times[-2]:g}"
            )
    if len(times) < 2:
        raise PenstockError(f"trace {path} must have at least two lines of figures")
    if fill_gaps:
        times, rates = _filled(times, rates)
    return Trace(path.stem, tuple(times), tuple(rates))


def _filled(times: list[float], rates: list[float]) -> tuple[list[float], list[float]]:
    """The points with others in between, so that all are about as far apart as most are.

    >>> _filled([0.0, 5.0, 20.0, 25.0], [1.0, 1.0, 4.0, 4.0])
    ([0.0, 5.0, 10.0, 15.0, 20.0, 25.0], [1.0, 1.0, 2.0, 3.0, 4.0, 4.0])
    """
    usual = float(np.median(np.diff(times)))
    even = [times[0]]
    for before, after in itertools.pairwise(times):
        parts = max(1, round((after - before) / usual))
        even += [before + (after - before) * part / parts for part in range(1, parts)] + [after]
    return even, np.interp(even, times, rates).tolist()


def _number(where: str, field: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise PenstockError(f"{where}: {field} must be a number, not {text.strip()!r}") from None
    if not 0 <= value < math.inf:
        raise PenstockError(f"{where}: {field} must not be negative or infinite, not {text.strip()}")
    return value
