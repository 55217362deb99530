"""Policies side by side: means over seeds with their spread, the best of each column marked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from statistics import fmean, stdev
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from penstock.report.words import NOTHING
from penstock.runs.oracle import NAME as ORACLE
from penstock.runs.oracle import Oracle
from penstock.runs.result import Unit
from penstock.runs.yardstick import Scored, Yardstick

BEST = "*"
NOMINAL = "slot-s are nominal: slots of the plan, times seconds"
SAVED = "saved: part of the instances of the largest plan"


@dataclass(frozen=True)
class Column:
    """A figure that policies are compared by.

    title     its heading, in which {unit} stands for the unit of the cost
    scale     the factor that converts it to the unit of the title
    sign      1 where more is better, -1 where less is, 0 where neither is
    spread    whether the table shows the standard deviation
    decimals  how many the table shows; None leaves it to the size of the figure
    """

    name: str
    title: str
    read: Callable[[Scored], float | None]
    scale: float = 1
    sign: int = -1
    spread: bool = True
    decimals: int | None = None


COLUMNS = (
    Column("violation_ratio", "outside\ntargets, %", lambda s: s.result.violation_ratio, 100),
    Column("core_seconds", "thousand\n{unit}-s", lambda s: s.result.core_seconds, 1e-3),
    Column("oracle_ratio", "times\noracle", lambda s: s.oracle_ratio, spread=False, decimals=2),
    Column("saved_resources", "saved\n%", lambda s: s.result.saved_resources, 100, sign=1, spread=False),
    Column("rescales", "\nchanges", lambda s: s.result.rescales, sign=0, spread=False),
    Column("event_latency_p95_ms", "latency\np95, s", lambda s: s.result.event_latency_ms.p95, 1e-3),
    Column("decision_p50_ms", "decide\nms", lambda s: s.result.decision_ms.p50, spread=False),
)


def _followed(figure: str, title: str, scale: float = 1, sign: int = -1) -> Column:
    return Column(figure, title, lambda s: getattr(s.elasticity, figure, None), scale, sign, spread=False)


ELASTICITY = (
    _followed("accuracy_under", "short\nslots"),
    _followed("accuracy_over", "idle\nslots"),
    _followed("normalised_under", "short\n% of d", 100),
    _followed("normalised_over", "idle\n% of d", 100),
    _followed("timeshare_under", "short\n% time", 100),
    _followed("timeshare_over", "idle\n% time", 100),
    _followed("instability", "apart\n% time", 100),
    _followed("jitter", "jitter\n/h", 3600, sign=0),
)
"""How supply followed demand, in the words of `penstock.performance.elasticity`."""


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


@dataclass(frozen=True)
class Comparison:
    """The runs of several policies under one load, or under several together.

    rows       by policy, its runs
    yardstick  what they were measured against; None for several loads, each of which has its own
    """

    title: str
    rows: Mapping[str, Sequence[Scored]]
    yardstick: Yardstick | None = None

    @classmethod
    def together(cls, title: str, parts: Sequence[Comparison]) -> Comparison:
        labels = parts[0].rows_and_oracle
        return cls(title, {label: [run for part in parts for run in part.rows_and_oracle[label]] for label in labels})

    @property
    def oracle(self) -> Oracle | None:
        return None if self.yardstick is None else self.yardstick.oracle

    @property
    def rows_and_oracle(self) -> Mapping[str, Sequence[Scored]]:
        """The rows, and the runs of the oracle's best schedule as the last one."""
        if self.yardstick is None or self.oracle is None:
            return self.rows
        return {**self.rows, ORACLE: [self.yardstick.score(result) for result in self.oracle.best.results]}

    def tables(self, seeds: int) -> Iterator[Table]:
        """One table for targets and cores, and one for how supply followed demand, with the policies at its right."""
        rows = self.rows_and_oracle
        yield comparison_table(f"{self.title}, {seeds} seeds", rows)
        if any(run.elasticity is not None for runs in rows.values() for run in runs):
            yield _table("slots beside the demand d", ELASTICITY, rows, policy_first=False)

    def summary_json(self) -> dict[str, Any]:
        return {label: summary_json(runs) for label, runs in self.rows_and_oracle.items()}

    def oracle_json(self) -> dict[str, Any] | None:
        """The oracle's best schedule and its frontier: part of all seconds in violation, and core-seconds."""
        if self.oracle is None:
            return None
        best = self.oracle.best
        return {
            "violation_ratio": best.violation_ratio,
            "core_seconds": best.core_seconds,
            "rescales": best.results[0].rescales,
            "frontier": [[run.violation_ratio, run.core_seconds] for run in self.oracle.frontier],
        }


def summarise(column: Column, runs: Sequence[Scored]) -> Summary | None:
    return Summary.of([value for value in map(column.read, runs) if value is not None])


def comparison_table(title: str, rows: Mapping[str, Sequence[Scored]]) -> Table:
    """A table with one line for each policy. A star marks the best means of a column; a dash stands for no result.

    Beside an oracle, which says more about cores, saved resources are left out.
    """
    left_out = "saved_resources" if _known("oracle_ratio", rows) else "oracle_ratio"
    unit = cost_unit(rows)
    columns = [replace(each, title=each.title.format(unit=unit)) for each in COLUMNS if each.name != left_out]
    table = _table(title, columns, rows)
    notes = [*([NOMINAL] if unit == "slot" else []), *([SAVED] if left_out != "saved_resources" else [])]
    table.caption, table.caption_justify = "\n".join(notes) or None, "left"
    return table


def cost_unit(rows: Mapping[str, Sequence[Scored]]) -> Unit:
    """Cores, where all runs had executors; otherwise slots."""
    units = {run.result.unit for runs in rows.values() for run in runs}
    return "core" if units == {"core"} else "slot"


def _known(name: str, rows: Mapping[str, Sequence[Scored]]) -> bool:
    (column,) = (column for column in COLUMNS if column.name == name)
    return any(summarise(column, runs) is not None for runs in rows.values())


def _table(
    title: str, columns: Sequence[Column], rows: Mapping[str, Sequence[Scored]], policy_first: bool = True
) -> Table:
    table = Table(box=SIMPLE_HEAD, title=title, title_justify="left", title_style="bold", padding=(0, 1, 0, 0))
    summaries = [[summarise(column, runs) for runs in rows.values()] for column in columns]
    # The oracle is no rival: it marks what can be had at best.
    rivals = [label != ORACLE for label in rows]
    bests = [_best(column, list(compress(found, rivals))) for column, found in zip(columns, summaries, strict=True)]
    policies = Text("policy"), [Text(label, style="bold") for label in rows]
    cells = [
        [_cell(column, each, best if rival else None) for each, rival in zip(found, rivals, strict=True)]
        for column, found, best in zip(columns, summaries, bests, strict=True)
    ]
    if policy_first:
        table.add_column(policies[0], vertical="bottom", overflow="fold")
    for column in columns:
        table.add_column(column.title, justify="right", no_wrap=True)
    if not policy_first:
        table.add_column(policies[0], vertical="bottom", overflow="fold")
    for line in zip(*([policies[1], *cells] if policy_first else [*cells, policies[1]]), strict=True):
        table.add_row(*line)
    return table


def summary_json(runs: Sequence[Scored]) -> dict[str, Any]:
    """The same figures as JSON values, in the units of the results; those of elasticity under that name."""

    def means(columns: Sequence[Column]) -> dict[str, Any]:
        found = {column.name: summarise(column, runs) for column in columns}
        return {name: each and {"mean": each.mean, "deviation": each.deviation} for name, each in found.items()}

    return {"runs": len(runs), **means(COLUMNS), "elasticity": means(ELASTICITY)}


def _best(column: Column, summaries: Sequence[Summary | None]) -> float | None:
    """The best mean; None if there is nothing to compare."""
    means = [summary.mean for summary in summaries if summary is not None]
    if column.sign == 0 or len(means) < 2:
        return None
    return max(means) if column.sign > 0 else min(means)


def _cell(column: Column, summary: Summary | None, best: float | None) -> Text:
    if summary is None:
        return Text(NOTHING, style="dim")
    shown = Text(_short(column.scale * summary.mean, column.decimals), style="green" if summary.mean == best else "")
    if column.spread and summary.deviation is not None:
        shown.append(f" ±{_short(column.scale * summary.deviation)}", style="dim")
    return shown.append(BEST if summary.mean == best else " ")


def _short(value: float, decimals: int | None = None) -> str:
    """
    >>> _short(0.04567), _short(4.567), _short(1795.6), _short(1.0732, 2)
    ('0.05', '4.6', '1,796', '1.07')
    """
    usual = 0 if abs(value) >= 1000 else 1 if abs(value) >= 1 else 2
    return f"{value:,.{usual if decimals is None else decimals}f}"
