"""A straight line through the recent past."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from penstock.forecast._base import OnlineForecaster
from penstock.model.errors import check_required_number, check_whole
from penstock.model.options import option
from penstock.performance.regression import Line, least_squares


@dataclass
class Linear(OnlineForecaster):
    """Extends the least-squares line through the measurements of a window.

    With a single measurement in the window the line is level.

    >>> forecaster = Linear()
    >>> for minute in range(5):
    ...     forecaster.learn(60 * minute, 100 + 10 * minute)
    >>> forecaster.predict(120)
    160.0
    """

    name: ClassVar[str] = "linear"
    source: ClassVar[str] = "AUTOSCALE (2017): regression over the measurements of the last window"

    window: float = option(600.0, "how far back the line looks", "s")
    measurements: int = option(60, "how many measurements it looks at, at most")

    _points: deque[tuple[float, float]] = field(init=False, default_factory=deque)
    _line: Line | None = field(init=False, default=None, compare=False)  # through the points, once it was asked for

    def __post_init__(self) -> None:
        check_required_number("window", self.window)
        check_whole("measurements", self.measurements, 1)

    def _take(self, t: float, rate: float) -> None:
        self._line = None
        self._points.append((t, rate))
        while len(self._points) > self.measurements or self._points[0][0] < t - self.window:
            self._points.popleft()

    def _ahead(self, seconds: float) -> float:
        if self._line is None:
            times, rates = zip(*self._points, strict=True)
            self._line = least_squares(times, rates)
        return self._line.at(self._points[-1][0] + seconds)

    def _memory(self) -> dict[str, Any]:
        return {"points": [list(point) for point in self._points]}

    def _remember(self, memory: Mapping[str, Any]) -> None:
        self._points, self._line = deque((t, rate) for t, rate in memory["points"]), None
