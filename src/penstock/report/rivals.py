"""The picture of a comparison: violations against cores, every policy a point, the oracle's frontier a line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from io import BytesIO
from statistics import fmean

from penstock.model.extras import needs
from penstock.report.comparison import Comparison, cost_unit
from penstock.report.picture import DPI, GRID, INK, MISSED, OPERATOR_COLOURS, PANEL_HEIGHT, WIDTH
from penstock.report.words import ratio
from penstock.runs.oracle import ALLOWED

with needs("plots"):
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, MaxNLocator

COLUMNS = 2
HEIGHT = 1.7 * PANEL_HEIGHT
MARKERS = "osD^vP*X"
LINEAR_UP_TO = 1e-3
"""Violations below this part of the time are drawn on a linear axis, and above it on a logarithmic one."""


def draw(comparisons: Sequence[Comparison]) -> bytes:
    """The picture as a PNG file, a panel for each load."""
    rows = math.ceil(len(comparisons) / COLUMNS)
    columns = min(COLUMNS, len(comparisons))
    figure = Figure(figsize=(WIDTH, 0.6 + rows * HEIGHT), dpi=DPI, layout="constrained", facecolor="white")
    panels = figure.subplots(rows, columns, squeeze=False).flat
    for axes, comparison in zip(panels, comparisons, strict=False):
        _panel(axes, comparison)
    for axes in list(figure.axes)[len(comparisons) :]:
        axes.remove()
    handles, labels = figure.axes[0].get_legend_handles_labels()
    legend = figure.legend(handles, labels, loc="outside right center", frameon=False, fontsize=9, labelcolor=INK)
    for text in legend.get_texts():
        text.set_parse_math(False)
    file = BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue()


def _panel(axes: Axes, comparison: Comparison) -> None:
    scale = 1.0 if comparison.oracle is None else comparison.oracle.best.core_seconds
    relative = comparison.oracle is not None or comparison.yardstick is None
    for number, (label, runs) in enumerate(comparison.rows.items()):
        if not runs:
            continue
        known = [run.oracle_ratio for run in runs if run.oracle_ratio is not None]
        cores = fmean(known) if relative and known else fmean(run.result.core_seconds for run in runs)
        colour = OPERATOR_COLOURS[number % len(OPERATOR_COLOURS)]
        marker = MARKERS[number // len(OPERATOR_COLOURS) % len(MARKERS)]
        missed = fmean(run.result.violation_ratio for run in runs)
        axes.scatter([cores], [missed], s=46, color=colour, marker=marker, zorder=4, label=label)
    if comparison.oracle is not None:
        frontier = comparison.oracle.frontier
        x, y = [run.core_seconds / scale for run in frontier], [run.violation_ratio for run in frontier]
        axes.plot(x, y, color=INK, lw=1.6, marker=".", zorder=3, label="oracle's frontier")
    axes.axhline(ALLOWED, color=MISSED, ls="--", lw=1.0, zorder=2, label=f"{ratio(ALLOWED)} of the time")
    axes.set_title(comparison.title, loc="left", fontsize=10, color=INK).set_parse_math(False)
    axes.set_yscale("symlog", linthresh=LINEAR_UP_TO)
    axes.set_ylim(0.0, 1.0)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: ratio(value)))
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6))
    unit = cost_unit(comparison.rows)
    cost = "core-seconds" if unit == "core" else "slot-seconds (nominal)"
    axes.set_xlabel(f"{cost}, times the oracle's" if relative else cost, color=INK)
    axes.set_ylabel("outside the targets", color=INK)
    axes.grid(color=GRID, lw=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(colors=INK, labelsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GRID)
