"""Fig. 6 of AuTraScale, and Fig. 8 of AuTraScale+: the latency of the plans that the elasticity tests end with."""

from __future__ import annotations

from penstock.papers.autrascale.elasticity import KINDS, METHODS, PAPER, TESTS, Ending, ending, setting_of
from penstock.report.item import Chart, Item, Row, Series


def latency_figure(title: str, policy: str) -> Item:
    """Latency of the final plans."""
    rows, series = [], []
    compared: list[tuple[Ending, Ending]] = []
    for job in TESTS:
        values = []
        for kind in KINDS:
            mine = ending(job, kind, "AuTraScale", policy)
            for method in METHODS:
                found = ending(job, kind, method, policy)
                rows.append(Row(f"{job} {kind}, {method}", PAPER[job, kind, method][2], found.latency_ms, "ms"))
                values.append(found.latency_ms)
                compared += [(mine, found)] if found.total > mine.total else []
        series.append(Series(job, tuple(float(n) for n in range(len(values))), tuple(values)))
    better = [(mine, other) for mine, other in compared if mine.latency_ms < other.latency_ms]
    text = ", ".join(
        f"{m.total} at {m.latency_ms:.0f} ms against {o.total} at {o.latency_ms:.0f} ms" for m, o in better
    )
    return Item.of(
        title=title,
        setting=setting_of(list(TESTS)),
        rows=tuple(rows),
        claims={
            "less parallelism may bring the better latency": (bool(better), text or "in no test"),
            "every final plan of AuTraScale is within its target": (
                all(ending(job, kind, "AuTraScale", policy).meets for job in TESTS for kind in KINDS),
                "180 ms for WordCount, 300 ms for Yahoo, under every seed",
            ),
        },
        charts=(
            Chart(
                title.split(", ")[1],
                "",
                "ms",
                tuple(series),
                bars=True,
                ticks=tuple(f"{method}\n{kind}" for kind in KINDS for method in METHODS),
            ),
        ),
    )
