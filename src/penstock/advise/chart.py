"""Charts of curves over time, as SVG inside a page: nothing is fetched, and colours follow the page's theme."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from penstock.advise.advice import Curve
from penstock.report.time_axis import axis_for
from penstock.report.words import count

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 860, 170, 58, 24, 10
TICKS = 8


@dataclass(frozen=True)
class Line:
    """A curve with the class that the page's styles know it by; `area` fills what lies below it."""

    curve: Curve
    style: str
    label: str
    area: bool = False


def chart(title: str, unit: str, seconds: float, lines: Sequence[Line], level: tuple[float, str] | None = None) -> str:
    """A chart from 0 on; `level` is a value to be marked across it, with its label."""
    most = max([*(value for line in lines for value in line.curve.values), level[0] if level else 0.0, 1e-9])
    step = nice(most * 1.05 / 4)
    top = step * math.ceil(most * 1.02 / step)
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">',
        *_grid(top, step, seconds),
        *(_drawn(line, seconds, top) for line in lines),
    ]
    if level is not None:
        y = _y(level[0], top)
        parts.append(f'<line class="level" x1="{LEFT}" x2="{WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>')
    keys = [f'<span class="key {line.style}">{line.label}</span>' for line in lines]
    keys += [f'<span class="key level">{level[1]}</span>'] if level is not None else []
    head = f"<figcaption><b>{title}</b> <small>{unit}</small> {' '.join(keys)}</figcaption>"
    return f"<figure>{head}{''.join(parts)}</svg></figure>"


def nice(value: float) -> float:
    """The next of 1, 2, 5, 10, ... times a power of ten.

    >>> nice(3.2), nice(0.11), nice(700)
    (5.0, 0.2, 1000.0)
    """
    power = 10.0 ** math.floor(math.log10(value))
    return next(float(f"{power * step:.6g}") for step in (1, 2, 5, 10) if power * step >= value * (1 - 1e-9))


def _grid(top: float, step: float, seconds: float) -> list[str]:
    parts = []
    for number in range(round(top / step) + 1):
        y, value = _y(number * step, top), number * step
        shown = count(value) if step >= 1 else f"{value:g}"
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{shown}</text>')
    axis = axis_for(seconds)
    every = nice(seconds / axis.seconds / TICKS)
    for number in range(int(seconds / axis.seconds / every) + 1):
        x = _x(number * every * axis.seconds, seconds)
        place = "end" if x > WIDTH - 30 else "middle"
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT - 6}" text-anchor="{place}">{number * every:g} {axis.unit}</text>')
    return parts


def _drawn(line: Line, seconds: float, top: float) -> str:
    """A curve in steps, as values hold for the width of a bin."""
    points = [f"{LEFT},{_y(line.curve.values[0], top):.1f}"] if line.curve.values else []
    x, before = float(LEFT), None
    for place, value in enumerate(line.curve.values):
        x = _x(min(seconds, (place + 1) * line.curve.width), seconds)
        y = _y(value, top)
        if before is not None and y != before:
            points.append(f"{_x(min(seconds, place * line.curve.width), seconds):.1f},{y:.1f}")
        points.append(f"{x:.1f},{y:.1f}")
        before = y
    if line.area:
        floor = _y(0.0, top)
        return f'<polygon class="{line.style}" points="{LEFT},{floor} {" ".join(points)} {x:.1f},{floor}"/>'
    return f'<polyline class="{line.style}" points="{" ".join(points)}"/>'


def _x(t: float, seconds: float) -> float:
    return LEFT + (WIDTH - LEFT) * t / max(seconds, 1e-9)


def _y(value: float, top: float) -> float:
    return TOP + (HEIGHT - BOTTOM - TOP) * (1 - value / top)
