"""Options that several commands share: load, policy, guards."""

from __future__ import annotations

import shlex
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from penstock.cli.values import by_guard, pairs, typed
from penstock.model import InvalidValueError

if TYPE_CHECKING:
    from penstock.forecast import Forecaster
    from penstock.guards import Guard
    from penstock.load.trace import Trace
    from penstock.model.catalog import Catalog
    from penstock.policies import Policy
    from penstock.runs.workload import Workload

NONE = "none"

LOAD, POLICY, RUN = "Load", "Policy", "Run"

T = TypeVar("T")


class ChangeOption(StrEnum):
    """How a new plan is put in force. The simulator's names are repeated here so that help need not import it."""

    LIVE = "live"
    RESTART = "restart"
    LOSSY_RESTART = "lossy_restart"


def offer(help_text: str, *names: str, panel: str | None = None, **limits: Any) -> Any:
    return typer.Option(*names, help=help_text, rich_help_panel=panel, show_default=False, **limits)


def loaded(
    name: str,
    path: Path | None,
    peak: float | None,
    compress: float,
    seconds: float | None,
    targets: dict[str, str | None],
) -> Workload:
    """The workload with the load and the targets that were asked for."""
    from penstock.cli.workloads import workload
    from penstock.load.trace import read_trace

    chosen = workload(name)
    trace = chosen.trace if path is None else read_trace(path)
    given: dict[str, Any] = {
        field: None if value == NONE else value for field, value in targets.items() if value is not None
    }
    return replace(
        chosen,
        trace=trace.scaled(peak).compressed(compress).first(seconds),
        slo=replace(chosen.slo, **given) if given else chosen.slo,
    )


def member(catalog: Catalog[T], name: str, field: str, given: list[str] | None) -> T:
    """A policy or a forecaster with its options."""
    return catalog.create(name, typed(pairs(field, given or ()), catalog.describe(name).options))


def rival(text: str) -> Policy:
    """A policy with its options in one text, such as "ds2 utilisation=0.6"."""
    from penstock.policies import POLICIES

    name, *options = shlex.split(text) or [""]
    return member(POLICIES, name, f"--policy {name}", options)


def curve(name: str, peak: float) -> Trace:
    """The curve or else the file of this name, scaled to this highest rate."""
    from penstock.load.curves import CURVES
    from penstock.load.trace import read_trace

    if name in CURVES:
        return CURVES[name](peak)
    if not name.endswith(".csv"):
        raise InvalidValueError("--trace", f"must be a .csv file or one of {', '.join(CURVES)}, not {name!r}")
    return read_trace(Path(name)).scaled(peak)


def chosen_forecaster(name: str | None, given: list[str] | None) -> Forecaster | None:
    from penstock.forecast import FORECASTERS

    if name is None:
        if given:
            raise typer.BadParameter("--forecaster-option needs --forecaster")
        return None
    return member(FORECASTERS, name, "--forecaster-option", given)


def guard_chain(given: list[str] | None) -> tuple[Guard, ...]:
    from penstock.guards import GUARDS, chain

    return chain({
        name: None if options is None else typed(options, GUARDS.describe(name).options)
        for name, options in by_guard("--guard-option", given or ()).items()
    })  # fmt: skip
