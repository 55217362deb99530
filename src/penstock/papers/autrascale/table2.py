"""Tables II and III of AuTraScale, and Table IV of AuTraScale+: where DRS and AuTraScale end, up and down."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.papers.autrascale.elasticity import FACTORIALS, PAPER, endings, setting_of, yes_or_no
from penstock.performance.bayesian.search_space import Configuration
from penstock.report.item import Figure, Item, Row


def _plan(plan: Configuration) -> str:
    return ", ".join(map(str, plan))


def elasticity_table(title: str, jobs: Sequence[str], policy: str) -> Item:
    """Optimal value, throughput, latency, score, iterations and QoS of the three methods, up and down."""
    rows: list[Row] = []
    ours = endings(jobs, policy)
    for (job, kind, method), found in ours.items():
        plan, throughput, latency, score, iterations, meets = PAPER[job, kind, method]
        figures: dict[str, tuple[Figure, Figure, str]] = {
            "plan": (_plan(plan), _plan(found.plan), ""),
            "throughput": (throughput, found.throughput, "records/s"),
            "latency": (latency, found.latency_ms, "ms"),
            "score": (score, found.score if score else None, ""),
            "iterations": (float(iterations), found.iterations, ""),
            "meets QoS": (yes_or_no(meets), yes_or_no(found.meets), ""),
        }
        label = f"{job} {kind}, {method}" if len(jobs) > 1 else f"{kind}, {method}"
        rows += [Row(f"{label}: {what}", *rest) for what, rest in figures.items() if rest[0] is not None]
    mine = [found for (_, _, method), found in ours.items() if method == "AuTraScale"]
    theirs = [(name, found) for name, found in ours.items() if name[2] != "AuTraScale"]
    missed = [" ".join(name) for name, found in theirs if not found.meets]
    agree = sum(found.meets == PAPER[name][-1] for name, found in ours.items())
    longest, most = max(found.iterations for found in mine), max(p[4] for n, p in PAPER.items() if n[2] == "AuTraScale")
    return Item.of(
        title=title,
        setting=setting_of(jobs),
        rows=tuple(rows),
        claims={
            "AuTraScale meets throughput, latency and score in every test": (
                all(found.meets and found.score >= 0.9 for found in mine),
                ", ".join(f"{found.latency_ms:.0f} ms with score {found.score:.3f}" for found in mine),
            ),
            f"it needs at most {most} iterations": (longest <= most, f"at most {longest:.0f}"),
            "plans of DRS sometimes miss the requirements": (bool(missed), ", ".join(missed) or "all meet them"),
            "the same rows meet the requirements as in the paper": (
                agree == len(ours),
                f"{agree} of {len(ours)} rows; the paper's latencies scatter (120 and 242 ms for nearly the same "
                f"plan), which no smooth queue gives. {FACTORIALS}",
            ),
        },
    )
