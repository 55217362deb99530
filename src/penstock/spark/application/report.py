"""The report of an application: what its executors cost, and what was decided on each of its queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.model import Mode
from penstock.model.notebook import html_table
from penstock.spark.report import JobReport


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationReport:
    """What happened to an application since its queries are watched in the present mode.

    total    the cycles of all queries, and what the executors cost
    queries  a report for each query by its name. They share the executors, so it counts the slots of its plans
    notes    what is left out, in sentences
    """

    total: JobReport
    queries: Mapping[str, JobReport]
    notes: tuple[str, ...] = ()

    @property
    def mode(self) -> Mode:
        return self.total.mode

    @property
    def changes(self) -> int:
        """How often the executors were changed."""
        return self.total.changes

    @property
    def saved(self) -> float | None:
        return self.total.saved

    def _repr_html_(self) -> str:
        """For notebooks."""
        total = [*(("cost", line) for line in self.total.cost()), *(("note", note) for note in self.notes)]
        queries = (html_table(name, query.rows()) for name, query in self.queries.items())
        return "\n".join((html_table(self.total.summary(), total), *queries))

    def __str__(self) -> str:
        lines = [self.total.summary(), *self.total.cost(), *(f"note: {note}" for note in self.notes)]
        for name, query in self.queries.items():
            own = (*query.decision(), *query.outside(), *(f"note: {note}" for note in query.notes))
            lines += [f"{name}:", *(f"  {line}" for line in own or ("nothing was decided yet",))]
        return "\n".join(lines)
