"""What queries take, and what they would take under the plans that were decided."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from penstock.model import Cycle, Mode, Slo

KEPT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What happened to a query, or to all queries of an application, since Penstock watches them in this mode.

    cycles                the last decisions, oldest first
    changes               how often the number of executors was changed
    core_seconds          what the executors took
    decided_core_seconds  what those would have taken that were decided on; the same in active mode, but for delays
    most_core_seconds     what the job would have taken with all the executors that it may have
    violated              share of the measured windows that missed a target; None if nothing was measured
    notes                 what the figures leave out, in sentences
    queries               a report for each query by its name, in the report of an application. The executors are the
                          application's, so the core-seconds of its queries do not add up
    """

    mode: Mode
    seconds: float
    cycles: tuple[Cycle, ...]
    changes: int
    core_seconds: float
    decided_core_seconds: float
    most_core_seconds: float
    violated: float | None
    notes: tuple[str, ...]
    queries: Mapping[str, Report] = field(default_factory=dict)

    @property
    def saved(self) -> float | None:
        """The share saved: in monitor mode what could be, against what is; else against the most it may have."""
        with_penstock, without = self.core_seconds, self.most_core_seconds
        if self.mode is Mode.MONITOR:
            with_penstock, without = self.decided_core_seconds, self.core_seconds
        return 1 - with_penstock / without if without else None

    def __str__(self) -> str:
        lines = [f"watched for {self.seconds:.0f} s in {self.mode} mode, {self.changes} changes made"]
        if not self.queries:
            lines += self._last_decision()
        if self.saved is not None and self.mode is Mode.MONITOR:
            would = (
                f"would take {self.decided_core_seconds:,.0f} core-seconds where {self.core_seconds:,.0f} were taken"
            )
            lines.append(f"{would}: {_less(self.saved)}")
        elif self.saved is not None:
            took = f"took {self.core_seconds:,.0f} core-seconds where the most allowed is {self.most_core_seconds:,.0f}"
            lines.append(f"{took}: {_less(self.saved)}")
        if not self.queries:
            lines += self._missed()
        lines += [f"note: {note}" for note in self.notes]
        for name, query in self.queries.items():
            own = (*query._last_decision(), *query._missed(), *(f"note: {note}" for note in query.notes))
            lines += [f"{name}: {query.changes} changes made", *(f"  {line}" for line in own)]
        return "\n".join(lines)

    def _last_decision(self) -> list[str]:
        if not self.cycles:
            return ["nothing was decided yet"]
        last = self.cycles[-1]
        return [
            f"in force: {last.before}; decided: {last.decision.plan}, because {last.decision.reason.text}",
            *(f"  {verdict.guard}: {verdict.reason.text}" for verdict in last.decision.verdicts),
            *([] if last.problem is None else [f"  {last.problem}"]),
        ]

    def _missed(self) -> list[str]:
        return [] if self.violated is None else [f"{self.violated:.0%} of the measured windows missed a target"]


def _less(saved: float) -> str:
    """
    >>> _less(0.25), _less(-0.5)
    ('25 % less', '50 % more')
    """
    return f"{abs(100 * saved):.0f} % {'less' if saved >= 0 else 'more'}"


class Savings:
    """Adds up what the cycles of one query cost as they end, or those of all queries of an application."""

    def __init__(self, slo: Slo, mode: Mode, cores_each: int, most: int) -> None:
        self._slo = slo
        self._mode = mode
        self._cores_each = cores_each
        self._most = most
        self._cycles: deque[Cycle] = deque(maxlen=KEPT)
        self._first_t: float | None = None
        self._changes = self._windows = self._missed = 0
        self._taken = self._decided = 0.0

    @property
    def slots(self) -> int:
        """The slots that the job had at the last decision; known even when Spark has ended."""
        return self._cycles[-1].before.widest if self._cycles else 0

    def report(self, notes: Sequence[str] = (), queries: Mapping[str, Report] | None = None) -> Report:
        seconds = self._cycles[-1].t - self._first_t if self._first_t is not None else 0.0
        return Report(
            mode=self._mode,
            seconds=seconds,
            cycles=tuple(self._cycles),
            changes=self._changes,
            core_seconds=self._taken,
            decided_core_seconds=self._decided,
            most_core_seconds=self._most * self._cores_each * seconds,
            violated=self._missed / self._windows if self._windows else None,
            notes=tuple(notes),
            queries=queries or {},
        )

    def add(self, cycle: Cycle) -> None:
        if self._cycles:
            last = self._cycles[-1]
            core_seconds = self._cores_each * (cycle.t - last.t)
            self._taken += core_seconds * (cycle.before.executors or 0)
            self._decided += core_seconds * (last.decision.plan.executors or 0)
        else:
            self._first_t = cycle.t
        self._cycles.append(cycle)
        self._changes += cycle.changed
        self._windows += len(cycle.samples)
        self._missed += sum(bool(self._slo.violations(sample)) for sample in cycle.samples)
