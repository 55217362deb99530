"""`penstock advise`: what policies would have done with the load that an event log shows."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli import choices
from penstock.cli.choices import NONE, POLICY, RUN, offer
from penstock.cli.output import INTERRUPTED, RUNS_FAILED, print_json
from penstock.model import InvalidValueError, PenstockError, Slo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.advise.advice import LogAdvice, QueryAdvice
    from penstock.advise.ask import Ask
    from penstock.advise.log_files import EventLog
    from penstock.cli.progress import ProgressBar

SHOWN = 5
"""More queries than this are ranked, and the first of them shown."""


def advise(
    logs: Annotated[
        list[Path],
        typer.Argument(help="Event logs of Spark; a folder stands for all logs in it.", metavar="EVENTLOG"),
    ],
    slo_event: Annotated[str, offer('The event latency to stay below ("30 s").')] = "30 s",
    policy: Annotated[
        list[str] | None,
        offer(
            'A policy, with options: "ds2 utilisation=0.6"; the first is the one advised on. Repeatable. By default '
            "predictive, ds2 at 80 %, threshold and Spark's dynamic allocation.",
            "--policy",
            "-p",
            panel=POLICY,
        ),
    ] = None,
    oracle: Annotated[
        bool,
        offer(
            "Also find the cheapest schedule for whoever knows the load beforehand (it does by default).",
            "--oracle/--no-oracle",
            panel=POLICY,
        ),
    ] = True,
    store: Annotated[
        str | None,
        offer("Keep what predictive learns of each query in a database, such as sqlite:///penstock.db.", panel=RUN),
    ] = None,
    master: Annotated[
        str,
        offer(
            f"Spark to read many logs on, such as local[4] or spark://..., or {NONE}: in this process ({NONE}).",
            panel=RUN,
        ),
    ] = NONE,
    out: Annotated[Path | None, offer("Write a page with charts to this HTML file.", panel=RUN)] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the advice as JSON.")] = False,
) -> None:
    """Say from event logs what a policy would have saved. Nothing is changed, and no Spark is needed.

    Example: penstock advise --slo-event "30 s" /spark-events/application_1700000000000_0042.zstd
    """
    from penstock.advise.advice import ranked
    from penstock.advise.ask import DEFAULT_POLICIES, Ask
    from penstock.advise.log_files import find_logs

    if out is not None and out.suffix.lower() not in (".html", ".htm"):
        raise InvalidValueError("--out", f"must be an HTML file, such as advice.html, not {out}")
    chosen = [(label, *choices.policy_and_options(label)) for label in dict.fromkeys(policy or ())]
    ask = Ask(Slo(event_latency=slo_event), tuple(chosen) or DEFAULT_POLICIES, oracle, learns=store is not None)
    found = find_logs(logs)
    answers, stopped = _answers(ask, found, master)
    queries = ranked([query for answer in answers for query in answer.queries])
    failures = [answer.failure for answer in answers if answer.failure is not None]
    if store is not None:
        _keep(queries, store)
    if out is not None:
        from penstock.advise.page import page

        _write(out, page(queries, failures))
    if json:
        print_json({"queries": [q.to_json() for q in queries], "failures": [f.to_json() for f in failures]})
    else:
        _show(queries, out, store)
    for failure in failures:
        typer.echo(f"penstock: {failure}", err=True)
    if stopped:
        typer.echo(f"penstock: stopped early, after {len(answers):,} of {len(found):,} logs", err=True)
        raise typer.Exit(INTERRUPTED)
    if failures:
        raise typer.Exit(RUNS_FAILED)


def _answers(ask: Ask, found: Sequence[EventLog], master: str) -> tuple[list[LogAdvice], bool]:
    """What each log came to, in their order, and whether Ctrl-C ended it early."""
    from penstock.advise.advice import Failure, LogAdvice
    from penstock.advise.ask import advise_log
    from penstock.advise.log_files import EventLog
    from penstock.cli.interrupt import Interrupt
    from penstock.cli.progress import ProgressBar

    logs = f"{len(found):,} log{'s' if len(found) > 1 else ''}"
    preparing = f"reading {logs}" if master == NONE else f"starting Spark at {master}"
    with ProgressBar(f"advising on {logs}", len(found), preparing) as progress, Interrupt() as interrupt:
        if master == NONE:
            answers: list[LogAdvice] = []
            for number, log in enumerate(found):
                if interrupt():
                    break
                answers.append(advise_log(ask, log, partial(_reached, progress, number)))
            return answers, len(answers) < len(found)
        from penstock.cli.sweeping import opener  # Spark is needed from here on only
        from penstock.runs.sweep import spread

        outcomes = spread(
            partial(advise_log, ask),
            [EventLog(log.path.resolve()) for log in found],
            open_spark=opener(master),
            on_progress=progress.reached,
            stopped=interrupt,
        )
    answers = [
        outcome.result or LogAdvice(failure=Failure(found[number].path, None, str(outcome.failure)))
        for number, outcome in sorted(outcomes.items())
    ]
    return answers, len(answers) < len(found)


def _reached(progress: ProgressBar, logs: int, part: float) -> None:
    progress.reached(logs + part)


def _show(queries: Sequence[QueryAdvice], out: Path | None, store: str | None) -> None:
    from rich.console import Console

    from penstock.advise.tables import advice_table, assumptions, ranking_table

    console = Console(highlight=False)
    if len(queries) > 1:
        console.print(ranking_table(queries))
    for advice in queries[: SHOWN if len(queries) > SHOWN else None]:
        console.print(advice_table(advice))
        console.print()
    if any(advice.policies for advice in queries):
        console.print(assumptions())
    if len(queries) > SHOWN:
        console.print(f"The first {SHOWN} of {len(queries):,} queries are shown; --out and --json have all.")
    if out is not None:
        console.print(f"Page: {out}", soft_wrap=True)
    if store is not None:
        kept = [query.knowledge.job for query in queries if query.knowledge is not None]
        console.print(f"Kept for predictive: {', '.join(dict.fromkeys(kept)) or 'nothing, the logs are too short'}")


def _keep(queries: Sequence[QueryAdvice], store: str) -> None:
    """Write what was learnt, the oldest first: of a query in several logs, the newest counts."""
    for query in sorted(queries, key=lambda each: each.begin):
        if query.knowledge is not None:
            query.knowledge.keep(store)


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(0o600)  # it tells what somebody's jobs do
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise PenstockError(f"--out {path} cannot be written: {error.strerror}") from None
