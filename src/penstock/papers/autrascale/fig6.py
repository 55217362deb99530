"""Fig. 6 of AuTraScale, and Fig. 8 of AuTraScale+: the latency of the plans that the elasticity tests end with."""

from __future__ import annotations

from penstock.papers.autrascale.elasticity import PAPER, TESTS, bars, endings, setting_of
from penstock.report.item import Item, Row


def latency_figure(title: str, policy: str) -> Item:
    """Latency of the final plans."""
    found = endings(TESTS, policy)
    pairs = [(found[job, kind, "AuTraScale"], other) for (job, kind, _), other in found.items()]
    better = [(m, o) for m, o in pairs if m.total < o.total and m.latency_ms < o.latency_ms]
    text = ", ".join(
        f"{m.total} at {m.latency_ms:.0f} ms against {o.total} at {o.latency_ms:.0f} ms" for m, o in better
    )
    return Item.of(
        title=title,
        setting=setting_of(TESTS),
        rows=(
            Row(f"{job} {kind}, {method}", PAPER[job, kind, method][2], one.latency_ms, "ms")
            for (job, kind, method), one in found.items()
        ),
        claims={
            "less parallelism may bring the better latency": (bool(better), text or "in no test"),
            "every final plan of AuTraScale is within its target": (
                all(mine.meets for mine, _ in pairs),
                "180 ms for WordCount, 300 ms for Yahoo, under every seed",
            ),
        },
        charts=(bars(title, "ms", found, lambda one: one.latency_ms),),
    )
