"""What a log comes to: how each query ran, and what policies would have made of the same load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.advise.knowledge import Knowledge


@dataclass(frozen=True)
class Curve:
    """Values over time, each for `width` seconds."""

    width: float
    values: tuple[float, ...]


@dataclass(frozen=True)
class Outcome:
    """What a query cost and how late it was: as it ran, or under a policy in the simulator.

    core_hours       hours of cores that it had, used or not
    violation_ratio  part of the time in which its target was missed
    changes          how often executors came or went
    latency_ms       event latency on average; None where there was no record
    latency_p95_ms   what 95 of 100 records stayed below
    cores            cores over time
    """

    core_hours: float
    violation_ratio: float
    changes: int
    latency_ms: float | None
    latency_p95_ms: float | None
    cores: Curve

    def to_json(self) -> dict[str, Any]:
        return {
            "core_hours": self.core_hours, "violation_ratio": self.violation_ratio, "changes": self.changes,
            "event_latency_ms": {"mean": self.latency_ms, "p95": self.latency_p95_ms},
        }  # fmt: skip


@dataclass(frozen=True)
class Costs:
    """What its batches cost, as far as they tell: slot-seconds of every batch and of a record, seconds of the driver.

    trigger_seconds  from the start of a batch to that of the next one; 0 where each follows the last
    batch_seconds    how long a batch took on average, and `longest_seconds` at most
    tasks            tasks of the stages in which most time is spent
    known_within     how sure the slots are that the load needs, as a part of them
    """

    fixed: float
    per_record: float
    overhead: float
    known_within: float
    tasks: int
    trigger_seconds: float
    batch_seconds: float
    longest_seconds: float


@dataclass(frozen=True)
class QueryAdvice:
    """One query of an application.

    file          its log
    begin         Unix seconds at which its first batch began
    seconds       seconds from then to its last batch, without the first one
    target_ms     the event latency that was asked for
    unit          what its plans are made of: executor, or slot where no executor is its own
    unit_cores    cores of one
    used_ratio    part of its core time in which tasks ran
    rate          records per second on average, `highest_rate` at most
    lag           records that waited in its sources at most; None where they do not report it
    ran           as it ran
    policies      what each policy would have made of the load, the recommended one first; empty if nobody can say
    oracle        the same for somebody who knows the load beforehand
    twin          the same for the executors that the job really had: how good the simulation is
    why_not       why there is nothing to compare with; empty if there is
    notes         what the log cannot show, in sentences
    knowledge     what a policy learnt from it, where that was asked for
    """

    file: Path
    application: str
    application_name: str
    version: str
    query: str
    begin: float
    seconds: float
    target_ms: float
    unit: str
    unit_cores: float
    used_ratio: float
    rate: float
    highest_rate: float
    lag: float | None
    ran: Outcome
    load: Curve
    latency: Curve
    costs: Costs | None = None
    policies: Mapping[str, Outcome] | None = None
    oracle: Outcome | None = None
    twin: Outcome | None = None
    why_not: str = ""
    notes: tuple[str, ...] = ()
    knowledge: Knowledge | None = None

    @property
    def hours(self) -> float:
        return self.seconds / 3600

    def units(self, outcome: Outcome) -> float:
        """Executors, or slots, on average."""
        return outcome.core_hours / self.hours / self.unit_cores if self.hours else 0.0

    @property
    def recommended(self) -> tuple[str, Outcome] | None:
        return next(iter((self.policies or {}).items()), None)

    def saving(self, outcome: Outcome) -> float:
        """The part of the core-hours that it would save; negative if it would take more."""
        return 1 - outcome.core_hours / self.ran.core_hours if self.ran.core_hours else 0.0

    @property
    def cores_saved(self) -> float:
        """Cores that the recommended policy would do without, on average: what jobs are ranked by."""
        if self.recommended is None or not self.hours:
            return 0.0
        return (self.ran.core_hours - self.recommended[1].core_hours) / self.hours

    def to_json(self) -> dict[str, Any]:
        costs = self.costs
        return {
            "application": self.application,
            "query": self.query,
            "seconds": self.seconds,
            "core_hours": self.ran.core_hours,
            "policies": {name: outcome.to_json() for name, outcome in (self.policies or {}).items()},
            "oracle": None if self.oracle is None else self.oracle.to_json(),
            "ran": self.ran.to_json(),
            "twin": None if self.twin is None else self.twin.to_json(),
            "file": str(self.file),
            "spark": self.version,
            "target_ms": self.target_ms,
            "unit": self.unit,
            "unit_cores": self.unit_cores,
            "used_ratio": self.used_ratio,
            "rate": self.rate,
            "highest_rate": self.highest_rate,
            "highest_lag": self.lag,
            "costs": None if costs is None else vars(costs).copy(),
            "why_not": self.why_not or None,
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class Failure:
    """A log that could not be read: the file, the line where one is to blame, and why."""

    file: Path
    line: int | None
    why: str

    def __str__(self) -> str:
        return f"{self.file}{'' if self.line is None else f', line {self.line}'}: {self.why}"

    def to_json(self) -> dict[str, Any]:
        return {"file": str(self.file), "line": self.line, "why": self.why}


@dataclass(frozen=True)
class LogAdvice:
    """What one log came to: the advice for each of its queries, or why there is none."""

    queries: tuple[QueryAdvice, ...] = ()
    failure: Failure | None = None


def ranked(queries: list[QueryAdvice]) -> list[QueryAdvice]:
    """Those that would save most first, by cores on average: a longer log is no better reason to begin with a job.

    Those of which nobody can say come last.
    """
    return sorted(queries, key=lambda query: (query.recommended is None, -query.cores_saved))
