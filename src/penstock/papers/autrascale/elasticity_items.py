"""What the papers show of the elasticity tests: Tables II and III, Fig. 6 and 7; in AuTraScale+ Table IV, Fig. 8, 9."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.papers.autrascale.elasticity import (
    CALIBRATED,
    FACTORIALS,
    KINDS,
    METHODS,
    PAPER,
    SEEDS,
    TESTS,
    bars,
    ending,
    endings,
    saved,
    setting_of,
    yes_or_no,
)
from penstock.papers.autrascale.steady import latency_ms, steady
from penstock.papers.autrascale.training_samples import by_samples
from penstock.performance.bayesian.search_space import Configuration
from penstock.report.bands import CHANGE
from penstock.report.item import Figure, Item, Row
from penstock.report.judging import agrees, theirs, unless

PAPER_SAVED = {"down": 0.666, "up": 0.367}
HOPS = ("wordcount", "AuTraScale", "latency")
"""WordCount's hops were set so that the paper's own plans of AuTraScale come out between 150 and 170 ms."""


def _plan(plan: Configuration) -> str:
    return ", ".join(map(str, plan))


def _scatter() -> str:
    """What two plans do that are nearly the same, in the paper and here."""
    two = [PAPER["wordcount", "down", method] for method in METHODS[:2]]
    here = [latency_ms(steady("wordcount", TESTS["wordcount"].rate, printed[0])) for printed in two]
    return (
        f"the paper's latencies scatter: {two[0][2]:.0f} ms with {two[0][0]} and {two[1][2]:.0f} ms with {two[1][0]}, "
        f"nearly the same plan, which no smooth queue gives; here they take {here[0]:.0f} and {here[1]:.0f} ms"
    )


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
            "meets QoS": (yes_or_no(meets), f"{found.met} of {len(SEEDS)}", ""),
        }
        label = f"{job} {kind}, {method}" if len(jobs) > 1 else f"{kind}, {method}"
        rows += [
            Row(f"{label}: {what}", *rest, calibrated=(job, method, what) == HOPS)
            for what, rest in figures.items()
            if rest[0] is not None
        ]
    best = {(job, kind, m): ending(job, kind, m) for job in jobs for kind in KINDS for m in CALIBRATED.values()}
    for (job, kind, method), found in best.items():
        label = f"{job} {kind}, {method}" if len(jobs) > 1 else f"{kind}, {method}"
        rows += [
            Row(f"{label}: plan", None, _plan(found.plan)),
            Row(f"{label}: latency", None, found.latency_ms, "ms"),
            Row(f"{label}: iterations", None, found.iterations),
            Row(f"{label}: meets QoS", None, f"{found.met} of {len(SEEDS)}"),
        ]
    mine = [found for (_, _, method), found in ours.items() if method == "AuTraScale"]
    others = [(name, found) for name, found in ours.items() if name[2] != "AuTraScale"]
    missed = [" ".join(name) for name, found in others if not found.meets]
    agree = sum(found.meets == PAPER[name][-1] for name, found in ours.items())
    longest, most = max(found.iterations for found in mine), max(p[4] for n, p in PAPER.items() if n[2] == "AuTraScale")
    trained = by_samples(policy) if "wordcount" in jobs else None
    return Item.of(
        title=title,
        setting=setting_of(jobs),
        rows=(*rows, *(trained[0] if trained else ())),
        claims={
            **({"the more training samples, the fewer iterations": trained[1]} if trained else {}),
            "AuTraScale meets throughput, latency and score in every test": (
                all(found.met == len(SEEDS) and found.score >= 0.9 for found in mine),
                ", ".join(
                    f"{found.latency_ms:.0f} ms with score {found.score:.3f}, met by {found.met} of {len(SEEDS)} seeds"
                    for found in mine
                ),
            ),
            f"it needs at most {most} iterations": (
                longest <= most,
                f"at most {longest:.0f} in the median of the seeds",
            ),
            "plans of DRS sometimes miss the requirements": (bool(missed), ", ".join(missed) or "all meet them"),
            "the same rows meet the requirements as in the paper": unless(
                (agree == len(ours), f"{agree} of {len(ours)} rows"),
                theirs(f"{_scatter()}. {FACTORIALS}"),
            ),
        },
    )


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
            Row(
                f"{job} {kind}, {method}",
                PAPER[job, kind, method][2],
                one.latency_ms,
                "ms",
                calibrated=(job, method, "latency") == HOPS,
            )
            for (job, kind, method), one in found.items()
        ),
        claims={
            "less parallelism may bring the better latency": (bool(better), text or "in no test"),
            "every final plan of AuTraScale is within its target": (
                all(mine.meets for mine, _ in pairs),
                "180 ms for WordCount, 300 ms for Yahoo, in most seeds",
            ),
        },
        charts=(bars(title, "ms", found, lambda one: one.latency_ms),),
    )


def parallelism_figure(title: str, policy: str) -> Item:
    """Largest and total parallelism of the final plans, and what AuTraScale saves."""
    found, rows = endings(TESTS, policy), []
    for (job, kind, method), one in found.items():
        printed = PAPER[job, kind, method][0]
        rows.append(Row(f"{job} {kind}, {method}: total", float(sum(printed)), float(one.total), "instances"))
        rows.append(Row(f"{job} {kind}, {method}: max", float(max(printed)), float(max(one.plan)), "instances"))
    best = {(job, kind, m): ending(job, kind, m) for job in TESTS for kind in KINDS for m in CALIBRATED.values()}
    rows += [Row(f"{job} {kind}, {m}: total", None, one.total, "instances") for (job, kind, m), one in best.items()]
    against_both = {kind: saved(found, kind) for kind in PAPER_SAVED}
    against_observed = {kind: saved(found, kind, METHODS[:1]) for kind in PAPER_SAVED}
    for kind, paper in PAPER_SAVED.items():
        observed = f"saved against DRS with observed rates, scale {kind}"
        rows.append(Row(f"saved against DRS, scale {kind}", paper, against_both[kind], "ratio"))
        rows.append(Row(observed, None, against_observed[kind], "ratio"))
    # Only the plans of DRS that meet the requirements are compared.
    useful = [
        (found[job, kind, "AuTraScale"], other)
        for (job, kind, method), other in found.items()
        if method != "AuTraScale" and other.meets
    ]
    cheaper = sum(mine.total < other.total for mine, other in useful)
    short, mine = (found["wordcount", "up", method] for method in ("DRS true", "AuTraScale"))
    return Item.of(
        title=title,
        setting=setting_of(TESTS),
        rows=rows,
        claims={
            **{
                f"scaling {way}, AuTraScale needs {paper:.1%} fewer instances than DRS": unless(
                    agrees(against_both[way], paper, CHANGE, ".1%"),
                    theirs(
                        "with true rates measured exactly DRS chooses the least that is stable here, where the paper's "
                        f"took 150 instances and more. {FACTORIALS}"
                    ),
                )
                for way, paper in PAPER_SAVED.items()
            },
            "in most tests AuTraScale's plan is smaller than those of DRS that meet the requirements": (
                cheaper > len(useful) / 2,
                f"in {cheaper} of {len(useful)}",
            ),
            "DRS with true rates finds a smaller plan for WordCount scaling up, which misses the requirements": (
                short.total < mine.total and not short.meets,
                f"{short.total} against {mine.total} instances; {short.throughput:,.0f} records/s, "
                f"{short.latency_ms:.0f} ms",
            ),
        },
        charts=(bars(title, "instances", found, lambda one: one.total),),
    )
