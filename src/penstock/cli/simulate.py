"""`penstock simulate`: a job under a policy, in the simulator."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from penstock.cli.output import INTERRUPTED, print_json
from penstock.cli.values import by_guard, pairs, typed
from penstock.model.sample import STATISTICS

if TYPE_CHECKING:
    from penstock.forecast import Forecaster
    from penstock.guards import Guard
    from penstock.model.catalog import Catalog
    from penstock.workloads import Workload

NONE = "none"

T = TypeVar("T")


class ChangeOption(StrEnum):
    """What a new plan costs, as the simulator names it; spelt out here so that help need not import it."""

    LIVE = "live"
    RESTART = "restart"
    LOSSY_RESTART = "lossy_restart"


def _option(help_text: str, *names: str, panel: str | None = None, **limits: Any) -> Any:
    return typer.Option(*names, help=help_text, rich_help_panel=panel, show_default=False, **limits)


LOAD, POLICY, TARGETS, RUN = "Load", "Policy", "Targets (the workload's own unless given)", "Run"


def simulate(
    workload: Annotated[str, typer.Argument(help="Which job; `penstock workloads` lists them.")],
    policy: Annotated[str, _option("Which policy; `penstock policies` lists them.", "--policy", "-p", panel=POLICY)],
    option: Annotated[
        list[str] | None, _option("An option of the policy, name=value. Repeatable.", "--option", "-o", panel=POLICY)
    ] = None,
    forecaster: Annotated[str | None, _option("Who predicts the load; nobody unless given.", panel=POLICY)] = None,
    forecaster_option: Annotated[
        list[str] | None, _option("An option of the forecaster, name=value. Repeatable.", panel=POLICY)
    ] = None,
    guards: Annotated[
        bool, _option("Let guards vet the policy (they do by default).", "--guards/--no-guards", panel=POLICY)
    ] = True,
    guard_option: Annotated[
        list[str] | None,
        _option("An option of a guard, guard.name=value, or guard=off. Repeatable.", panel=POLICY),
    ] = None,
    trace: Annotated[
        Path | None, _option("A load curve: CSV lines of t_seconds,rate. The workload's own if left out.", panel=LOAD)
    ] = None,
    peak: Annotated[float | None, _option("Scale the load to this highest rate, in records/s.", panel=LOAD)] = None,
    compress: Annotated[float, _option("Let the load pass so many times as fast.", panel=LOAD)] = 1.0,
    seconds: Annotated[float | None, _option("End after so many simulated seconds.", panel=LOAD)] = None,
    slo_processing: Annotated[
        str | None, _option(f'Processing latency, such as "180 ms"; {NONE}: not asked for.', panel=TARGETS)
    ] = None,
    slo_event: Annotated[
        str | None, _option(f'Event latency, such as "500 ms"; {NONE}: not asked for.', panel=TARGETS)
    ] = None,
    slo_drain: Annotated[
        str | None, _option(f'How long a backlog may last, such as "6 min"; {NONE}: any time.', panel=TARGETS)
    ] = None,
    slo_statistic: Annotated[
        str | None, _option(f"Which figure of the latency counts: {', '.join(STATISTICS)}.", panel=TARGETS)
    ] = None,
    seed: Annotated[int, _option("Of all that is random; the same seed, the same run.", panel=RUN, min=0)] = 0,
    decide_every: Annotated[float, _option("Seconds from one decision to the next (60).", panel=RUN)] = 60.0,
    step: Annotated[float, _option("Seconds that the simulator takes at a time (1).", panel=RUN)] = 1.0,
    change: Annotated[
        ChangeOption | None, _option("What a new plan costs; the policy's and the engine's own way.", panel=RUN)
    ] = None,
    store: Annotated[
        str | None, _option("Remember every cycle in a database, such as sqlite:///run.db.", panel=RUN)
    ] = None,
    report: Annotated[
        Path | None,
        _option("Write picture, decisions and page to this folder; without --json to out/WORKLOAD-POLICY.", panel=RUN),
    ] = None,
    no_report: Annotated[bool, typer.Option("--no-report", help="Write no report.", rich_help_panel=RUN)] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Run a job under a policy in the simulator, and say what came of it.

    Example: penstock simulate wordcount --policy ds2 --option utilisation=0.7 --report out/wordcount
    """
    from penstock.app import Simulation
    from penstock.cli.running import record, show
    from penstock.policies import POLICIES
    from penstock.report.folder import ReportFolder
    from penstock.simulator.job import Change
    from penstock.stores import open_store

    targets = {
        "processing_latency": slo_processing,
        "event_latency": slo_event,
        "drain": slo_drain,
        "statistic": slo_statistic,
    }
    simulation = Simulation(
        workload=_loaded(workload, trace, peak, compress, seconds, targets),
        policy=_member(POLICIES, policy, "--option", option),
        guards=_guards(guard_option) if guards else (),
        forecaster=_forecaster(forecaster, forecaster_option),
        seed=seed,
        decide_seconds=decide_every,
        step_seconds=step,
        change=None if change is None else Change(change.value),
    )
    if report is None and not json and not no_report:
        report = Path("out") / f"{workload}-{simulation.policy.name}"
    folder = None if report is None or no_report else ReportFolder(report)
    simulation = replace(simulation, store=open_store(store, job=f"{workload} {policy} {seed}"))
    try:
        story = record(simulation, folder)
    finally:
        simulation.store.close()
    if json:
        print_json(story.result.to_json())
    else:
        show(story, folder)
    if story.stopped_early:
        raise typer.Exit(INTERRUPTED)


def _loaded(
    name: str,
    path: Path | None,
    peak: float | None,
    compress: float,
    seconds: float | None,
    targets: dict[str, str | None],
) -> Workload:
    """The workload with the load and the targets that were asked for."""
    from penstock.simulator.trace import read_trace
    from penstock.workloads import workload

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


def _member(catalog: Catalog[T], name: str, field: str, given: list[str] | None) -> T:
    """A policy or a forecaster with its options."""
    return catalog.create(name, typed(pairs(field, given or ()), catalog.describe(name).options))


def _forecaster(name: str | None, given: list[str] | None) -> Forecaster | None:
    from penstock.forecast import FORECASTERS

    if name is None:
        if given:
            raise typer.BadParameter("--forecaster-option needs --forecaster")
        return None
    return _member(FORECASTERS, name, "--forecaster-option", given)


def _guards(given: list[str] | None) -> tuple[Guard, ...]:
    from penstock.guards import GUARDS, chain

    return chain({
        name: None if options is None else typed(options, GUARDS.describe(name).options)
        for name, options in by_guard("--guard-option", given or ()).items()
    })  # fmt: skip
