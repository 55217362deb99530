"""Fig. 5 of AuTraScale, and Fig. 7 of AuTraScale+: throughput optimisation of the four workloads from all ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from penstock.load.curves import constant
from penstock.model import Slo
from penstock.papers.autrascale.steady import steady
from penstock.papers.catalogue import workload
from penstock.papers.runs import run, under
from penstock.performance.bayesian.search_space import Configuration
from penstock.report.item import Chart, Item, Row, Series
from penstock.report.judging import calibrated

RATES = {"wordcount": 350e3, "yahoo": 60e3, "nexmark_q5": 30e3, "nexmark_q11": 100e3}
PAPER_PLANS: dict[str, Configuration] = {
    "wordcount": (3, 4, 12, 10),
    "yahoo": (4, 2, 1, 1, 34),
    "nexmark_q5": (1, 18),
    "nexmark_q11": (1, 11),
}
INTERVAL, SECONDS, SEEDS = 300.0, 3600.0, (0, 1, 2)
SERVICE = "service times of the four workloads and the rate of Yahoo's store, from this figure"


@dataclass(frozen=True)
class Walk:
    """The plans that were tried with the throughput of each, the one that was kept, and throughput over time."""

    steps: dict[Configuration, float]
    chosen: Configuration
    throughput: Series


@cache
def walk(name: str, policy: str, seed: int) -> Walk:
    """Run a workload without a latency target: the policy then holds where throughput optimisation ends."""
    test = under(workload(name), trace=constant(RATES[name], SECONDS), slo=Slo())
    (cycles,) = run(test, policy, seeds=(seed,), interval=f"{INTERVAL:g} s").cycles
    figures = next(cycle.decision.figures for cycle in reversed(cycles) if "steps" in cycle.decision.figures)
    samples = [cycle.samples[-1] for cycle in cycles]
    minutes = tuple(sample.end / 60.0 for sample in samples)
    return Walk(
        steps={tuple(step): throughput for step, throughput in figures["steps"]},
        chosen=tuple(figures["throughput_parallelism"].values()),
        throughput=Series(name, minutes, tuple(sample.throughput or 0.0 for sample in samples)),
    )


def throughput_figure(title: str, policy: str) -> Item:
    """The figure that both papers have, under the policy of each."""
    found = {(name, seed): walk(name, policy, seed) for name in RATES for seed in SEEDS}
    first = {name: found[name, 0] for name in RATES}
    most = max(len(one.steps) for one in found.values())
    same = sum(found[name, seed].chosen == PAPER_PLANS[name] for name in RATES for seed in SEEDS)
    capped = {seed: found["yahoo", seed] for seed in SEEDS}
    everything = steady("yahoo", RATES["yahoo"], (40,) * 5).throughput or 0.0
    reached = capped[0].steps[capped[0].chosen]
    carried = max(first["wordcount"].steps.values())
    curves = tuple(one.throughput for one in first.values())
    rows = []
    for name, one in first.items():
        rows += [
            Row(f"{name}: plan", str(PAPER_PLANS[name]), str(one.chosen), calibrated=True),
            Row(
                f"{name}: throughput",
                35e3 if name == "yahoo" else RATES[name],
                one.steps[one.chosen],
                "records/s",
                calibrated=True,
            ),
            Row(f"{name}: iterations", "at most 4", float(len(one.steps)), "plans run"),
        ]
    return Item.of(
        title=title,
        setting=f"four workloads under {policy} without a latency target, from all ones; a decision every 5 min, the "
        "window of a restart left out; seeds 0, 1, 2 (figures: seed 0)",
        rows=(*rows, Row("yahoo: throughput at all 40", 35e3, everything, "records/s", calibrated=True)),
        claims={
            "throughput optimisation ends after at most 4 iterations": (most <= 4, f"at most {most}"),
            "it ends at the plans of the paper": calibrated(
                (same == len(found), f"{same} of {len(found)} runs end there"), SERVICE
            ),
            "WordCount's throughput is above its input for a while: the backlog is worked off too": calibrated(
                (carried > 1.005 * RATES["wordcount"], f"{carried:,.0f} records/s"), SERVICE
            ),
            "the store caps Yahoo: the walk ends although the input is not reached": (
                all(max(one.steps.values()) < RATES["yahoo"] for one in capped.values()),
                f"{max(capped[0].steps.values()):,.0f} of 60,000 records/s",
            ),
            "the look-back takes the second plan, not the last one": (
                all(list(one.steps).index(one.chosen) == 1 < len(one.steps) - 1 for one in capped.values()),
                " -> ".join(str(step) for step in capped[0].steps),
            ),
            "more instances do not raise Yahoo's throughput": calibrated(
                (everything <= 1.01 * reached, f"{everything:,.0f} against {reached:,.0f} records/s"), SERVICE
            ),
        },
        charts=(Chart(title.split(", ")[1] + " (a)", "min", "records/s", curves),),
    )
