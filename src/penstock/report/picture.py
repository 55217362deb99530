"""The picture of a run over time: load, parallelism, latency and backlog, one below the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from io import BytesIO

import numpy as np

from penstock.model import ReasonCode, direction
from penstock.model.extras import needs
from penstock.report.recorder import Point, Recorder
from penstock.report.story import Story
from penstock.report.time_axis import Axis, axis_for
from penstock.report.words import cost, count, milliseconds, ratio
from penstock.simulator.arrays import Floats

with needs("plots"):
    from matplotlib import colormaps
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine
    from matplotlib.ticker import EngFormatter, FuncFormatter, MaxNLocator

WIDTH, PANEL_HEIGHT, HEAD_HEIGHT, DPI = 11.5, 2.3, 0.9, 110
INK, GRID, MISSED = "#22303c", "#d9dfe4", "#c8102e"
OFFERED, DONE, PROCESSING, EVENT = "#8a97a3", "#0b6fb8", "#0b8a6f", "#7a3fb0"
OPERATOR_COLOURS = ("#0b6fb8", "#e0892b", "#0b8a6f", "#b8417b", "#7a6bd0", "#a3862a", "#4aa3c7", "#9c4b3a")
LOG_FROM = 20.0
"""A latency that spans more than this factor is drawn on a logarithmic axis."""

ARROWS = {
    ReasonCode.SCALE_UP: ("^", "#1a1a1a", "grows"),
    ReasonCode.SCALE_DOWN: ("v", "#1a1a1a", "shrinks"),
    ReasonCode.REBALANCE: ("D", "#1a1a1a", "rebalances"),
}


def draw(story: Story) -> bytes:
    """The picture as a PNG file."""
    points = story.recorder.points
    panels = [_load, _parallelism, _latency]
    if any(point.backlog for point in points):
        panels.append(_backlog)
    height = HEAD_HEIGHT + PANEL_HEIGHT * len(panels)
    figure = Figure(
        figsize=(WIDTH, height), dpi=DPI, layout=ConstrainedLayoutEngine(h_pad=0.08, hspace=0.03), facecolor="white"
    )
    heading = figure.suptitle(_heading(story), x=0.012, ha="left", fontsize=14, fontweight="bold", color=INK)
    heading.set_parse_math(False)  # a file name with dollar signs is not a formula
    all_axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    all_axes[0].set_title(_outcome(story), loc="left", fontsize=11, color=INK)
    time = axis_for(story.result.seconds)
    for axes, panel in zip(all_axes, panels, strict=True):
        _style(axes)
        panel(axes, story, time)
        _shade_missed(axes, points, time, "a target missed" if axes is all_axes[0] else "")
        _explain(axes)
    figure.align_ylabels()
    all_axes[-1].set_xlabel(f"time ({time.unit})", color=INK)
    all_axes[-1].xaxis.set_major_locator(MaxNLocator(nbins=12, steps=[1, 1.5, 2, 3, 6, 10]))
    all_axes[-1].set_xlim(0, max(story.result.seconds, 1.0) / time.seconds)
    file = BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue()


# The panels ----------------------------------------------------------------------------------------------------------


def _load(axes: Axes, story: Story, time: Axis) -> None:
    points = story.recorder.points
    middle = _middles(points, time)
    axes.plot(middle, _column(points, "input_rate"), color=OFFERED, lw=3.5, alpha=0.6, label="input rate")
    axes.plot(middle, _column(points, "throughput"), color=DONE, lw=1.4, label="throughput")
    axes.set_ylabel("records/s", color=INK)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(EngFormatter(sep=""))


def _parallelism(axes: Axes, story: Story, time: Axis) -> None:
    recorder = story.recorder
    names = list(dict.fromkeys(name for point in recorder.points for name in point.parallelism))
    edges = _edges(recorder.points, time)
    base = np.zeros(len(edges))
    for name, colour in zip(names, _colours(len(names)), strict=True):
        heights = [point.parallelism.get(name, 0.0) for point in recorder.points]
        top = base + np.array(heights + heights[-1:])
        axes.fill_between(edges, base, top, step="post", color=colour, lw=0, label=name, zorder=2)
        base = top
    if story.rival is not None:
        total = story.rival.plan.total
        axes.axhline(total, color=INK, ls="--", lw=1.2, label=f"fixed plan: {total} instances")
    _mark_changes(axes, recorder, time)
    axes.set_ylabel("instances", color=INK)
    highest = max([float(base.max(initial=1.0)), story.rival.plan.total if story.rival else 0.0])
    axes.set_ylim(0, 1.18 * highest)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))


def _mark_changes(axes: Axes, recorder: Recorder, time: Axis) -> None:
    """Mark each change of plan above the stack, with smaller signs where there are many."""
    size = 26.0 if recorder.change_count <= 60 else 8.0
    for code, (marker, colour, word) in ARROWS.items():
        found = [cycle for cycle in recorder.changes if direction(cycle.before, cycle.decision.plan) is code]
        if found:
            x = [cycle.t / time.seconds for cycle in found]
            y = [1.06 * max(cycle.before.total, cycle.decision.plan.total) for cycle in found]
            axes.scatter(x, y, s=size, marker=marker, color=colour, lw=0, zorder=4, label=f"{word} ({len(found)}×)")


def _latency(axes: Axes, story: Story, time: Axis) -> None:
    points, slo = story.recorder.points, story.slo
    middle = _middles(points, time)
    seen: list[float] = []
    # Often the two are equal: the wide, pale line shows on both sides of the narrow one.
    for word, name, colour, width, alpha, target in (
        ("event", "event_latency_ms", EVENT, 3.5, 0.5, slo.event_latency_ms),
        ("processing", "processing_latency_ms", PROCESSING, 1.4, 1.0, slo.processing_latency_ms),
    ):
        figures = _column(points, name)
        label = f"{word} latency ({slo.statistic})"
        axes.plot(middle, figures, color=colour, lw=width, alpha=alpha, label=label)
        if target is not None:
            axes.axhline(target, color=colour, ls="--", lw=1.3, label=f"its target: {milliseconds(target)}")
            seen.append(target)
        seen += figures[figures > 0].tolist()
    axes.set_ylabel("latency", color=INK)
    if seen and max(seen) > LOG_FROM * min(seen):
        axes.set_yscale("log")
        axes.set_ylim(min(seen) / 2, 2 * max(seen))
    else:
        axes.set_ylim(0, 1.15 * max(seen, default=1.0))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: milliseconds(value) if value else "0"))


def _backlog(axes: Axes, story: Story, time: Axis) -> None:
    points = story.recorder.points
    ends = np.array([point.end for point in points]) / time.seconds
    waiting = _column(points, "backlog")
    axes.fill_between(ends, 0, waiting, color=OFFERED, alpha=0.35, lw=0)
    axes.plot(ends, waiting, color=INK, lw=1.2, label="waiting in the source")
    axes.set_ylabel("records", color=INK)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: count(value)))


# What they share -----------------------------------------------------------------------------------------------------


def _heading(story: Story) -> str:
    stopped = " (stopped early)" if story.stopped_early else ""
    return f"{story.title}{stopped}"


def _outcome(story: Story) -> str:
    result = story.result
    nominal = " (nominal)" if result.unit == "slot" else ""
    return (
        f"{ratio(result.violation_ratio)} of the time outside its targets, {cost(result)}{nominal}, "
        f"{result.rescales} changes of plan"
    )


def _style(axes: Axes) -> None:
    axes.grid(color=GRID, lw=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(colors=INK, labelsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GRID)


def _explain(axes: Axes) -> None:
    """Put the legend beside the panel, where it covers nothing."""
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        style = {"frameon": False, "fontsize": 9, "labelcolor": INK}
        legend = axes.legend(handles, labels, loc="center left", bbox_to_anchor=(1.01, 0.5), **style)
        for text in legend.get_texts():
            text.set_parse_math(False)


def _shade_missed(axes: Axes, points: Sequence[Point], time: Axis, label: str) -> None:
    missed = [(point.t / time.seconds, point.seconds / time.seconds) for point in points if point.missed_seconds > 0]
    if missed:
        # With antialiasing, neighbours would show a seam where they meet.
        axes.broken_barh(
            missed, (0, 1), color=MISSED, alpha=0.1, lw=0, transform=axes.get_xaxis_transform(), zorder=0.5,
            label=label, antialiased=False,
        )  # fmt: skip


def _middles(points: Sequence[Point], time: Axis) -> Floats:
    return np.array([point.t + point.seconds / 2 for point in points]) / time.seconds


def _edges(points: Sequence[Point], time: Axis) -> Floats:
    """The beginning of each point, and the end of the last one."""
    return np.array([point.t for point in points] + [point.end for point in points[-1:]]) / time.seconds


def _column(points: Sequence[Point], name: str) -> Floats:
    """One figure over time; NaN, a gap in the line, where it was not measured."""
    return np.array([math.nan if getattr(point, name) is None else getattr(point, name) for point in points])


def _colours(number: int) -> list[str | tuple[float, float, float, float]]:
    if number <= len(OPERATOR_COLOURS):
        return list(OPERATOR_COLOURS[:number])
    return [colormaps["viridis"](index / (number - 1)) for index in range(number)]
