"""Reads what stores keep of all jobs of a database: for the page, and for whoever looks back.

Charts are summed up by the database: a month of cycles comes as a few hundred points.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sql

from penstock.model import Cycle, JobDescription
from penstock.stores.codec import from_json
from penstock.stores.database import Database
from penstock.stores.description import read_description
from penstock.stores.tables import cycles, jobs, points, prepare

WALL_CLOCK = 1e8
"""Times beyond this are Unix time; smaller ones are seconds since the start of a simulation."""

MOST_PLANS = 2000
"""Of a job that changed more often, the newest so many plans are shown."""


@dataclass(frozen=True, slots=True)
class Span:
    """The cycles of one job that belong together: all of a live job; of a simulation those of its last run."""

    job: str
    first: int
    last: int
    began: float
    ended: float

    @property
    def simulated(self) -> bool:
        return self.ended < WALL_CLOCK


@dataclass(frozen=True, slots=True)
class Recorded:
    """A cycle with its number."""

    number: int
    cycle: Cycle


class History:
    """The jobs of one database. It only reads."""

    def __init__(self, url: str) -> None:
        self._database = Database(url)
        with self._database.sentences("opened"), self._database.engine.begin() as connection:
            prepare(connection, self._database.name)

    def close(self) -> None:
        self._database.close()

    @property
    def name(self) -> str:
        return self._database.name

    def jobs(self) -> list[str]:
        """Their names, the one with the newest cycle first."""
        newest = sql.func.max(points.c.number).label("number")
        last = sql.select(points.c.job, newest).group_by(points.c.job).subquery()
        at = (points.c.job == last.c.job) & (points.c.number == last.c.number)
        return [str(job) for (job,) in self._rows(
            sql.select(points.c.job).join(last, at).order_by(points.c.t.desc(), points.c.job)
        )]  # fmt: skip

    def span(self, job: str) -> Span | None:
        """None for a job without cycles."""
        newest = sql.select(points.c.number, points.c.t).where(points.c.job == job)
        found = self._rows(newest.order_by(points.c.number.desc()).limit(1))
        if not found:
            return None
        last, ended = found[0]
        first = 1
        if ended < WALL_CLOCK:  # the clock of a simulation begins anew with each run
            described = sql.select(sql.func.max(jobs.c.first)).where(jobs.c.job == job, jobs.c.first <= last)
            first = self._rows(described)[0][0] or 1
        began = sql.select(points.c.t).where(points.c.job == job, points.c.number >= first)
        ((began_t,),) = self._rows(began.order_by(points.c.number).limit(1))
        return Span(job, first, last, began_t, ended)

    def description(self, job: str) -> JobDescription | None:
        """What the job is; None for one that an earlier Penstock recorded."""
        newest = sql.select(jobs.c.body).where(jobs.c.job == job).order_by(jobs.c.first.desc()).limit(1)
        found = self._rows(newest)
        return read_description(found[0][0]) if found else None

    def chart(
        self, span: Span, bucket_seconds: float, since: int = 0, until: float | None = None
    ) -> dict[str, list[Any]]:  # fmt: skip
        """Columns of points, one for each bucket with cycles, from the cycle `since` to the time `until`.

        Rates are averages over a bucket; latency and backlog are the worst in it; seconds are sums.
        """
        bucket = sql.cast((points.c.t - span.began) / bucket_seconds, sql.Integer)
        how: dict[str, Any] = {
            "number": sql.func.min, "t": sql.func.avg, "input_rate": sql.func.avg, "throughput": sql.func.avg,
            "backlog": sql.func.max, "processing_latency_ms": sql.func.max, "event_latency_ms": sql.func.max,
            "executors": sql.func.avg, "leaving": sql.func.max,
            "measured_seconds": sql.func.sum, "missed_seconds": sql.func.sum, "held_seconds": sql.func.sum,
            "slot_seconds": sql.func.sum,
        }  # fmt: skip
        columns = [bucket.label("bucket"), *(together(points.c[name]).label(name) for name, together in how.items())]
        slots = points.c.slot_seconds / sql.func.nullif(points.c.held_seconds, 0)
        columns.append(sql.func.max(slots).label("most_slots"))
        query = self._of(span, since, columns)
        if until is not None:
            query = query.where(points.c.t <= until)
        found = self._rows(query.group_by("bucket").order_by("bucket"))
        return {name: [row[i] for row in found] for i, name in enumerate(("bucket", *how, "most_slots"))}

    def at(self, span: Span, t: float) -> int:
        """The number of the first cycle at or after a time."""
        query = sql.select(sql.func.min(points.c.number)).where(points.c.job == span.job, points.c.t >= t)
        number: int | None = self._rows(query.where(points.c.number >= span.first))[0][0]
        return span.last if number is None else number

    def plans(self, span: Span, since: int = 0, until: float | None = None) -> list[dict[str, Any]]:
        """The plans in force and decided, one entry for each cycle in which one of them became another.

        They are those from the cycle `since` to the time `until`, and the one before, which was in force at first. Of
        very many, the newest are given.
        """
        columns = [points.c[name] for name in ("number", "t", "changed", "in_force", "decided")]
        known = self._of(span, 0, columns).where(points.c.in_force.is_not(None)).order_by(points.c.number.desc())
        within = known.where(points.c.number >= since)
        if until is not None:
            within = within.where(points.c.t <= until)
        newest = [*self._rows(within.limit(MOST_PLANS)), *self._rows(known.where(points.c.number < since).limit(1))]
        return [
            {"number": n, "t": t, "changed": changed, "in_force": json.loads(plan), "decided": json.loads(decided)}
            for n, t, changed, plan, decided in reversed(newest)
        ]

    def decisions(
        self, span: Span, count: int, before: int | None = None, after: int = 0, changes: bool = False
    ) -> list[Recorded]:
        """The newest cycles before one and after another, newest first; only those that changed the plan, if wanted."""
        wanted = points.c.number.between(max(span.first, after + 1), span.last if before is None else before - 1)
        query = sql.select(points.c.number).where(points.c.job == span.job, wanted)
        if changes:
            query = query.where(points.c.changed)
        numbers = query.order_by(points.c.number.desc()).limit(count).subquery()
        bodies = sql.select(cycles.c.number, cycles.c.body).where(cycles.c.job == span.job)
        found = self._rows(bodies.where(cycles.c.number.in_(sql.select(numbers))).order_by(cycles.c.number.desc()))
        return [Recorded(number, from_json(Cycle, body)) for number, body in found]

    def following(self, span: Span, number: int, count: int) -> list[Recorded]:
        """The cycles from one on, oldest first."""
        query = sql.select(cycles.c.number, cycles.c.body).where(
            cycles.c.job == span.job, cycles.c.number.between(number, min(number + count, span.last))
        )
        found = self._rows(query.order_by(cycles.c.number))
        return [Recorded(number, from_json(Cycle, body)) for number, body in found]

    def _of(self, span: Span, since: int, columns: Any) -> Any:
        mine = points.c.number.between(max(span.first, since), span.last)
        return sql.select(*columns).where(points.c.job == span.job, mine)

    def _rows(self, query: Any) -> Sequence[Any]:
        with self._database.sentences("read"), self._database.engine.connect() as connection:
            return connection.execute(query).all()
