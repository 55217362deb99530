"""Runs a simulation with progress, Ctrl-C, a record, and a report at the end."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

import typer
from rich.console import Console

from penstock.cli.interrupt import Interrupt
from penstock.cli.output import INTERRUPTED
from penstock.cli.progress import ProgressBar
from penstock.model import Cycle
from penstock.report.folder import HTML, ReportFolder
from penstock.report.journal import Journal
from penstock.report.markdown import PICTURE
from penstock.report.recorder import Recorder
from penstock.report.story import Story
from penstock.report.tables import changes_table, figures_table, reasons_line
from penstock.report.words import clock, milliseconds, rate, ratio
from penstock.runs.simulation import Simulation

Listener = Callable[[Cycle], None]


def record(simulation: Simulation, folder: ReportFolder | None) -> Story:
    """Run to the end, or to the first Ctrl-C, and write the report in either case."""
    recorder = Recorder(simulation.workload.slo)
    what = f"{simulation.chosen_policy().name} on {simulation.workload.name}"
    with ProgressBar(what, simulation.workload.trace.seconds) as progress:
        story = recorded(simulation, recorder, folder, [progress])
        if folder is not None:
            folder.write(story)
    return story


def recorded(
    simulation: Simulation, recorder: Recorder, folder: ReportFolder | None, others: list[Listener]
) -> Story:  # fmt: skip
    """Run, and call the recorder, a journal if there is a folder, and the `others` with each cycle."""
    with ExitStack() as stack:
        listeners: list[Listener] = [recorder, *others]
        if folder is not None:
            listeners.append(Journal(stack.enter_context(folder.decisions())))
            named = f"{simulation.workload.name} {simulation.chosen_policy().name}"
            listeners.append(stack.enter_context(folder.history(named, simulation.description())))
        interrupt = stack.enter_context(Interrupt())

        def listen(cycle: Cycle) -> None:
            for listener in listeners:
                listener(cycle)

        result = simulation.run(listen, interrupt)
    return Story(result, recorder, stopped_early=interrupt.asked)


def show(story: Story, folder: ReportFolder | None) -> None:
    """Print the tables of a run, and the path of its picture."""
    console = Console(highlight=False)
    console.print(figures_table(story))
    if story.recorder.change_count:
        console.print(changes_table(story.recorder))
    console.print(reasons_line(story.recorder), style="dim")
    if folder is not None:
        pages = f"picture: {folder.path / PICTURE}, page: {folder.path / HTML}"
        console.print(f"Report: {folder.path}, {pages}", soft_wrap=True)


def end_demo(story: Story, folder: ReportFolder) -> None:
    """Write and print the report of a demo."""
    folder.write(story)
    show(story, folder)
    if story.rival is not None:
        Console(highlight=False).print(verdict(story), style="bold")
    if story.stopped_early:
        raise typer.Exit(INTERRUPTED)


def say(recorder: Recorder, cycle: Cycle, seconds: float, plan: str) -> None:
    """Print a line of progress, once something was measured."""
    if recorder.points:
        last = recorder.points[-1]
        typer.echo(
            f"penstock: {clock(cycle.t)} of {clock(seconds)}: {rate(last.input_rate)}, event latency "
            f"{milliseconds(last.event_latency_ms)}, {plan}",
            err=True,
        )


def verdict(story: Story) -> str:
    """The comparison with the fixed plan in a sentence."""
    assert story.rival is not None
    ours, fixed = story.result, story.rival.result
    saved = 1 - ours.core_seconds / fixed.core_seconds
    cost = f"{ratio(abs(saved))} {'fewer' if saved >= 0 else 'more'} {ours.unit}-seconds"
    return (
        f"{ours.policy} took {cost} than the fixed plan ({story.basis}) and {ours.rescales} changes; it was outside "
        f"the targets {ratio(ours.violation_ratio)} of the time, the fixed plan {ratio(fixed.violation_ratio)}."
    )
