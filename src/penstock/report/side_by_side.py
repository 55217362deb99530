"""Paper and Penstock side by side: tables for the terminal, a page for the repository, pictures of the figures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from io import BytesIO

from rich.console import Group
from rich.table import Table
from rich.text import Text

from penstock.model.extras import needs
from penstock.report.bands import BANDS
from penstock.report.item import Chart, Claim, Figure, Item, Row
from penstock.report.judging import Judgement, Whose

SIGNS = {
    Judgement.HOLDS: ("✓", "green"),
    Judgement.CALIBRATED: ("=", "blue"),
    Judgement.FAILS: ("✗", "red"),
    Judgement.OPEN: ("?", "yellow"),
}


def figure_text(figure: Figure) -> str:
    """A figure as text.

    >>> figure_text(350000.0), figure_text(0.90961), figure_text(None), figure_text("3, 4, 12, 10")
    ('350,000', '0.91', '', '3, 4, 12, 10')
    """
    if figure is None:
        return ""
    if isinstance(figure, str):
        return figure
    return f"{figure:,.0f}" if abs(figure) >= 1000 else f"{figure:.3g}"


def for_terminal(item: Item) -> Group:
    """An item as a table of figures and a line for each claim."""
    head, rows = _figures(item.rows)
    table = Table(*head, box=None, pad_edge=False, title=item.title, title_justify="left")
    for column in table.columns[1:-1]:
        column.justify = "right"
    for row in rows:
        table.add_row(*row)
    lines = [Text(item.setting, style="dim")]
    for claim in item.claims:
        sign, colour = SIGNS[claim.judgement]
        remarks = _remarks(claim)
        lines.append(Text.assemble((f"{sign} ", colour), claim.text, (f" ({remarks})" if remarks else "", "dim")))
    return Group(table, *lines, "")


def for_page(item: Item, pictures: Sequence[str]) -> str:
    """An item as Markdown."""
    lines = [f"### {item.title}", "", item.setting, ""]
    if item.rows:
        head, rows = _figures(item.rows)
        rule = ["---", *("---:" for _ in head[1:-1]), "---"]
        lines += ["| " + " | ".join(head).lstrip() + " |", f"|{'|'.join(rule)}|"]
        lines += [f"| {' | '.join(row)} |" for row in rows]
        lines.append("")
    for claim in item.claims:
        sign, _ = SIGNS[claim.judgement]
        remarks = _remarks(claim)
        lines.append(f"- {sign} **{claim.judgement}**: {claim.text}" + (f" ({remarks})" if remarks else ""))
    lines += ["", *(f"![{item.title}]({picture})" for picture in pictures), ""]
    return "\n".join(lines)


def _remarks(claim: Claim) -> str:
    """What stands behind a claim: the band, the measure, what was calibrated, the cause."""
    found = claim.verdict
    parts = [found.band.words] if found.band else []
    parts += [found.why] if found.why else []
    if found.calibrated:
        parts.append(f"calibrated: {found.calibrated}")
    if claim.judgement is Judgement.FAILS:
        parts.append(f"cause {found.cause}")
    return "; ".join(parts)


def count_line(items: Sequence[Item]) -> str:
    """How many claims hold, hold by calibration, do not and by whose cause, or cannot be judged.

    What holds by calibration is no evidence: it is not in the percentage.
    """
    claims = [claim for item in items for claim in item.claims]
    found = [claim.judgement for claim in claims]
    holds, calibrated, fails, unjudged = (found.count(judgement) for judgement in SIGNS)
    judged = holds + fails
    share = f", {holds / judged:.0%} of those judged" if judged else ""
    causes = Counter(claim.verdict.cause.whose for claim in claims if claim.judgement is Judgement.FAILS)
    whose = f" (cause {', '.join(f'{whose} {causes[whose]}' for whose in Whose if causes[whose])})" if fails else ""
    return (
        f"{holds} claims hold{share}; {calibrated} hold by calibration; {fails} do not{whose}; "
        f"{unjudged} cannot be judged"
    )


def bands_for_page() -> str:
    """How near a figure must come to the paper's, as a section of the page."""
    lines = [
        "## How figures are judged",
        "",
        "A figure agrees with the paper's if it lies in the band of its kind, to both sides. The bands are the same "
        "for all papers. A figure from which constants of ours were set is marked in the column *calibrated*: a claim "
        "that rests on it holds by calibration, which is no evidence, and is counted apart. A claim without a number "
        "(more, fewer, earlier) is judged by its direction.",
        "",
        "| kind of figure | what it covers | band |",
        "|---|---|---|",
        *(f"| {band.kind} | {band.covers} | {band.words} |" for band in BANDS),
        "",
    ]
    return "\n".join(lines)


def picture_name(title: str, number: int) -> str:
    """A file name for a chart. A plus is part of a paper's name.

    >>> picture_name("AuTraScale, Fig. 5", 0), picture_name("AuTraScale+, Fig. 5", 0)
    ('autrascale-fig-5-1.png', 'autrascale-plus-fig-5-1.png')
    """
    words = title.lower().replace("+", "-plus")
    return f"{re.sub(r'[^a-z0-9]+', '-', words).strip('-')}-{number + 1}.png"


def draw_chart(chart: Chart) -> bytes:
    """A chart as PNG."""
    with needs("plots"):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure as Canvas

    figure = Canvas(figsize=(7.5, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for index, series in enumerate(chart.series):
        if chart.bars:
            width = 0.8 / len(chart.series)
            axes.bar([x - 0.4 + width * (index + 0.5) for x in series.x], series.y, width, label=series.label)
        else:
            axes.plot(series.x, series.y, label=series.label, linewidth=1.6, marker="o" if len(series.x) < 20 else None)
    if chart.ticks:
        axes.set_xticks(range(len(chart.ticks)), chart.ticks)
    axes.set(title=chart.title, xlabel=chart.x_label, ylabel=chart.y_label)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    if len(chart.series) > 1:
        axes.legend(frameon=False)
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=100, metadata={"Software": None})
    return buffer.getvalue()


def _figures(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    """The head and the lines of a table; figures of Spark, if there are any, are beside the simulator's."""
    if all(row.spark is None for row in rows):
        head = ["", "paper", "ours", "ratio"]
        lines = [[row.label, figure_text(row.paper), figure_text(row.ours), _ratio(row.ratio)] for row in rows]
    else:
        head = ["", "paper", "simulator", "Spark", "Spark / simulator"]
        lines = [
            [row.label, *map(figure_text, (row.paper, row.ours, row.spark)), _ratio(row.spark_ratio)] for row in rows
        ]
    if any(row.calibrated for row in rows):
        head.append("calibrated")
        lines = [[*line, "yes" if row.calibrated else ""] for line, row in zip(lines, rows, strict=True)]
    return [*head, "unit"], [[*line, row.unit] for line, row in zip(lines, rows, strict=True)]


def _ratio(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}"
