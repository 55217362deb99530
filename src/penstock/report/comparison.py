"""Policies side by side: means over seeds with their spread, the best of each column marked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from penstock.report.words import NOTHING
from penstock.runs.result import Result

BEST = "*"


@dataclass(frozen=True)
class Column:
    """A figure that policies are compared by.

    scale   the factor that converts it to the unit of the title
    sign    1 where more is better, -1 where less is, 0 where neither is
    spread  whether the table shows the standard deviation
    """

    name: str
    title: str
    read: Callable[[Result], float | None]
    scale: float = 1
    sign: int = -1
    spread: bool = True


COLUMNS = (
    Column("violation_ratio", "outside\ntargets, %", lambda r: r.violation_ratio, 100),
    Column("core_seconds", "thousand\ncore-s", lambda r: r.core_seconds, 1e-3),
    Column("saved_resources", "saved\n%", lambda r: r.saved_resources, 100, sign=1, spread=False),
    Column("rescales", "\nchanges", lambda r: r.rescales, sign=0, spread=False),
    Column("event_latency_p95_ms", "latency\np95, s", lambda r: r.event_latency_ms.p95, 1e-3),
    Column("decision_p50_ms", "decide\nms", lambda r: r.decision_ms.p50, spread=False),
)


@dataclass(frozen=True)
class Summary:
    """The mean and the standard deviation of a figure over runs; a single run has no deviation."""

    mean: float
    deviation: float | None = None

    @classmethod
    def of(cls, values: Sequence[float]) -> Summary | None:
        """
        >>> Summary.of([1.0, 3.0]), Summary.of([2.0]), Summary.of([])
        (Summary(mean=2.0, deviation=1.4142135623730951), Summary(mean=2.0, deviation=None), None)
        """
        if not values:
            return None
        return cls(fmean(values), stdev(values) if len(values) > 1 else None)


def summarise(column: Column, results: Sequence[Result]) -> Summary | None:
    return Summary.of([value for value in map(column.read, results) if value is not None])


def comparison_table(title: str, rows: Mapping[str, Sequence[Result]]) -> Table:
    """A table with one line for each policy. A star marks the best means of a column; a dash stands for no result."""
    table = Table(box=SIMPLE_HEAD, title=title, title_justify="left", title_style="bold", padding=(0, 1, 0, 0))
    table.add_column("policy", style="bold", vertical="bottom", overflow="fold")
    summaries = []
    for column in COLUMNS:
        table.add_column(column.title, justify="right", no_wrap=True)
        summaries.append([summarise(column, results) for results in rows.values()])
    bests = [_best(column, found) for column, found in zip(COLUMNS, summaries, strict=True)]
    for label, *cells in zip(rows, *summaries, strict=True):
        shown = (_cell(*each) for each in zip(COLUMNS, cells, bests, strict=True))
        table.add_row(label, *shown)
    return table


def summary_json(results: Sequence[Result]) -> dict[str, Any]:
    """The same figures as JSON values."""
    found = {column.name: summarise(column, results) for column in COLUMNS}
    return {
        "runs": len(results),
        **{name: each and {"mean": each.mean, "deviation": each.deviation} for name, each in found.items()},
    }


def _best(column: Column, summaries: Sequence[Summary | None]) -> float | None:
    """The best mean; None if there is nothing to compare."""
    means = [summary.mean for summary in summaries if summary is not None]
    if column.sign == 0 or len(means) < 2:
        return None
    return max(means) if column.sign > 0 else min(means)


def _cell(column: Column, summary: Summary | None, best: float | None) -> Text:
    if summary is None:
        return Text(NOTHING, style="dim")
    shown = Text(_short(column.scale * summary.mean), style="green" if summary.mean == best else "")
    if column.spread and summary.deviation is not None:
        shown.append(f" ±{_short(column.scale * summary.deviation)}", style="dim")
    return shown.append(BEST if summary.mean == best else " ")


def _short(value: float) -> str:
    """
    >>> _short(0.04567), _short(4.567), _short(1795.6)
    ('0.05', '4.6', '1,796')
    """
    return f"{value:,.{0 if abs(value) >= 1000 else 1 if abs(value) >= 1 else 2}f}"
