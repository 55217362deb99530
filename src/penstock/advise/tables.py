"""An advice as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from penstock.advise.advice import Outcome, QueryAdvice
from penstock.advise.caveats import ASSUMED
from penstock.advise.words import headline, hours, how_it_ran, lasting, percent, total
from penstock.report.words import milliseconds, ratio

RANKED = 20
"""So many jobs are shown in a ranking; the JSON and the page have all of them."""


def advice_table(advice: QueryAdvice) -> RenderableType:
    """The sentence, how the query ran, what policies would have made of it, and what the log cannot show."""
    parts: list[RenderableType] = [
        Text(f"{headline(advice)}.", style="bold"),
        Text(""),
        Text(how_it_ran(advice), style="dim"),
    ]
    if advice.policies:
        parts.append(_outcomes(advice))
    parts += [Text(f"- {note}", style="dim") for note in advice.notes]
    return Group(*parts)


def assumptions() -> Text:
    return Text("\n".join(f"- {each}" for each in ASSUMED), style="dim")


def rows(advice: QueryAdvice) -> Iterator[tuple[str, Outcome]]:
    """What is compared: as it ran, under each policy, and at best."""
    yield "as it ran", advice.ran
    yield from (advice.policies or {}).items()
    if advice.oracle is not None:
        yield "oracle", advice.oracle


def _outcomes(advice: QueryAdvice) -> Table:
    table = Table(box=SIMPLE_HEAD, padding=0, pad_edge=False)
    for name, justify in (
        ("", "left"), ("core-hours", "right"), ("fewer", "right"), (f"{advice.unit}s", "right"),
        ("outside", "right"), ("latency", "right"), ("changes", "right"),
    ):  # fmt: skip
        table.add_column(name, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    for number, (name, outcome) in enumerate(rows(advice)):
        table.add_row(
            name, hours(outcome.core_hours), percent(advice.saving(outcome)) if number else "",
            f"{advice.units(outcome):.1f}", ratio(outcome.violation_ratio), milliseconds(outcome.latency_ms),
            str(outcome.changes), style="bold" if number == 1 else None,
        )  # fmt: skip
    return table


def ranking_table(queries: Sequence[QueryAdvice]) -> Table:
    """The jobs by what they would save, the first ones of many."""
    table = Table(
        box=SIMPLE_HEAD,
        title=f"{total(queries)}.",
        title_justify="left",
        title_style="bold",
        padding=0,
        pad_edge=False,
    )
    for name, justify in (
        ("", "right"), ("query, application", "left"), ("ran", "right"), ("core-hours", "right"), ("fewer", "right"),
        ("cores\nsaved", "right"), ("outside", "right"),
    ):  # fmt: skip
        table.add_column(name, justify=justify, overflow="fold")  # type: ignore[arg-type]
    for place, advice in enumerate(queries[:RANKED], 1):
        best = advice.recommended
        table.add_row(
            str(place), Text.assemble(advice.query, "\n", (advice.application, "dim")), lasting(advice.seconds),
            hours(advice.ran.core_hours),
            *(("–", "–", "–") if best is None else (
                percent(advice.saving(best[1])), f"{advice.cores_saved + 0.0:.1f}", ratio(best[1].violation_ratio)
            )),
        )  # fmt: skip
    if len(queries) > RANKED:
        table.add_row("…", f"{len(queries) - RANKED:,} more", *[""] * 5)
    return table
