"""Runs a contest with progress and Ctrl-C, and reports runs that failed."""

from __future__ import annotations

from typing import Any

import typer

from penstock.cli.interrupt import Interrupt
from penstock.cli.output import INTERRUPTED, RUNS_FAILED
from penstock.cli.progress import ProgressBar
from penstock.runs.contest import Contest, Standings
from penstock.runs.sweep import OpensSpark

IN_PROCESS = "none"


def held(contest: Contest, master: str) -> Standings:
    """Run a contest to the end or to the first Ctrl-C."""
    preparing = "compiling the simulator" if master == IN_PROCESS else f"starting Spark at {master}"
    with ProgressBar(f"{len(contest):,} runs", len(contest), preparing) as progress, Interrupt() as interrupt:
        return contest.run(opener(master), progress.reached, interrupt)


def opener(master: str) -> OpensSpark | None:
    """A function that starts the Spark at that address; None for a run in this process."""
    if master == IN_PROCESS:
        return None
    from penstock.testbed.session import local_session

    return lambda: local_session(master, name="penstock sweep")


def standings_json(contest: Contest, standings: Standings) -> dict[str, Any]:
    """The runs of a contest as JSON values. A label distinguishes variants of one policy."""
    return {
        "runs": [
            {"label": entrant.label, **result.to_json()}
            for entrant, results in zip(contest.entrants, standings.results, strict=True)
            for result in results
        ],
        "failed": [vars(failure) for failure in standings.failures],
        "stopped_early": standings.stopped_early,
    }


def end(standings: Standings) -> None:
    """Print the runs that failed, and exit with the code for that."""
    for failure in standings.failures:
        typer.echo(f"penstock: failed: {failure}", err=True)
    if standings.stopped_early:
        typer.echo("penstock: stopped early; the runs completed by then are shown", err=True)
        raise typer.Exit(INTERRUPTED)
    if standings.failures:
        raise typer.Exit(RUNS_FAILED)
