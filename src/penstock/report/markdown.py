"""The report as a Markdown page."""

from __future__ import annotations

from penstock.report.story import Story, targets
from penstock.report.tables import figures, reasons_line
from penstock.report.words import clock, moves, span

PICTURE = "picture.png"


def report_text(story: Story) -> str:
    """The text of the page."""
    result, recorder = story.result, story.recorder
    stopped = " It was stopped before the trace ended." if story.stopped_early else ""
    lines = [
        f"# {story.title}",
        "",
        f"{span(result.seconds)} {_kind(story)}.{stopped} Targets: {targets(story.slo)}.",
        "",
        f"![load, parallelism, latency and backlog over time]({PICTURE})",
        "",
        "Shaded are the windows of measurement whose figures missed a target; the table counts every second.",
        "",
        "## Figures",
        "",
        *_figures(story),
        "",
        "## Changes of plan",
        "",
        reasons_line(recorder),
        "",
        *_changes(story),
    ]
    return "\n".join(lines) + "\n"


def _figures(story: Story) -> list[str]:
    results = {story.result.policy: story.result}
    if story.rival is not None:
        results[f"fixed plan ({story.rival.plan})"] = story.rival.result
    rows = [[figure.name, *(figure.read(result) for result in results.values())] for figure in figures(story)]
    return _table(["", *results], rows)


def _changes(story: Story) -> list[str]:
    recorder = story.recorder
    if not recorder.change_count:
        return ["There was none."]
    rows = []
    for cycle in recorder.changes:
        decision = cycle.decision
        guards = "; ".join(f"{verdict.guard}: {verdict.reason.text}" for verdict in decision.verdicts)
        why = f"{decision.reason.code.value}: {decision.reason.text}"
        rows.append([clock(cycle.t), moves(cycle.before, decision.plan), why, guards])
    table = _table(["at", "change", "reason", "guards"], rows)
    left_out = recorder.changes_left_out
    return [*table, "", f"{left_out} changes in the middle of the run are left out here."] if left_out else table


def _table(head: list[str], rows: list[list[str]]) -> list[str]:
    return [_row(head), _row(["---"] * len(head)), *map(_row, rows)]


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _kind(story: Story) -> str:
    return "on real Spark" if story.live else f"of simulated time, seed {story.result.seed}"
