"""The unit in which the time of a chart is read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Axis:
    """The unit of the time axis."""

    unit: str
    seconds: float


def axis_for(seconds: float) -> Axis:
    """
    >>> axis_for(90).unit, axis_for(7200).unit, axis_for(86_400).unit, axis_for(1e6).unit
    ('s', 'min', 'h', 'days')
    """
    for unit, size, most in (("s", 1.0, 600.0), ("min", 60.0, 3.5 * 3600), ("h", 3600.0, 5 * 86_400.0)):
        if seconds <= most:
            return Axis(unit, size)
    return Axis("days", 86_400.0)
