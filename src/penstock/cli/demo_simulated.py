"""`penstock demo --engine simulator`: a policy steers a job through two surges, and is compared with a fixed plan."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.live import Live

from penstock.cli.progress import ProgressBar
from penstock.cli.running import end_demo, recorded, say
from penstock.cli.workloads import workload
from penstock.control.clock import Stopwatch
from penstock.guards import only
from penstock.model import Cycle
from penstock.report.folder import ReportFolder
from penstock.report.live import LiveView
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
    end_demo(replace(story, rival=rival), folder)


def _rival(simulation: Simulation) -> Rival:
    """The same job, load and seed under a fixed plan sized for the peak."""
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
    recorder, seconds = Recorder(simulation.workload.slo), simulation.workload.trace.seconds
    if not console.is_terminal:
        return recorded(simulation, recorder, folder, [_lines(recorder, seconds)])
    title = f"{simulation.chosen_policy().name} steers {simulation.workload.name} (simulated)"
    view, watch = LiveView(title, recorder, seconds, rival.plan), Stopwatch()
    with Live(view.render(), console=console, auto_refresh=False) as live:

        def draw(cycle: Cycle) -> None:
            live.update(view.render(), refresh=True)
            time.sleep(max(0.0, frame_seconds - watch.lap_ms() / 1e3))
            watch.lap_ms()

        return recorded(simulation, recorder, folder, [draw])


def _lines(recorder: Recorder, seconds: float) -> Callable[[Cycle], None]:
    printed = 0

    def sometimes(cycle: Cycle) -> None:
        nonlocal printed
        if cycle.t * LINES >= (printed + 1) * seconds and recorder.points:
            printed += 1
            say(recorder, cycle, seconds, f"{cycle.decision.plan.total} instances")

    return sometimes
