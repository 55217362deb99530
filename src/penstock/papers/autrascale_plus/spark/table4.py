"""Table IV of AuTraScale+ on Spark: WordCount scaled up and down to a latency target, against DRS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean, median

from penstock.guards import GuardOptions, only
from penstock.load.curves import constant
from penstock.model import ReasonCode, Sample, Slo
from penstock.papers.autrascale.elasticity import PAPER, yes_or_no
from penstock.papers.autrascale.spark.wordcount import JOBS, RATE
from penstock.papers.spark import simulated
from penstock.papers.spark.runner import TrialRunner
from penstock.papers.spark.trial import KEEP_UP, Cycles, Run, Trial, keeps_up, plan_of
from penstock.performance.bayesian.search_space import Configuration
from penstock.report.item import Item, Row, bar_chart

(JOB,) = JOBS
SLO = Slo(processing_latency="500 ms")
SECONDS, RUNNING_TIME, PATIENCE = 70.0, 4.0, 40.0
PAUSE = 20.0
"""DRS remembers nothing: it is asked again when a plan has had time to show what it does."""
STARTS: dict[str, Configuration] = {"up": (1, 2, 5, 1), "down": (6, 6, 4, 4)}
"""The paper's (1, 3, 12, 2) and (36, 32, 24, 20), scaled as the job is."""
METHODS: Mapping[str, tuple[str, Mapping[str, object], GuardOptions]] = {
    "DRS observed": ("drs", {"rates": "observed"}, only(stabilisation={"seconds": PAUSE})),
    "DRS true": ("drs", {"rates": "true"}, only(stabilisation={"seconds": PAUSE})),
    "AuTraScale+": (
        "autrascale_plus",
        {"policy_running_time": RUNNING_TIME, "backlog_patience": PATIENCE, "keep_up_tolerance": KEEP_UP},
        only(),
    ),
}
OWN = "AuTraScale+"
PAPER_SAVED = {"up": 0.367, "down": 0.666}


@dataclass(frozen=True)
class EndingOnSpark:
    """Where a method ended: its plan, what that did once it had settled, and after how many changes."""

    plan: Configuration
    throughput: float | None
    latency_ms: float | None
    changes: int
    meets: bool

    @property
    def total(self) -> int:
        return sum(self.plan)


def trial(kind: str, method: str) -> Trial:
    policy, options, guards = METHODS[method]
    return Trial(
        f"{kind}, {method}", JOB, constant(RATE, SECONDS), SLO, plan_of(JOB, STARTS[kind]), policy=policy,
        policy_options=options, guards=guards, enough=has_settled,
    )  # fmt: skip


def has_settled(cycles: Cycles) -> bool:
    """A plan that was changed has met the target for three windows, and its policy does not wait for more of them."""
    last = cycles[-3:]
    return (
        len(last) == 3
        and any(cycle.changed for cycle in cycles[:-3])
        and cycles[-1].decision.reason.code is not ReasonCode.WARMING_UP
        and all(meets(cycle.samples[-1]) and keeps_up(cycle) and not cycle.changed for cycle in last)
    )


def meets(sample: Sample) -> bool:
    """Whether a window shows the target met, with the latency measured."""
    return sample.processing_latency_ms is not None and not SLO.violations(sample)


def ending(run: Run) -> EndingOnSpark:
    last = run.settled[-3:]
    quiet = [s for s in last if s.processing_latency_ms is not None]
    latencies = [s.processing_latency_ms.mean or 0.0 for s in quiet if s.processing_latency_ms is not None]
    return EndingOnSpark(
        plan=run.plans[-1],
        throughput=median(s.throughput or 0.0 for s in last) if last else None,
        latency_ms=median(latencies) if latencies else None,
        changes=len(run.plans) - 1,
        meets=has_settled(run.cycles),
    )


def table_4(runner: TrialRunner) -> Item:
    spark = [runner.run(trial(kind, method)) for kind in STARTS for method in METHODS]
    return item(spark, simulated.simulated(spark))


def item(spark: list[Run], twins: list[Run]) -> Item:
    names = [(kind, method) for kind in STARTS for method in METHODS]
    here = {name: ending(run) for name, run in zip(names, spark, strict=True)}
    twin = {name: ending(run) for name, run in zip(names, twins, strict=True)}
    rows = [row for name in names for row in _rows(name, here[name], twin[name])]
    own = [here[kind, OWN] for kind in STARTS]
    saved = {kind: _saved(kind, here) for kind in STARTS}
    rows += [
        Row(f"saved against DRS, scale {kind}", PAPER_SAVED[kind], _saved(kind, twin), "ratio", spark=saved[kind])
        for kind in STARTS
    ]
    missed = [f"{kind}, {method}" for kind, method in names if method != OWN and not here[kind, method].meets]
    totals = {kind: [here[kind, method].total for method in METHODS] for kind in STARTS}
    return Item.of(
        title="AuTraScale+, Table IV, on Spark",
        setting=f"wordcount at {RATE:.0f} records/s within {SLO.processing_latency_ms:.0f} ms (350,000 and 180 ms in "
        f"the paper) on the real-time engine, from {STARTS['up']} up and from {STARTS['down']} down; policy running "
        f"time {RUNNING_TIME:.0f} s, longer while a restart's backlog drains, for DRS {PAUSE:.0f} s; a run "
        f"ends when the target was met for three windows, or after {SECONDS:.0f} s; no model is trained before; "
        f"{simulated.SETTING}",
        rows=tuple(rows),
        claims={
            "AuTraScale+ meets throughput and latency, up and down": (
                all(found.meets for found in own),
                ", ".join(f"{found.plan} at {_ms(found)}" for found in own),
            ),
            "it needs at most 4 changes": (max(f.changes for f in own) <= 4, f"{own[0].changes} and {own[1].changes}"),
            **{
                f"scaling {kind} it takes fewer instances than DRS (theirs: {PAPER_SAVED[kind]:.1%} fewer)": (
                    saved[kind] > 0,
                    f"{here[kind, OWN].total} against "
                    + " and ".join(f"{here[kind, method].total} ({method})" for method in METHODS if method != OWN)
                    + "; with true rates measured well DRS takes the least that is stable, as in the simulator",
                )
                for kind in STARTS
            },
            "with observed rates DRS takes idle instances for slow ones, and ends with the most of all": (
                all(here[kind, "DRS observed"].total == max(here[kind, m].total for m in METHODS) for kind in STARTS),
                " and ".join(str(here[kind, "DRS observed"].plan) for kind in STARTS),
            ),
            "plans of DRS sometimes miss the requirements": (bool(missed), "; ".join(missed) or "all meet them"),
        },
        charts=(bar_chart("Table IV on Spark", "", "instances", list(METHODS), totals),),
    )


def _rows(name: tuple[str, str], here: EndingOnSpark, twin: EndingOnSpark) -> list[Row]:
    kind, method = name
    plan, _, latency, _, iterations, meets = PAPER["wordcount", kind, method.rstrip("+")]
    label = f"{kind}, {method}"
    return [
        Row(f"{label}: plan", str(plan), str(twin.plan), spark=str(here.plan)),
        Row(f"{label}: throughput", None, twin.throughput, "records/s", spark=here.throughput),
        Row(f"{label}: latency", latency, twin.latency_ms, "ms", spark=here.latency_ms),
        Row(f"{label}: iterations", iterations, twin.changes, spark=here.changes),
        Row(f"{label}: meets QoS", yes_or_no(meets), yes_or_no(twin.meets), spark=yes_or_no(here.meets)),
    ]


def _saved(kind: str, endings: Mapping[tuple[str, str], EndingOnSpark]) -> float:
    """The part of the instances of DRS, in the mean of its two kinds, that AuTraScale+ does without."""
    return 1.0 - endings[kind, OWN].total / fmean(endings[kind, m].total for m in METHODS if m != OWN)


def _ms(found: EndingOnSpark) -> str:
    return "an unknown latency" if found.latency_ms is None else f"{found.latency_ms:.0f} ms"
