"""Figures as people read them: few digits, and always a unit."""

from __future__ import annotations

from penstock.model import Plan
from penstock.runs.result import Result

NOTHING = "–"
"""Shown for a figure that was not measured."""


def count(value: float | None) -> str:
    """A count; thousands are grouped, and numbers from a hundred thousand on are shortened.

    >>> count(7), count(48_500), count(350_000), count(2_500_000), count(None)
    ('7', '48,500', '350k', '2.5M', '–')
    """
    if value is None:
        return NOTHING
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= max(size, 1e5):
            return f"{value / size:.4g}{letter}"
    return f"{value:,.0f}"


def rate(value: float | None) -> str:
    """A rate with its unit.

    >>> rate(350_000)
    '350k records/s'
    """
    return NOTHING if value is None else f"{count(value)} records/s"


def ratio(value: float) -> str:
    """A ratio in percent.

    >>> ratio(0.28), ratio(0.00034)
    ('28.0 %', '0.03 %')
    """
    return f"{100 * value:.1f} %" if value == 0 or value >= 0.01 else f"{100 * value:.2f} %"


def milliseconds(value: float | None) -> str:
    """A time given in milliseconds, in the unit that fits it.

    >>> milliseconds(0.1443), milliseconds(108.29), milliseconds(18_121.1), milliseconds(None)
    ('0.144 ms', '108 ms', '18.1 s', '–')
    """
    if value is None:
        return NOTHING
    if value < 1e3:
        return f"{value:.3g} ms" if value < 100 else f"{value:.0f} ms"
    return f"{value / 1e3:.3g} s" if value < 120e3 else span(value / 1e3)


def span(seconds: float) -> str:
    """A duration in its two largest units.

    >>> span(42), span(90), span(7200), span(90_061)
    ('42 s', '1 min 30 s', '2 h', '1 d 1 h')
    """
    if seconds < 60:
        return f"{seconds:.3g} s"
    left, words = round(seconds), []
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min"), (1, "s")):
        whole, left = divmod(left, size)
        if whole:
            words.append(f"{whole} {unit}")
    return " ".join(words[:2])


def clock(seconds: float) -> str:
    """A time since the beginning of a run.

    >>> clock(1500), clock(90_061)
    ('0:25:00', '25:01:01')
    """
    minutes, second = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{second:02}"


def cost(result: Result) -> str:
    """What a run took, in core-seconds where there are executors, and in slot-seconds where only plans are known."""
    return f"{result.core_seconds:,.0f} {result.unit}-seconds"


def moves(before: Plan, after: Plan) -> str:
    """The differences between two plans.

    >>> moves(Plan({"split": 2, "count": 3}), Plan({"split": 2, "count": 5}))
    'count 3 → 5'
    """
    pairs: list[tuple[str, int | None, int | None]]
    pairs = [(name, before.parallelism.get(name), k) for name, k in after.parallelism.items()]
    pairs.append(("executors", before.executors, after.executors))
    pairs.append(("memory level", before.memory_level, after.memory_level))
    changed = [f"{name} {_or_nothing(old)} → {_or_nothing(new)}" for name, old, new in pairs if old != new]
    return ", ".join(changed) or ("placement" if before != after else "nothing")


def _or_nothing(value: int | None) -> str:
    return NOTHING if value is None else str(value)
