"""`penstock simulate`: a job under a policy, in the simulator."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli import choices
from penstock.cli.choices import LOAD, NONE, POLICY, RUN, offer
from penstock.cli.output import INTERRUPTED, print_json
from penstock.model import InvalidValueError
from penstock.model.sample import STATISTICS

if TYPE_CHECKING:
    from penstock.runs.simulation import Simulation

TARGETS = "Targets (the workload's own unless given)"


def simulate(
    workload: Annotated[str, typer.Argument(help="Which job; `penstock workloads` lists them.")],
    policy: Annotated[str, offer("Which policy; `penstock policies` lists them.", "--policy", "-p", panel=POLICY)],
    policy_option: choices.PolicyOption = None,
    forecaster: choices.ForecasterName = None,
    forecaster_option: choices.ForecasterOption = None,
    guards: choices.Guards = True,
    guard_option: choices.GuardOption = None,
    trace: Annotated[
        Path | None, offer("A load curve: CSV lines of t_seconds,rate. The workload's own if left out.", panel=LOAD)
    ] = None,
    fill_gaps: choices.FillGaps = False,
    peak: choices.Peak = None,
    compress: choices.Compress = 1.0,
    seconds: choices.Seconds = None,
    slo_processing: Annotated[
        str | None, offer(f'Processing latency, such as "180 ms"; {NONE}: not asked for.', panel=TARGETS)
    ] = None,
    slo_event: Annotated[
        str | None, offer(f'Event latency, such as "500 ms"; {NONE}: not asked for.', panel=TARGETS)
    ] = None,
    slo_drain: Annotated[
        str | None, offer(f'How long a backlog may last, such as "6 min"; {NONE}: any time.', panel=TARGETS)
    ] = None,
    slo_statistic: Annotated[
        str | None, offer(f"Which figure of the latency counts: {', '.join(STATISTICS)}.", panel=TARGETS)
    ] = None,
    seed: Annotated[
        int, offer("The seed of the random numbers; the same seed gives the same run.", panel=RUN, min=0, metavar="N")
    ] = 0,
    seeds: Annotated[
        int | None, offer("Run this many seeds, from --seed on, spread over Spark.", panel=RUN, min=1, metavar="N")
    ] = None,
    master: Annotated[
        str, offer(f"Spark for --seeds (local[2]), or {NONE} for sequential runs in this process.", panel=RUN)
    ] = "local[2]",
    interval: choices.Interval = "60 s",
    mode: Annotated[
        str, offer("active, monitor (decide and record, never act) or off (active).", panel=RUN)
    ] = "active",
    step: Annotated[float, offer("Seconds of a step of the simulator (1).", panel=RUN)] = 1.0,
    change: choices.HowToChange = None,
    chaining: Annotated[
        bool,
        typer.Option(
            "--chaining",
            help="Let operators with as many instances share them, where no key is between them.",
            rich_help_panel=RUN,
        ),
    ] = False,
    conditions: choices.SubjectTo = choices.ConditionsOption.IDEAL,
    store: Annotated[str | None, offer("Keep every cycle in a database, such as sqlite:///run.db.", panel=RUN)] = None,
    report: Annotated[
        Path | None,
        offer("Write picture, decisions and page to this folder; without --json to out/WORKLOAD-POLICY.", panel=RUN),
    ] = None,
    no_report: Annotated[bool, typer.Option("--no-report", help="Write no report.", rich_help_panel=RUN)] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Run a job under a policy in the simulator, and print the result.

    Example: penstock simulate wordcount --policy ds2 --policy-option utilisation=0.7 --report out/wordcount
    """
    from penstock.cli.running import record, show
    from penstock.policies import POLICIES
    from penstock.report.folder import ReportFolder
    from penstock.runs.simulation import Simulation
    from penstock.simulator.conditions import CONDITIONS
    from penstock.simulator.job import Change
    from penstock.stores import open_store

    targets = {
        "processing_latency": slo_processing,
        "event_latency": slo_event,
        "drain": slo_drain,
        "statistic": slo_statistic,
    }
    job = choices.loaded(workload, trace, peak, compress, seconds, targets, fill_gaps)
    simulation = Simulation(
        workload=replace(job, job=job.job.chained()) if chaining else job,
        policy=policy,
        policy_options=choices.options_of(POLICIES, policy, "--policy-option", policy_option),
        guards=choices.guard_options(guards, guard_option),
        forecaster=forecaster,
        forecaster_options=choices.forecaster_options(forecaster, forecaster_option),
        interval=interval,
        mode=mode,
        seed=seed,
        step_seconds=step,
        change=None if change is None else Change(change.value),
        conditions=CONDITIONS[conditions.value],
    )
    if seeds is not None:
        for name, given in (("--report", report), ("--store", store)):
            if given is not None:
                raise InvalidValueError(name, "must not be given with --seeds: it is for a single run")
        _run_seeds(simulation, seeds, master, json)
        return
    if report is None and not json and not no_report:
        report = Path("out") / f"{workload}-{simulation.chosen_policy().name}"
    folder = None if report is None or no_report else ReportFolder(report)
    opened = open_store(store, job=f"{workload} {policy} {seed}")
    try:
        story = record(replace(simulation, store=opened), folder)
    finally:
        opened.close()
    if json:
        print_json(story.result.to_json())
    else:
        show(story, folder)
    if story.stopped_early:
        raise typer.Exit(INTERRUPTED)


def _run_seeds(simulation: Simulation, seeds: int, master: str, json: bool) -> None:
    from rich.console import Console

    from penstock.cli.sweeping import end, held, standings_json
    from penstock.report.comparison import comparison_table, summary_json
    from penstock.runs.contest import Contest, Entrant
    from penstock.runs.yardstick import Scored

    entrant = Entrant(simulation.chosen_policy().name, simulation)
    contest = Contest([entrant], range(simulation.seed, simulation.seed + seeds))
    standings = held(contest, master)
    runs = [Scored(result) for result in standings.results[0]]
    if json:
        print_json({"summary": summary_json(runs), **standings_json(contest, standings)})
    else:
        load = simulation.workload
        title = f"{load.name}, trace {load.trace.name}, {len(runs):,} seeds"
        Console(highlight=False).print(comparison_table(title, {entrant.label: runs}))
    end(standings)
