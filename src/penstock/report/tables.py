"""The result of a run, as tables for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from penstock.model import Cycle, ReasonCode
from penstock.report.recorder import Recorder
from penstock.report.story import Story, targets
from penstock.report.words import clock, cost, count, milliseconds, moves, ratio, span
from penstock.runs.result import Result

SHOWN_CHANGES = 12

STYLES = {ReasonCode.SCALE_UP: "green", ReasonCode.SCALE_DOWN: "cyan", ReasonCode.ROLL_BACK: "red"}


@dataclass(frozen=True)
class Figure:
    """One line of the table of figures: its name, how to read it from a result, and whether a live run has it."""

    name: str
    read: Callable[[Result], str]
    live: bool = True


FIGURES = (
    Figure("time outside the targets", lambda r: ratio(r.violation_ratio)),
    Figure("mean parallelism", lambda r: f"{r.mean_parallelism:.1f} instances"),
    Figure("saved, of largest plan", lambda r: ratio(r.saved_resources), live=False),
    Figure("changes of plan", lambda r: count(r.rescales)),
    Figure("records processed", lambda r: ratio(r.processed_ratio) + _lost(r.lost_records), live=False),
    Figure("throughput degradation", lambda r: ratio(r.throughput_degradation), live=False),
    Figure("processing latency", lambda r: _latency(r.processing_latency_ms.mean, r.processing_latency_ms.p99)),
    Figure("event latency", lambda r: _latency(r.event_latency_ms.mean, r.event_latency_ms.p99)),
    Figure("time to decide", lambda r: f"{milliseconds(r.decision_ms.p50)} p50, {milliseconds(r.decision_ms.p99)} p99"),
)  # fmt: skip


def _lost(records: int | None) -> str:
    """The lost records in words; an empty text where they were not counted.

    >>> _lost(12), _lost(None)
    (', 12 lost', '')
    """
    return "" if records is None else f", {count(records)} lost"


def figures(story: Story) -> list[Figure]:
    """The figures that a run has. The cost comes second, with what it rests on."""
    held = "slots held, nominal" if story.result.unit == "slot" else f"cores, {story.basis}"
    first, *others = FIGURES
    return [first, Figure(held, cost), *(figure for figure in others if figure.live or not story.live)]


def figures_table(story: Story) -> RenderableType:
    """The figures of a run, beside those of its rival if it has one."""
    result, stopped = story.result, ", stopped early" if story.stopped_early else ""
    head = f"{story.title}: {span(result.seconds)}, seed {result.seed}{stopped}"
    table = Table(box=SIMPLE_HEAD)
    table.add_column("", style="dim", no_wrap=True)
    table.add_column(result.policy)
    if story.rival is not None:
        table.add_column("fixed plan")
    for figure in figures(story):
        rivals = () if story.rival is None else (figure.read(story.rival.result),)
        table.add_row(figure.name, figure.read(result), *rivals)
    return Group(Text(head, style="bold"), table, Text(f"Targets: {targets(story.slo)}", style="dim"))


def changes_table(recorder: Recorder, most: int = SHOWN_CHANGES) -> Table:
    """The first and the last changes of plan with their reasons, and the number of those in between."""
    changes, hidden = _ends(recorder.changes, most)
    hidden += recorder.changes_left_out
    table = Table(box=SIMPLE_HEAD, title="Changes of plan", title_justify="left", title_style="bold")
    table.add_column("at", style="dim", justify="right", no_wrap=True)
    table.add_column("change", ratio=2)
    table.add_column("reason", ratio=3)
    for index, cycle in enumerate(changes):
        if hidden and index == (len(changes) + 1) // 2:
            table.add_row("…", Text(f"{hidden} more", style="dim"), "")
        table.add_row(*change_row(cycle))
    return table


def change_row(cycle: Cycle, with_guards: bool = True) -> tuple[str, Text, Text]:
    """When and what a cycle changed, and why, with the reasons of the guards below."""
    decision = cycle.decision
    code = decision.reason.code
    reason = Text.assemble((code.value, STYLES.get(code, "yellow")), f": {decision.reason.text}")
    for verdict in decision.verdicts if with_guards else ():
        reason.append(f"\n{verdict.guard}: {verdict.reason.text}", style="dim")
    return clock(cycle.t), Text(moves(cycle.before, decision.plan)), reason


def reasons_line(recorder: Recorder) -> str:
    """How often each reason was given, and each guard changed a decision."""
    reasons = _tally((code.value, times) for code, times in recorder.reasons.most_common())
    guards = _tally(recorder.guards.most_common())
    return f"Decisions: {reasons or 'none'}." + (f" Guards that stepped in: {guards}." if guards else "")


def _tally(counts: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{name} {times}×" for name, times in counts)


def _ends(changes: tuple[Cycle, ...], most: int) -> tuple[tuple[Cycle, ...], int]:
    if len(changes) <= most:
        return changes, 0
    first = (most + 1) // 2
    return changes[:first] + changes[len(changes) - (most - first) :], len(changes) - most


def _latency(mean: float | None, p99: float | None) -> str:
    return f"{milliseconds(mean)} mean, {milliseconds(p99)} p99"
