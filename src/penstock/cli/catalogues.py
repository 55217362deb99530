"""`penstock policies`, `guards`, `forecasters` and `workloads`: lists of what is available."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.output import print_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType
    from rich.table import Column, Table

    from penstock.model.catalog import Catalog, Entry
    from penstock.model.options import Option
    from penstock.runs.workload import Workload

Name = Annotated[str | None, typer.Argument(help="Show one in detail.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def policies(name: Name = None, json: AsJson = False) -> None:
    """List the scaling policies with their sources and options.

    Example: penstock policies ds2
    """
    from penstock.policies import POLICIES

    _show_family("policies", POLICIES, name, json)


def guards(name: Name = None, json: AsJson = False) -> None:
    """List the guards that vet what a policy wants.

    Example: penstock guards patience
    """
    from penstock.guards import GUARDS

    _show_family("guards", GUARDS, name, json)


def forecasters(name: Name = None, json: AsJson = False) -> None:
    """List the forecasters of load.

    Example: penstock forecasters --json
    """
    from penstock.forecast import FORECASTERS

    _show_family("forecasters", FORECASTERS, name, json)


def workloads(name: Name = None, json: AsJson = False) -> None:
    """List the jobs that come with Penstock, with their targets and loads, and what each runs on.

    Example: penstock workloads wordcount
    """
    from penstock.cli.workloads import workload
    from penstock.cli.workloads import workloads as all_workloads

    if name is not None:
        chosen = workload(name)
        print_json(_workload_json(chosen)) if json else _show(*_workload_details(chosen))
        return
    found = all_workloads().values()
    if json:
        print_json([_workload_json(each) for each in found])
        return
    rows = ((each.name, each.summary, "\n".join(each.runs_on), each.source) for each in found)
    _show(_list("workloads", rows, "runs on"))


# Families of classes with options ------------------------------------------------------------------------------------


def _show_family(kind: str, catalog: Catalog[Any], name: str | None, json: bool) -> None:
    if name is not None:
        entry = catalog.describe(name)
        print_json(_entry_json(entry)) if json else _show(*_entry_details(entry))
        return
    entries = [catalog.describe(each) for each in catalog.names()]
    if json:
        print_json([_entry_json(entry) for entry in entries])
    else:
        _show(_list(kind, ((entry.name, entry.summary, entry.source) for entry in entries)))


def _entry_json(entry: Entry) -> dict[str, Any]:
    options = [
        {"name": each.name, "meaning": each.meaning, "unit": each.unit, "type": each.type, "default": _default(each)}
        for each in entry.options
    ]
    return {"name": entry.name, "summary": entry.summary, "source": entry.source, "options": options}


def _entry_details(entry: Entry) -> list[RenderableType]:
    from rich.text import Text

    head = Text.assemble(
        (entry.name, "bold"), f"\n{entry.summary}", (f"\n{entry.source}" if entry.source else "", "dim")
    )
    if not entry.options:
        return [head, Text("It has no options.")]
    rows = (
        (each.name, "" if each.default is None else str(each.default), each.unit, each.meaning)
        for each in entry.options
    )
    return [head, _table("options", ("option", "default", "unit", "meaning"), rows)]


def _default(option: Option) -> Any:
    from penstock.stores.codec import plain

    value = plain(option.default)
    return None if isinstance(value, float) and not math.isfinite(value) else value


# Workloads -----------------------------------------------------------------------------------------------------------


def _workload_json(workload: Workload) -> dict[str, Any]:
    from penstock.stores.codec import plain

    job, trace = workload.job, workload.trace
    return {
        "name": workload.name,
        "summary": workload.summary,
        "source": workload.source,
        "runs_on": [place.value for place in workload.runs_on],
        "operators": [
            {"name": each.name, "min": each.min, "max": each.max, "stateful": each.stateful}
            for each in job.topology.operators
        ],
        "edges": [list(edge) for edge in job.topology.edges],
        "execution": job.engine.execution.value,
        "change": job.engine.change.value,
        "start": plain(job.first_plan.parallelism),
        "slo": plain(workload.slo),
        "trace": {"name": trace.name, "seconds": trace.seconds, "peak": trace.peak},
    }


def _workload_details(workload: Workload) -> list[RenderableType]:
    from rich.text import Text

    from penstock.report.story import targets
    from penstock.report.words import rate, span

    job, trace = workload.job, workload.trace
    head = Text.assemble((workload.name, "bold"), f"\n{workload.summary}", (f"\n{workload.source}", "dim"))
    rows = []
    for each in job.topology.operators:
        after = ", ".join(job.topology.parents[each.name]) or "the source"
        state = "stateful" if each.stateful else ""
        service = f"{job.behaviours[each.name].service_ms:.3g}"
        rows.append((each.name, after, str(job.first_plan[each.name]), f"{each.min} to {each.max}", service, state))
    table = _table("operators", ("operator", "after", "at first", "bounds", "ms a record", "state"), rows)
    load = f"Load: {trace.name}, {span(trace.seconds)}, up to {rate(trace.peak)}"
    change = f"A change of plan: {job.engine.change.value}, {span(job.engine.downtime_seconds)} of standstill"
    runs = f"Runs on: {workload.where_it_runs}"
    return [head, table, Text(f"Targets: {targets(workload.slo)}\n{load}\n{change}\n{runs}")]


# On the screen -------------------------------------------------------------------------------------------------------


def _list(kind: str, rows: Iterable[tuple[str, ...]], *between: str) -> Table:
    """The names of a family, what each does and where it comes from, with the columns that stand between."""
    from rich.table import Column

    name, summary = Column("name", style="bold", no_wrap=True), Column("what it does", ratio=3)
    source = Column("source", ratio=2, style="dim", overflow="fold")
    return _table(kind, (name, summary, *(Column(each, no_wrap=True) for each in between), source), rows)


def _table(title: str, columns: Iterable[Column | str], rows: Iterable[tuple[str, ...]]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(*columns, box=SIMPLE_HEAD, title=title, title_justify="left", title_style="bold")
    for row in rows:
        table.add_row(*row)
    return table


def _show(*parts: RenderableType) -> None:
    from rich.console import Console

    Console(highlight=False).print(*parts, sep="\n")
