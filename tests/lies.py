"""A job whose monitor lies: windows that are missing, stale, repeated, out of order, huge, empty, of another plan or of
another job, and a clock that somebody sets."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import strategies as st

from penstock.model import InvalidValueError, Latency, OperatorSample, Plan, Sample
from strategies import LinearJob

INTERVAL = 60.0
BEGIN = 1.7e9
"""Unix time, as on a live job."""

FIGURES = [each.name for each in dataclasses.fields(OperatorSample) if each.name not in ("parallelism", "records_from")]
JOB_FIGURES = ["input_rate", "throughput", "backlog", "dropped"]
NUMBERS = st.sampled_from([0.0, 5e-324, 1e-9, 1e-3, 1.0, 1e9, 1e18, 1e100, 1.7e308])
SHIFTS = st.sampled_from(
    [-1e9, -86_400.0, -3_600.0, -90.0, -61.0, -1.0, 1.0, 61.0, 90.0, 3_600.0, 86_400.0, 1e9, 1e200]
)


@dataclass(frozen=True)
class Lie:
    """What one cycle's reading is instead of the honest window, and by how much the clock is set before it."""

    kind: str
    number: float = 0.0
    figure: str = ""
    clock: float = 0.0


@st.composite
def lies(draw: st.DrawFn) -> Lie:
    kind = draw(st.sampled_from([
        "honest", "nothing", "error", "refused", "empty", "stale", "again", "future", "reversed", "huge", "one figure",
        "one figure missing", "another plan", "another job", "length", "warm up", "useless",
    ]))  # fmt: skip
    return Lie(
        kind,
        draw(SHIFTS if kind in ("stale", "future") else NUMBERS),
        draw(st.sampled_from(FIGURES + JOB_FIGURES)),
        draw(
            st.just(0.0)
            | st.just(0.0)
            | st.just(0.0)
            | st.sampled_from([-1e6, -3_600.0, -61.0, -5.0, 5.0, 3_600.0, 1e6])
        ),
    )


@dataclass
class SetClock:
    """Unix time on a machine whose clock somebody sets."""

    t: float = BEGIN
    steady_t: float = 0.0

    def now(self) -> float:
        return self.t

    def steady(self) -> float:
        return self.steady_t

    def advance(self, seconds: float) -> None:
        self.t += seconds
        self.steady_t += seconds


@dataclass
class LyingJob:
    """A linear job that is monitor and actuator in one; what it reads is the next entry of `lies`, then the truth."""

    job: LinearJob
    in_force: Plan
    lies: list[Lie]
    clock: SetClock = field(default_factory=SetClock)
    due: bool = False  # a window ends with an interval, however often somebody looks
    _backlog: float = 0.0
    _before: list[Sample] = field(default_factory=list)

    def plan(self) -> Plan:
        return self.in_force

    def apply(self, plan: Plan) -> None:
        self.in_force = plan

    def advance(self) -> None:
        self.due = True
        self.clock.advance(INTERVAL)
        if self.lies and self.lies[0].clock:
            self.clock.t = max(0.0, self.clock.t + self.lies[0].clock)

    def read(self) -> Sequence[Sample]:
        if not self.due:
            return []
        self.due = False
        before, honest = self._before, self._honest()
        self._before = [*before, honest][-3:]
        return self._told(self.lies.pop(0) if self.lies else Lie("honest"), honest, before)

    def _honest(self) -> Sample:
        begin = max(0.0, self.clock.t - INTERVAL)
        empty = Sample(t=0, seconds=1, operators={}, backlog=self._backlog)
        window = replace(self.job, seconds=INTERVAL).respond(self.in_force, empty)
        self._backlog = window.backlog or 0.0
        return replace(window, t=begin)

    def _told(self, lie: Lie, honest: Sample, before: list[Sample]) -> Sequence[Sample]:
        match lie.kind:
            case "nothing":
                return []
            case "error":
                raise OSError("the metrics are away")
            case "refused":  # a monitor that measured a negative number
                raise InvalidValueError("backlog", "must be a finite number of at least 0, not -3")
            case "empty":
                operators = {name: OperatorSample(each.parallelism) for name, each in honest.operators.items()}
                return [Sample(t=honest.t, seconds=honest.seconds, operators=operators)]
            case "useless":
                return [Sample(t=honest.t, seconds=honest.seconds, operators={})]
            case "stale" | "future":
                return [replace(honest, t=max(0.0, honest.t + lie.number))]
            case "again":
                return before[-1:]
            case "reversed":
                return [honest, *reversed(before)]
            case "huge":
                return [_all_figures(honest, lie.number)]
            case "one figure":
                return [_one_figure(honest, lie.figure, lie.number)]
            case "one figure missing":
                return [_one_figure(honest, lie.figure, None)]
            case "another plan":
                k = int(min(lie.number, 1e6)) + 1
                operators = {name: replace(each, parallelism=k) for name, each in honest.operators.items()}
                return [replace(honest, operators=operators)]
            case "another job":
                return [replace(honest, operators={"other": OperatorSample(1, 10.0, 10.0, 1.0)})]
            case "length":
                return [replace(honest, seconds=max(lie.number, 1e-9))]
            case "warm up":
                return [replace(honest, warm_up=True)]
        return [honest]


def has_a_figure(window: Sample) -> bool:
    figures: list[Any] = [window.input_rate, window.throughput, window.backlog]
    figures += [getattr(each, name) for each in window.operators.values() for name in FIGURES]
    return any(figure is not None for figure in figures)


def _all_figures(sample: Sample, number: float) -> Sample:
    operators = {
        name: OperatorSample(each.parallelism, number, number, number, number, number, number)
        for name, each in sample.operators.items()
    }
    latency = Latency(number, number, number, number)
    return Sample(
        t=sample.t, seconds=sample.seconds, operators=operators, input_rate=number, throughput=number, backlog=number,
        dropped=number, processing_latency_ms=latency, event_latency_ms=latency,
    )  # fmt: skip


def _one_figure(sample: Sample, figure: str, number: float | None) -> Sample:
    if figure in JOB_FIGURES:
        told: dict[str, Any] = {figure: number}
        return replace(sample, **told)
    value: Any = (number,) if figure == "instance_rates" and number is not None else number
    each: dict[str, Any] = {figure: value}
    return replace(sample, operators={name: replace(one, **each) for name, one in sample.operators.items()})
