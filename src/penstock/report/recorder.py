"""Records a run in memory that does not grow with the length of the run."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, replace

from penstock.model import Cycle, FrozenMap, Latency, ReasonCode, Sample, Slo
from penstock.model.errors import check_whole

MOST_POINTS = 2000
"""At most this many points are kept."""
MOST_CHANGES = 500
"""This many changes are kept from each end of the run; those in between are only counted."""


@dataclass(frozen=True, slots=True)
class Point:
    """A part of the run: one window of measurement, or neighbours merged into one.

    Rates and parallelism are averages over it. Latency and backlog are the worst in it, so that merging hides no
    violation. `missed_seconds` is how much of it was in windows that missed a target.
    """

    t: float
    seconds: float
    input_rate: float | None
    throughput: float | None
    backlog: float | None
    processing_latency_ms: float | None
    event_latency_ms: float | None
    missed_seconds: float
    parallelism: Mapping[str, float]

    @property
    def end(self) -> float:
        return self.t + self.seconds

    @property
    def total_parallelism(self) -> float:
        return sum(self.parallelism.values())

    def merged(self, later: Point) -> Point:
        """This point and the one after it as one."""

        def average(a: float | None, b: float | None) -> float | None:
            if a is None or b is None:
                return b if a is None else a
            return (a * self.seconds + b * later.seconds) / (self.seconds + later.seconds)

        names = dict.fromkeys((*self.parallelism, *later.parallelism))
        averages = {name: average(self.parallelism.get(name), later.parallelism.get(name)) for name in names}
        return Point(
            t=self.t,
            seconds=self.seconds + later.seconds,
            input_rate=average(self.input_rate, later.input_rate),
            throughput=average(self.throughput, later.throughput),
            backlog=_worst(self.backlog, later.backlog),
            processing_latency_ms=_worst(self.processing_latency_ms, later.processing_latency_ms),
            event_latency_ms=_worst(self.event_latency_ms, later.event_latency_ms),
            missed_seconds=self.missed_seconds + later.missed_seconds,
            parallelism=FrozenMap({name: value for name, value in averages.items() if value is not None}),
        )


def point_of(sample: Sample, slo: Slo) -> Point:
    """The point of one window, with the latencies by the statistic of the slo."""

    def latency(measured: Latency | None) -> float | None:
        return None if measured is None else measured.at(slo.statistic)

    return Point(
        t=sample.t,
        seconds=sample.seconds,
        input_rate=sample.job_input_rate,
        throughput=sample.throughput,
        backlog=sample.backlog,
        processing_latency_ms=latency(sample.processing_latency_ms),
        event_latency_ms=latency(sample.event_latency_ms),
        missed_seconds=sample.seconds if slo.violations(sample) else 0.0,
        parallelism=FrozenMap({name: float(operator.parallelism) for name, operator in sample.operators.items()}),
    )


class Recorder:
    """Records each cycle that it is called with.

    When `most_points` are kept, neighbours are merged in pairs, and from then on each new point holds as many windows
    as the merged ones. The first and the last `most_changes` changes of plan are kept.
    """

    def __init__(self, slo: Slo, most_points: int = MOST_POINTS, most_changes: int = MOST_CHANGES) -> None:
        check_whole("most_points", most_points, 2)
        check_whole("most_changes", most_changes, 1)
        self.slo = slo
        self.latest: Cycle | None = None
        self.reasons: Counter[ReasonCode] = Counter()
        self.guards: Counter[str] = Counter()
        self.change_count = 0
        self._most_points = most_points
        self._most_changes = most_changes
        self._points: list[Point] = []
        self._windows_per_point = 1
        self._windows_in_last = 0
        self._first: list[Cycle] = []
        self._last: deque[Cycle] = deque(maxlen=most_changes)

    def __call__(self, cycle: Cycle) -> None:
        self.latest = cycle
        self.reasons[cycle.decision.reason.code] += 1
        self.guards.update(verdict.guard for verdict in cycle.decision.verdicts)
        for sample in cycle.samples:
            self._add(point_of(sample, self.slo))
        if cycle.changed:
            self._keep(cycle)

    @property
    def points(self) -> tuple[Point, ...]:
        return tuple(self._points)

    @property
    def changes(self) -> tuple[Cycle, ...]:
        """The changes that were kept, oldest first; `change_count` is the number of all."""
        return (*self._first, *self._last)

    @property
    def changes_left_out(self) -> int:
        return self.change_count - len(self._first) - len(self._last)

    def _add(self, point: Point) -> None:
        if self._points and self._windows_in_last < self._windows_per_point:
            self._points[-1] = self._points[-1].merged(point)
            self._windows_in_last += 1
            return
        if len(self._points) >= self._most_points:
            self._halve()
            self._add(point)
            return
        self._points.append(point)
        self._windows_in_last = 1

    def _halve(self) -> None:
        """Merge neighbours in pairs; with an odd number, the last one is merged with the next point."""
        points, odd = self._points, len(self._points) % 2
        self._points = [a.merged(b) for a, b in zip(points[::2], points[1::2], strict=False)] + points[-1:] * odd
        self._windows_in_last = self._windows_per_point * (1 if odd else 2)
        self._windows_per_point *= 2

    def _keep(self, cycle: Cycle) -> None:
        """Keep a change, without its samples and figures: those are large, and the store has them."""
        self.change_count += 1
        kept = replace(cycle, samples=(), decision=replace(cycle.decision, figures=FrozenMap()))
        if len(self._first) < self._most_changes:
            self._first.append(kept)
        else:
            self._last.append(kept)


def _worst(a: float | None, b: float | None) -> float | None:
    if a is None or b is None:
        return b if a is None else a
    return max(a, b)
