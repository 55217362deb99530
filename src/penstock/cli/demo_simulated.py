"""`penstock demo --engine simulator`: a policy steers a job through two surges, and is compared with a fixed plan."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from penstock.cli.output import INTERRUPTED

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from penstock.model import Cycle
    from penstock.report.folder import ReportFolder
    from penstock.report.recorder import Recorder
    from penstock.report.story import Rival, Story
    from penstock.runs.simulation import Simulation

FORECASTER = "holt"
INTERVAL = "30 s"
FRAME_SECONDS = 0.1
LINES = 10
"""Progress lines where there is no terminal to draw on."""

OPTIONS: dict[str, dict[str, Any]] = {"ds2": {"utilisation": 0.6}}
"""Headroom for a load that doubles within minutes; every other policy runs as it comes."""


def demo_simulated(name: str, policy: str, seed: int, report: Path, fast: bool) -> None:
    """Run a workload under its load on the simulator, at ten cycles a second or, if `fast`, at full speed."""
    from rich.console import Console

    from penstock.cli.running import show, verdict
    from penstock.cli.workloads import workload
    from penstock.report.folder import ReportFolder
    from penstock.runs.simulation import Simulation

    simulation = Simulation(
        workload(name),
        policy=policy,
        policy_options=OPTIONS.get(policy),
        forecaster=FORECASTER,
        interval=INTERVAL,
        seed=seed,
    )
    simulation.chosen_policy()  # refuses a wrong name before anything is written
    folder, console = ReportFolder(report), Console(highlight=False)
    rival = _rival(simulation)
    story = _watch(simulation, folder, console, 0.0 if fast else FRAME_SECONDS, rival)
    if story.stopped_early:  # compare like with like
        shorter = simulation.workload.trace.first(story.result.seconds)
        rival = _rival(replace(simulation, workload=replace(simulation.workload, trace=shorter)))
    story = replace(story, rival=rival)
    folder.write(story)
    show(story, folder)
    console.print(verdict(story), style="bold")
    if story.stopped_early:
        raise typer.Exit(INTERRUPTED)


def _rival(simulation: Simulation) -> Rival:
    """The same job, load and seed under a fixed plan sized for the peak."""
    from penstock.cli.progress import ProgressBar
    from penstock.guards import only
    from penstock.report.story import Rival

    workload = simulation.workload
    plan = workload.job.largest_plan
    fixed = replace(
        simulation,
        workload=replace(workload, job=replace(workload.job, start=plan)),
        policy="static",
        policy_options=None,
        guards=only(),
        forecaster=None,
    )
    with ProgressBar("a fixed plan, to compare with", workload.trace.seconds) as progress:
        return Rival(plan, fixed.run(progress))


def _watch(simulation: Simulation, folder: ReportFolder, console: Console, frame_seconds: float, rival: Rival) -> Story:
    """Run the policy with a live view on a terminal, otherwise with some lines of progress."""
    from rich.live import Live

    from penstock.cli.pace import Pace
    from penstock.cli.running import recorded
    from penstock.report.live import LiveView
    from penstock.report.recorder import Recorder

    recorder, seconds = Recorder(simulation.workload.slo), simulation.workload.trace.seconds
    if not console.is_terminal:
        return recorded(simulation, recorder, folder, [_lines(recorder, seconds)])
    title = f"{simulation.chosen_policy().name} steers {simulation.workload.name} (simulated)"
    view, pace = LiveView(title, recorder, seconds, rival.plan), Pace(frame_seconds)
    with Live(view.render(), console=console, auto_refresh=False) as live:

        def draw(cycle: Cycle) -> None:
            live.update(view.render(), refresh=True)
            pace.wait()

        return recorded(simulation, recorder, folder, [draw])


def _lines(recorder: Recorder, seconds: float) -> Callable[[Cycle], None]:
    from penstock.report.words import clock, milliseconds, rate

    printed = 0

    def say(cycle: Cycle) -> None:
        nonlocal printed
        if cycle.t * LINES < (printed + 1) * seconds or not recorder.points:
            return
        printed += 1
        last = recorder.points[-1]
        typer.echo(
            f"penstock: {clock(cycle.t)} of {clock(seconds)}: {rate(last.input_rate)}, event latency "
            f"{milliseconds(last.event_latency_ms)}, {cycle.decision.plan.total} instances",
            err=True,
        )

    return say
