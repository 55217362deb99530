"""`penstock bench`: policies against each other, over loads and seeds."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli import choices
from penstock.cli.choices import LOAD, NONE, POLICY, RUN, offer
from penstock.cli.output import print_json
from penstock.model import PenstockError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.report.comparison import Comparison
    from penstock.runs.contest import Standings
    from penstock.runs.simulation import Simulation
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
    fill_gaps: choices.FillGaps = False,
    peak: choices.Peak = None,
    compress: choices.Compress = 1.0,
    seconds: choices.Seconds = None,
    seeds: Annotated[
        int, offer(f"Run each policy on each load this many times ({SEEDS}).", panel=RUN, min=1, metavar="N")
    ] = SEEDS,
    seed: Annotated[int, offer("The first seed.", panel=RUN, min=0, metavar="N")] = 0,
    interval: choices.Interval = "60 s",
    change: choices.HowToChange = None,
    conditions: choices.SubjectTo = choices.ConditionsOption.IDEAL,
    master: Annotated[
        str, offer(f"Spark to run on (local[2]), or {NONE} for sequential runs in this process.", panel=RUN)
    ] = "local[2]",
    oracle: Annotated[
        bool,
        offer(
            "Also find the cheapest schedule for each load that somebody could have who knows it beforehand (it does "
            "by default; seconds for each day of load).",
            "--oracle/--no-oracle",
            panel=RUN,
        ),
    ] = True,
    plot: Annotated[
        Path | None, offer("Draw violations against cores, with the oracle's frontier, to this PNG file.", panel=RUN)
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print all results as JSON.")] = False,
) -> None:
    """Compare policies over loads and seeds, spread over Spark, with each other and with an oracle.

    Example: penstock bench clicks -p ds2 -p "ds2 utilisation=0.6" -p psps --seeds 3
    """
    from penstock.cli.sweeping import end, held, standings_json
    from penstock.policies import POLICIES
    from penstock.runs.contest import Contest, Entrant
    from penstock.runs.simulation import Simulation
    from penstock.simulator.conditions import CONDITIONS
    from penstock.simulator.job import Change

    vetting = choices.guard_options(guards, guard_option)
    loads = [
        replace(load, trace=load.trace.scaled(peak).compressed(compress).first(seconds))
        for name in dict.fromkeys(workload or ["clicks"])
        for load in _loads(name, dict.fromkeys(trace or []), fill_gaps)
    ]
    labels = list(dict.fromkeys(policy or POLICIES.names()))
    measures = [
        Simulation(
            load, policy="static", guards=vetting, interval=interval,
            change=None if change is None else Change(change.value), conditions=CONDITIONS[conditions.value],
        )
        for load in loads
    ]  # fmt: skip
    entrants = []
    for simulation, label in product(measures, labels):
        name, options = choices.policy_and_options(label)
        entrants.append(Entrant(label, replace(simulation, policy=name, policy_options=options)))
    contest = Contest(entrants, range(seed, seed + seeds), measures if oracle else ())
    standings = held(contest, master)
    found = _scored(measures, labels, standings)
    if plot is not None:
        from penstock.report.rivals import draw

        _write(plot, draw(found))
    if json:
        print_json({**_json(found), **standings_json(contest, standings)})
    else:
        _show(found, seeds, plot)
    end(standings)


def _loads(name: str, traces: Iterable[str], fill_gaps: bool) -> list[Workload]:
    """The workload with each of the traces, or with its own if there are none."""
    from penstock.cli.workloads import workload

    chosen = workload(name)
    return [replace(chosen, trace=choices.curve(trace, chosen.trace.peak, fill_gaps)) for trace in traces] or [chosen]


def _scored(measures: list[Simulation], labels: list[str], standings: Standings) -> list[Comparison]:
    """What each load showed, and all of them together where there are several."""
    from penstock.report.comparison import Comparison
    from penstock.runs.yardstick import Yardstick

    found = []
    for number, simulation in enumerate(measures):
        load, results = simulation.workload, standings.results[number * len(labels) : (number + 1) * len(labels)]
        yardstick = Yardstick.of(simulation, standings.oracles[number] if standings.oracles else None)
        rows = {label: [yardstick.score(result) for result in of] for label, of in zip(labels, results, strict=True)}
        found.append(Comparison(f"{load.name}, trace {load.trace.name}", rows, yardstick))
    if len(found) > 1:
        found.append(Comparison.together("all loads", found))
    return found


def _json(found: list[Comparison]) -> dict[str, Any]:
    return {
        "summary": {each.title: each.summary_json() for each in found},
        "oracles": {each.title: each.oracle_json() for each in found if each.oracle_json() is not None},
    }


def _show(found: list[Comparison], seeds: int, plot: Path | None) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    for each in found:
        for table in each.tables(seeds):
            console.print(table)
    if plot is not None:
        console.print(f"Picture: {plot}", soft_wrap=True)


def _write(path: Path, picture: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(picture)
    except OSError as error:
        raise PenstockError(f"--plot {path} cannot be written: {error.strerror}") from None
