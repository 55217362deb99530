"""The report of a running job: what it took, what it would have taken, and what nobody measured.

With executors that come and go the cost is in core-seconds, from Spark's own events. Without them only the parallelism
moves, nothing is given back, and the cost is in slot-seconds: the slots that the plans held. That is nominal.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from penstock.control.loop import Loop
from penstock.model import Cycle, Mode, Plan, ReasonCode, Slo
from penstock.model.notebook import html_table
from penstock.spark.executors.core_seconds import ExecutorBill

KEPT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class JobReport:
    """What happened to a job since it runs in its present mode.

    mode            what Penstock may do
    unit            core or slot: what was paid for, or what the plans held
    seconds         seconds that it covers
    cycles          the last decisions, oldest first
    changes         how often the job was changed
    taken           unit-seconds that the job took
    decided         unit-seconds that the plans would have taken that were decided on
    most            unit-seconds of all the executors that it may have, for the whole time; None without executors
    most_executors  how many those are
    violated        share of the measured time that missed a target; None if nothing was measured
    duplicates      records that came twice at the sinks; None where nobody counts them
    notes           what the figures leave out, and what changes cost, in sentences
    """

    mode: Mode
    unit: str
    seconds: float
    cycles: tuple[Cycle, ...]
    changes: int
    taken: float
    decided: float
    most: float | None
    most_executors: int | None
    violated: float | None
    duplicates: int | None
    notes: tuple[str, ...]

    @property
    def saved(self) -> float | None:
        """The share saved. In monitor mode: by what was decided, of what was taken. Otherwise by what was taken, of all
        the executors that the job may have; None where there is nothing to compare with."""
        if self.mode is Mode.MONITOR:
            return 1 - self.decided / self.taken if self.taken else None
        return 1 - self.taken / self.most if self.most else None

    def __str__(self) -> str:
        twice = [] if self.duplicates is None else [f"{self.duplicates:,} records came twice"]
        notes = (f"note: {note}" for note in self.notes)
        return "\n".join((self.summary(), *self.decision(), *self.cost(), *self.outside(), *twice, *notes))

    def _repr_html_(self) -> str:
        """For notebooks."""
        return html_table(self.summary(), self.rows())

    def rows(self) -> list[tuple[str, str]]:
        """What is below the first line, each line with a word for what it is about."""
        about = {"decision": self.decision(), "cost": self.cost(), "target": self.outside(), "note": list(self.notes)}
        return [(word, line.strip()) for word, lines in about.items() for line in lines]

    def summary(self) -> str:
        """The first line: for how long, in which mode, how many changes."""
        made = "1 change made" if self.changes == 1 else f"{self.changes} changes made"
        return f"steered for {self.seconds:.0f} s in {self.mode} mode, {made}"

    def decision(self) -> list[str]:
        """The last decision, in lines."""
        last = next((cycle for cycle in reversed(self.cycles) if _decides(cycle)), None)
        if last is None:
            return []
        return [
            f"in force: {last.before}; decided: {last.decision.plan}, because {last.decision.reason.text}",
            *(f"  {verdict.guard}: {verdict.reason.text}" for verdict in last.decision.verdicts),
            *([] if last.problem is None else [f"  {last.problem}"]),
        ]

    def cost(self) -> list[str]:
        """What was taken, and what is saved by it; empty before two decisions."""
        return [self._cost()] if self.seconds else []

    def outside(self) -> list[str]:
        """For how long the target was missed; empty if nothing was measured."""
        return (
            []
            if self.violated is None
            else [f"{100 * self.violated:.1f} % of the measured time was outside the target"]
        )

    def _cost(self) -> str:
        if self.unit == "slot":
            took = f"the plans held {self.taken:,.0f} slot-seconds (nominal: no executor is given back)"
        else:
            took = f"took {self.taken:,.0f} core-seconds, by Spark's executor events"
        if self.saved is None:
            return took
        if self.mode is Mode.MONITOR:
            return f"{took}; what was decided would take {self.decided:,.0f}: {_less(self.saved)}"
        most = f"the {self.most_executors} executors that it may have, for the whole time, {self.most:,.0f}"
        return f"{took}; {most}: {_less(self.saved)}"


def load_notes(loop: Loop) -> list[str]:
    """How well it is known what a job in micro-batches needs, in a sentence; empty where nothing was measured yet, and
    where operators run concurrently, each on slots of its own."""
    view = loop.view
    return [] if view is None or view.load is None else [f"at {view.rate:,.0f} records/s {view.load}"]


def _decides(cycle: Cycle) -> bool:
    """Whether a cycle says something: one without a new window leaves what was decided as it is."""
    return cycle.decision.reason.code is not ReasonCode.NO_NEW_WINDOW


def _less(saved: float) -> str:
    """
    >>> _less(0.25), _less(-0.5)
    ('25 % less', '50 % more')
    """
    return f"{abs(100 * saved):.0f} % {'less' if saved >= 0 else 'more'}"


class Account:
    """Adds up what the cycles of a job cost as they end. It begins anew when the mode changes."""

    def __init__(self, slo: Slo, mode: Mode, slots_of: Callable[[Plan], int], executors: ExecutorBill | None) -> None:
        """
        slots_of   the slots that a plan holds, which are counted where nothing is known of executors
        executors  what executors cost, for a job that changes their number
        """
        self._slo = slo
        self._slots_of = slots_of
        self._executors = executors
        self._standing: Plan  # what was decided last
        self._begin(mode)

    def _begin(self, mode: Mode) -> None:
        self._mode = mode
        self._cycles: deque[Cycle] = deque(maxlen=KEPT)
        self._first_t: float | None = None
        self._changes = 0
        self._measured = self._missed = self._held = self._decided = 0.0
        self._paid_before = self._paid = 0.0

    def add(self, cycle: Cycle) -> None:
        if cycle.mode is not self._mode:
            self._begin(cycle.mode)
        if self._executors is not None:
            self._paid = self._executors.core_seconds(cycle.t)
        if self._cycles:
            seconds = cycle.t - self._cycles[-1].t
            self._held += seconds * self._slots_of(cycle.before)
            self._decided += seconds * self._units(self._standing)
        else:
            self._first_t, self._paid_before = cycle.t, self._paid
        if _decides(cycle) or not self._cycles:
            self._standing = cycle.decision.plan
        self._cycles.append(cycle)
        self._changes += cycle.changed
        self._measured += sum(sample.seconds for sample in cycle.samples)
        self._missed += sum(sample.seconds for sample in cycle.samples if self._slo.violations(sample))

    @property
    def latest(self) -> Cycle | None:
        return self._cycles[-1] if self._cycles else None

    def report(self, notes: Sequence[str] = (), duplicates: int | None = None) -> JobReport:
        seconds = self._cycles[-1].t - self._first_t if self._first_t is not None else 0.0
        bill = self._executors
        return JobReport(
            mode=self._mode,
            unit="slot" if bill is None else "core",
            seconds=seconds,
            cycles=tuple(self._cycles),
            changes=self._changes,
            taken=self._held if bill is None else self._paid - self._paid_before,
            decided=self._decided,
            most=None if bill is None or bill.most is None else bill.most * bill.cores_each * seconds,
            most_executors=None if bill is None else bill.most,
            violated=self._missed / self._measured if self._measured else None,
            duplicates=duplicates,
            notes=tuple(notes),
        )

    def _units(self, plan: Plan) -> int:
        if self._executors is None:
            return self._slots_of(plan)
        return (plan.executors or 0) * self._executors.cores_each
