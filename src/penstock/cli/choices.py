"""Options that several commands share: load, policy, guards."""

from __future__ import annotations

import shlex
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from penstock.cli.values import by_guard, pairs, typed
from penstock.model import InvalidValueError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.guards import GuardOptions
    from penstock.load.trace import Trace
    from penstock.model.catalog import Catalog
    from penstock.runs.workload import Workload

NONE = "none"

LOAD, POLICY, RUN, SERVING = "Load", "Policy", "Run", "Page and metrics"

T = TypeVar("T")


class ChangeOption(StrEnum):
    """How a new plan is put in force. The simulator's names are repeated here so that help need not import it."""

    LIVE = "live"
    RESTART = "restart"
    LOSSY_RESTART = "lossy_restart"


class ConditionsOption(StrEnum):
    """What a simulation is subject to beyond its load and its job; the simulator's names, as above."""

    IDEAL = "ideal"
    SPARK = "spark"


def offer(help_text: str, *names: str, panel: str | None = None, **limits: Any) -> Any:
    return typer.Option(*names, help=help_text, rich_help_panel=panel, show_default=False, **limits)


PolicyOption = Annotated[
    list[str] | None, offer("An option of the policy, name=value. Repeatable.", "--policy-option", "-o", panel=POLICY)
]
ForecasterName = Annotated[str | None, offer("Which forecaster predicts the load; none by default.", panel=POLICY)]
ForecasterOption = Annotated[
    list[str] | None, offer("An option of the forecaster, name=value. Repeatable.", panel=POLICY)
]
Guards = Annotated[bool, offer("Let guards vet the policy (they do by default).", "--guards/--no-guards", panel=POLICY)]
GuardOption = Annotated[
    list[str] | None, offer("An option of a guard, guard.name=value, or guard=off. Repeatable.", panel=POLICY)
]
Peak = Annotated[float | None, offer("Scale the load to this highest rate, in records/s.", panel=LOAD)]
Compress = Annotated[float, offer("Speed the load up by this factor.", panel=LOAD)]
Seconds = Annotated[float | None, offer("End after this many simulated seconds.", panel=LOAD)]
FillGaps = Annotated[
    bool,
    typer.Option(
        "--fill-gaps",
        help="Fill gaps of a load file, lines that are missing or have no rate, with straight lines.",
        rich_help_panel=LOAD,
        show_default=False,
    ),
]
Interval = Annotated[str, offer('From one decision to the next ("60 s").', panel=RUN)]
HowToChange = Annotated[
    ChangeOption | None,
    offer(
        "How a new plan is put in force: live, restart or lossy_restart; by default as the policy's paper or the "
        "engine does.",
        panel=RUN,
        metavar="HOW",
    ),
]
Listen = Annotated[
    str,
    offer(
        "The address that page and metrics are served at: this machine only by default. Another one needs a token in "
        "the environment, PENSTOCK_TOKEN, and a certificate.",
        panel=SERVING,
        metavar="ADDRESS",
    ),
]
Certificate = Annotated[
    str | None,
    offer(
        "A PEM file with the certificate and its key; none: something in front encrypts, such as a proxy.",
        panel=SERVING,
        metavar="FILE",
    ),
]
SubjectTo = Annotated[
    ConditionsOption,
    offer(
        "ideal (the default), or spark: records arrive in bursts, slots come in whole executors that take seconds to "
        "arrive and to leave, and moving state takes time; with figures measured on Spark.",
        "--conditions",
        panel=RUN,
        metavar="NAME",
    ),
]


def loaded(
    name: str,
    path: Path | None,
    peak: float | None,
    compress: float,
    seconds: float | None,
    targets: dict[str, str | None],
    fill_gaps: bool,
) -> Workload:
    """The workload with the load and the targets that were asked for."""
    from penstock.cli.workloads import workload
    from penstock.load.trace import read_trace

    chosen = workload(name)
    trace = chosen.trace if path is None else read_trace(path, fill_gaps=fill_gaps)
    given: dict[str, Any] = {
        field: None if value == NONE else value for field, value in targets.items() if value is not None
    }
    return replace(
        chosen,
        trace=trace.scaled(peak).compressed(compress).first(seconds),
        slo=replace(chosen.slo, **given) if given else chosen.slo,
    )


def options_of(catalog: Catalog[T], name: str, field: str, given: Iterable[str] | None) -> dict[str, Any]:
    """The options of a policy or a forecaster; a wrong name or value is refused here."""
    options = typed(pairs(field, given or ()), catalog.describe(name).options)
    catalog.create(name, options)
    return options


def policy_and_options(text: str) -> tuple[str, dict[str, Any]]:
    """A policy with its options in one text, such as "ds2 utilisation=0.6"."""
    from penstock.policies import POLICIES

    name, *options = shlex.split(text) or [""]
    return name, options_of(POLICIES, name, f"--policy {name}", options)


def curve(name: str, peak: float, fill_gaps: bool) -> Trace:
    """The curve or else the file of this name, scaled to this highest rate."""
    from penstock.load.curves import CURVES
    from penstock.load.trace import read_trace

    if name in CURVES:
        return CURVES[name](peak)
    if not name.endswith(".csv"):
        raise InvalidValueError("--trace", f"must be a .csv file or one of {', '.join(CURVES)}, not {name!r}")
    return read_trace(Path(name), fill_gaps=fill_gaps).scaled(peak)


def forecaster_options(name: str | None, given: list[str] | None) -> dict[str, Any] | None:
    from penstock.forecast import FORECASTERS

    if name is not None:
        return options_of(FORECASTERS, name, "--forecaster-option", given)
    if given:
        raise typer.BadParameter("--forecaster-option needs --forecaster")
    return None


def guard_options(wanted: bool, given: list[str] | None) -> GuardOptions:
    """The options of guards; without guards, options that leave all of them out."""
    from penstock.guards import GUARDS, chain, only

    if not wanted:
        return only()
    options = {
        name: None if each is None else typed(each, GUARDS.describe(name).options)
        for name, each in by_guard("--guard-option", given or ()).items()
    }
    chain(options)  # refuses a wrong value before anything starts
    return options
