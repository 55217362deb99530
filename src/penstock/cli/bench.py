"""`penstock bench`: policies against each other, over loads and seeds."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli import choices
from penstock.cli.choices import LOAD, NONE, POLICY, RUN, offer
from penstock.cli.output import print_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.runs.result import Result
    from penstock.runs.workload import Workload

SEEDS = 5


def bench(
    workload: Annotated[
        list[str] | None, typer.Argument(help="Which jobs (clicks); `penstock workloads` lists them.")
    ] = None,
    policy: Annotated[
        list[str] | None,
        offer('A policy (all), with options: "ds2 utilisation=0.6". Repeatable.', "--policy", "-p", panel=POLICY),
    ] = None,
    guards: choices.Guards = True,
    guard_option: choices.GuardOption = None,
    trace: Annotated[
        list[str] | None,
        offer(
            "A load: a CSV file of t_seconds,rate or constant, steps, surge, daily, random_walk; scaled to the "
            "highest rate of the workload's own, which is the default. Repeatable.",
            panel=LOAD,
        ),
    ] = None,
    peak: choices.Peak = None,
    compress: choices.Compress = 1.0,
    seconds: choices.Seconds = None,
    seeds: Annotated[int, offer(f"Run each policy on each load this many times ({SEEDS}).", panel=RUN, min=1)] = SEEDS,
    seed: Annotated[int, offer("The first seed.", panel=RUN, min=0)] = 0,
    interval: choices.Interval = "60 s",
    change: choices.HowToChange = None,
    master: Annotated[
        str, offer(f"Spark to run on (local[2]), or {NONE} for sequential runs in this process.", panel=RUN)
    ] = "local[2]",
    json: Annotated[bool, typer.Option("--json", help="Print all results as JSON.")] = False,
) -> None:
    """Compare policies over loads and seeds, spread over Spark.

    Example: penstock bench clicks -p ds2 -p "ds2 utilisation=0.6" -p psps --seeds 3
    """
    from rich.console import Console

    from penstock.cli.sweeping import end, held, standings_json
    from penstock.policies import POLICIES
    from penstock.report.comparison import comparison_table, summary_json
    from penstock.runs.contest import Contest, Entrant
    from penstock.runs.simulation import Simulation
    from penstock.simulator.job import Change

    vetting = choices.guard_options(guards, guard_option)
    loads = [
        replace(load, trace=load.trace.scaled(peak).compressed(compress).first(seconds))
        for name in dict.fromkeys(workload or ["clicks"])
        for load in _loads(name, dict.fromkeys(trace or []))
    ]
    labels = list(dict.fromkeys(policy or POLICIES.names()))
    entrants = []
    for load, label in product(loads, labels):
        name, options = choices.policy_and_options(label)
        simulation = Simulation(
            load, policy=name, policy_options=options, guards=vetting, interval=interval,
            change=None if change is None else Change(change.value),
        )  # fmt: skip
        entrants.append(Entrant(label, simulation))
    contest = Contest(entrants, range(seed, seed + seeds))
    standings = held(contest, master)
    tables: list[tuple[str, dict[str, tuple[Result, ...]]]] = []
    for number, load in enumerate(loads):
        results = standings.results[number * len(labels) : (number + 1) * len(labels)]
        tables.append((f"{load.name}, trace {load.trace.name}", dict(zip(labels, results, strict=True))))
    if len(loads) > 1:
        tables.append(("all loads", {label: sum((rows[label] for _, rows in tables), ()) for label in labels}))
    if json:
        figures = {title: {label: summary_json(of) for label, of in rows.items()} for title, rows in tables}
        print_json({"summary": figures, **standings_json(contest, standings)})
    else:
        console = Console(highlight=False)
        for title, rows in tables:
            console.print(comparison_table(f"{title}, {seeds} seeds", rows))
    end(standings)


def _loads(name: str, traces: Iterable[str]) -> list[Workload]:
    """The workload with each of the traces, or with its own if there are none."""
    from penstock.cli.workloads import workload

    chosen = workload(name)
    return [replace(chosen, trace=choices.curve(trace, chosen.trace.peak)) for trace in traces] or [chosen]
