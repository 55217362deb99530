"""`penstock demo` on real Spark."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.live import Live

from penstock.cli.interrupt import Interrupt
from penstock.cli.output import INTERRUPTED
from penstock.cli.running import show, verdict
from penstock.guards import chain
from penstock.live import NOWHERE, LiveRun, Stage, stage
from penstock.model import Cycle, Plan, Sample, Slo
from penstock.policies import POLICIES
from penstock.report.folder import ReportFolder
from penstock.report.journal import Journal
from penstock.report.live import LiveView
from penstock.report.recorder import Recorder
from penstock.report.story import Rival, Story
from penstock.report.words import clock, milliseconds, rate
from penstock.twin import twin, under_fixed_plan
from penstock.workloads.on_spark.clicks import clicks, pipeline, sized_for, surge

FORECASTER = "holt"
POLICY_OPTIONS: dict[str, dict[str, Any]] = {"ds2": {"utilisation": 0.5}}
"""Headroom for a load that grows fivefold within seconds; every other policy runs as it comes."""


@dataclass(frozen=True)
class Setting:
    """What suits an engine: micro-batches answer within seconds, real time within one.

    `most` is how far an operator may grow: at once, all instances of all operators must find slots.
    """

    slo: Slo
    interval_seconds: float
    batch_seconds: float
    most: int
    told: str


SETTINGS = {
    "microbatch": Setting(Slo(event_latency="6 s"), 4.0, 2.0, 12, "Spark micro-batches"),
    "realtime": Setting(Slo(event_latency="2 s"), 2.5, 2.0, 7, "Spark real-time mode on Kafka"),
}

# A demo lives a minute: what takes minutes by default takes seconds here.
GUARDS: dict[str, dict[str, Any] | None] = {
    "patience": {"seconds": 6.0},
    "stabilisation": {"seconds": 2.0},
    "ineffective": {"seconds": 15.0},
    "roll_back": {"trial_seconds": 15.0, "seconds": 20.0},
}


def demo_on_spark(policy: str, engine: str, seconds: float, report: Path) -> None:
    """Run the clicks of a surge for so many seconds, and tell how it went."""
    POLICIES.create(policy, POLICY_OPTIONS.get(policy))  # refuses a wrong name before anything starts
    console, folder = Console(highlight=False), ReportFolder(report)
    logging.getLogger("penstock").setLevel(logging.ERROR)  # what happens is on the screen and in the report
    with ExitStack() as stack:
        with console.status(f"Starting {SETTINGS[engine].told}"):
            place = stack.enter_context(stage(engine))
        story = _watch(_run(place, policy, engine, seconds), engine, folder, console)
    folder.write(story)
    show(story, folder)
    if story.rival is not None:
        console.print(verdict(story), style="bold")
    if story.stopped_early:
        raise typer.Exit(INTERRUPTED)


def _run(place: Stage, policy: str, engine: str, seconds: float) -> LiveRun:
    setting = SETTINGS[engine]
    return LiveRun(
        stage=place,
        pipeline=partial(pipeline, most=setting.most),
        values=clicks,
        trace=surge(seconds),
        slo=setting.slo,
        policy=policy,
        policy_options=POLICY_OPTIONS.get(policy),
        guards=chain(GUARDS),
        forecaster=FORECASTER,
        interval_seconds=setting.interval_seconds,
        batch_seconds=setting.batch_seconds,
    )


def _watch(run: LiveRun, engine: str, folder: ReportFolder, console: Console) -> Story:
    recorder = Recorder(run.slo)
    fixed = sized_for(run.trace.peak, run.stage.execution)
    samples: list[Sample] = []
    with ExitStack() as stack:
        journal = Journal(stack.enter_context(folder.decisions()))
        interrupt = stack.enter_context(Interrupt())
        draw = _screen(stack, run, engine, recorder, fixed, console)

        def heard(cycle: Cycle) -> None:
            samples.extend(cycle.samples)
            recorder(cycle)
            journal(cycle)
            draw(cycle)

        result = run.run(heard, interrupt)
    shorter = run.trace.first(max(1.0, result.seconds)) if interrupt.asked else run.trace
    rival = _rival(replace(run, trace=shorter), fixed, samples)
    return Story(result, recorder, rival, stopped_early=interrupt.asked, live=True)


def _rival(run: LiveRun, fixed: Plan, samples: list[Sample]) -> Rival | None:
    """A fixed plan takes no less than a minute more to run: the simulator says what to expect of it, with the service
    times just measured. What it costs needs no measurement."""
    topology = pipeline(NOWHERE, NOWHERE).topology()
    job = twin("clicks", topology, samples, run.stage.execution, run.batch_seconds)
    return None if job is None else Rival(fixed, under_fixed_plan(job, fixed, run.trace, run.slo))


def _screen(
    stack: ExitStack, run: LiveRun, engine: str, recorder: Recorder, fixed: Plan, console: Console
) -> Callable[[Cycle], None]:
    """A live view for a terminal, a line now and then for everything else."""
    if console.is_terminal:
        title = f"{run.policy} steers clicks on {SETTINGS[engine].told}"
        view = LiveView(title, recorder, run.trace.seconds, fixed, "on real Spark")
        live = stack.enter_context(Live(view.render(), console=console, auto_refresh=False))
        return lambda cycle: live.update(view.render(), refresh=True)
    console.print(f"{SETTINGS[engine].told}: warming up, then {run.trace.seconds:.0f} s of clicks", soft_wrap=True)

    def say(cycle: Cycle) -> None:
        if not recorder.points:
            return
        last = recorder.points[-1]
        typer.echo(
            f"penstock: {clock(cycle.t)} of {clock(run.trace.seconds)}: {rate(last.input_rate)}, event latency "
            f"{milliseconds(last.event_latency_ms)}, {cycle.decision.plan}",
            err=True,
        )

    return say
