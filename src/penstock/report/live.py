"""A run as it happens, on one screen: load, latency, parallelism, and the last decisions with their reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.bar import Bar
from rich.box import ROUNDED
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from penstock.model import Plan
from penstock.report.recorder import Point, Recorder
from penstock.report.story import targets
from penstock.report.tables import change_row
from penstock.report.words import clock, count, milliseconds, rate

SPARKS = "▁▂▃▄▅▆▇█"
SPARK_WIDTH = 28
BAR_WIDTH = 40
SHOWN_CHANGES = 3


@dataclass(frozen=True)
class LiveView:
    """Draws what has been recorded so far of a run of `seconds`; `fixed` is the plan to compare with."""

    title: str
    recorder: Recorder
    seconds: float
    fixed: Plan
    unit: str = "simulated"

    def render(self) -> RenderableType:
        points = self.recorder.points
        if not points:
            return Panel("waiting for the first measurement", title=self.title, box=ROUNDED)
        moment = f"{clock(points[-1].end)} of {clock(self.seconds)}"
        parts = (self._figures(points), self._parallelism(points[-1]), self._decisions())
        return Panel(
            Group(*parts), title=f"[bold]{self.title}", subtitle=f"{moment} {self.unit}", box=ROUNDED, padding=(0, 1)
        )

    def _figures(self, points: Sequence[Point]) -> RenderableType:
        slo, last = self.recorder.slo, points[-1]
        table = Table.grid(padding=(0, 2))
        table.add_row("input rate", _spark([p.input_rate for p in points]), rate(last.input_rate))
        table.add_row("throughput", _spark([p.throughput for p in points]), rate(last.throughput))
        style = "bold red" if last.missed_seconds else "green"
        for name, figures, target in (
            ("processing latency", [p.processing_latency_ms for p in points], slo.processing_latency_ms),
            ("event latency", [p.event_latency_ms for p in points], slo.event_latency_ms),
        ):
            if target is not None:
                figure = f"{milliseconds(figures[-1])} (target {milliseconds(target)})"
                table.add_row(name, Text(_spark(figures, ceiling=target), style=style), Text(figure, style=style))
        table.add_row("waiting in the source", _spark([p.backlog for p in points]), f"{count(last.backlog)} records")
        return Group(table, Text(f"targets: {targets(slo)}", style="dim"))

    def _parallelism(self, last: Point) -> RenderableType:
        table = Table.grid(padding=(0, 2))
        scale = max(self.fixed.widest, *last.parallelism.values())
        for name, k in last.parallelism.items():
            table.add_row(name, Bar(scale, 0, k, width=BAR_WIDTH, color="blue"), f"{k:.0f}")
        total = f"{last.total_parallelism:.0f} instances; a fixed plan for the peak has {self.fixed.total}"
        return Group(Text(), table, Text(total, style="dim"), Text())

    def _decisions(self) -> RenderableType:
        latest = self.recorder.latest
        table = Table.grid(padding=(0, 2), expand=True)
        table.add_column(justify="right", no_wrap=True, min_width=len(clock(self.seconds)))
        table.add_column(overflow="ellipsis", no_wrap=True, ratio=2)
        table.add_column(overflow="ellipsis", no_wrap=True, ratio=3)
        for cycle in self.recorder.changes[: -SHOWN_CHANGES - 1 : -1]:
            table.add_row(*change_row(cycle, with_guards=False))
        if latest is None:
            return table
        decision = latest.decision
        said = [f"now: {decision.reason.code.value}, {decision.reason.text}", ""]
        if decision.verdicts:
            said[1] = f"     {decision.verdicts[-1].guard}: {decision.verdicts[-1].reason.text}"
        return Group(*(Text(line, no_wrap=True, overflow="ellipsis") for line in said), table)


def _spark(figures: Sequence[float | None], ceiling: float = 0.0) -> str:
    """The newest figures as small bars, scaled to the largest of all figures, or to the ceiling if that is higher.

    >>> _spark([0.0, 50.0, None, 100.0])
    '▁▅ █'
    """
    highest = max([ceiling, *(figure for figure in figures if figure is not None)])
    steps = len(SPARKS) - 1
    shown = figures[-SPARK_WIDTH:]
    return "".join(" " if f is None else SPARKS[round(steps * f / highest) if highest else 0] for f in shown)
