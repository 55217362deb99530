"""`penstock run`: an unmodified PySpark script, whose streaming queries are watched."""

from __future__ import annotations

import logging
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli import choices
from penstock.cli.choices import POLICY, RUN, SERVING, offer
from penstock.cli.values import pairs
from penstock.model import InvalidValueError, Slo, duration
from penstock.model.sample import STATISTICS
from penstock.serving.access import HERE

if TYPE_CHECKING:
    from penstock.control.assembly import SteeringOptions

TARGETS = "Targets"


def run(
    script: Annotated[Path, typer.Argument(help="The script.", metavar="SCRIPT")],
    executors: Annotated[str, offer("The fewest and the most executors, such as 1:20.", panel=RUN)],
    arguments: Annotated[list[str] | None, typer.Argument(help="The script's own arguments.", metavar="ARGS")] = None,
    slo_processing: Annotated[str | None, offer('Processing latency, such as "5 s".', panel=TARGETS)] = None,
    slo_event: Annotated[str | None, offer('Event latency, such as "10 s".', panel=TARGETS)] = None,
    slo_drain: Annotated[str | None, offer('How long a backlog may last, such as "6 min".', panel=TARGETS)] = None,
    slo_statistic: Annotated[
        str, offer(f"Which figure of the latency counts: {', '.join(STATISTICS)} (mean).", panel=TARGETS)
    ] = "mean",
    policy: Annotated[str | None, offer("Which policy; predictive by default.", "--policy", "-p", panel=POLICY)] = None,
    policy_option: choices.PolicyOption = None,
    forecaster: choices.ForecasterName = None,
    forecaster_option: choices.ForecasterOption = None,
    guards: choices.Guards = True,
    guard_option: choices.GuardOption = None,
    mode: Annotated[
        str, offer("monitor (decide and record, never act), active or off (monitor).", panel=RUN)
    ] = "monitor",
    interval: Annotated[str | None, offer('From one decision to the next ("30 s").', panel=RUN)] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Decide every 2 s, with little patience: for a try of ten minutes.", rich_help_panel=RUN
        ),
    ] = False,
    wait: Annotated[str, offer('How long a change waits for executors ("2 min").', panel=RUN)] = "2 min",
    store: Annotated[str | None, offer("Keep every cycle in a database, such as sqlite:///run.db.", panel=RUN)] = None,
    retention: Annotated[str, offer('How long the database keeps cycles ("90 d").', panel=RUN)] = "90 d",
    master: Annotated[
        str | None, offer("The master, unless the script names one: spark://..., yarn or k8s://...", panel=RUN)
    ] = None,
    conf: Annotated[
        list[str] | None,
        offer("A setting of Spark, name=value, unless the script sets it. Repeatable.", "--conf", "-c", panel=RUN),
    ] = None,
    metrics_port: Annotated[
        int | None, offer("Serve metrics for Prometheus at this port.", panel=SERVING, min=0, max=65535, metavar="PORT")
    ] = None,
    dashboard: Annotated[
        bool, typer.Option("--dashboard", help="Serve the page of the queries.", rich_help_panel=SERVING)
    ] = False,
    listen: choices.Listen = HERE,
    certificate: choices.Certificate = None,
) -> None:
    """Run a PySpark script as it is, and watch every streaming query that it starts.

    Options stand before the script; all that comes after it is its own. The report is printed at its end, and whenever
    the signal USR1 comes; USR2 changes between the modes monitor and active. The exit code is the script's.

    Example: penstock run --slo-event "10 s" --executors 1:20 --master spark://host:7077 app.py --topic clicks
    """
    from penstock.spark.application.defaults import chosen_steering
    from penstock.spark.application.script import Script
    from penstock.spark.application.watch import watch

    slo, bounds = Slo(slo_processing, slo_event, slo_drain, slo_statistic), _bounds(executors)
    duration("--wait", wait)
    steering: SteeringOptions = {
        **_policy(policy, policy_option),
        "guards": choices.guard_options(guards, guard_option),
        "forecaster": forecaster,
        "forecaster_options": choices.forecaster_options(forecaster, forecaster_option),
        "mode": mode,
        "store": store,
        "retention": retention,
        "metrics_port": metrics_port,
        "dashboard": dashboard,
        "listen": listen,
        "certificate": certificate,
    }
    if interval is not None:
        steering["interval"] = interval
    chosen_steering(steering, quick)  # what is wrong is refused before anything starts
    begin = partial(watch, slo=slo, executors=bounds, wait=wait, quick=quick, **steering)

    job = Script(script, arguments or (), master, pairs("--conf", conf or ()), bounds[1])
    logging.getLogger("penstock").setLevel(logging.INFO)  # every change is seen
    raise typer.Exit(job.run(begin, lambda report: typer.echo(report, err=True)))


def _policy(name: str | None, given: list[str] | None) -> SteeringOptions:
    from penstock.policies import POLICIES

    if name is not None:
        return {"policy": name, "policy_options": choices.options_of(POLICIES, name, "--policy-option", given)}
    if given:
        raise typer.BadParameter("--policy-option needs --policy")
    return {}


def _bounds(text: str) -> tuple[int, int]:
    """
    >>> _bounds("1:20")
    (1, 20)
    """
    found = re.fullmatch(r"\s*(\d+)\s*:\s*(\d+)\s*", text)
    if found is None:
        raise InvalidValueError("--executors", f"must be the fewest and the most, such as 1:20, not {text!r}")
    least, most = int(found[1]), int(found[2])
    if not 1 <= least <= most:
        raise InvalidValueError("--executors", f"must be at least 1 and not fall, not {text!r}")
    return least, most
