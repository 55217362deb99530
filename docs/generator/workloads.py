"""The page of the jobs that come with Penstock."""

from __future__ import annotations

from docs.generator.markdown import code, fields_table, page, table
from penstock.cli.workloads import workloads
from penstock.report.story import targets
from penstock.report.words import rate, span
from penstock.runs.workload import RunsOn, Workload
from penstock.simulator.job import Behaviour, Engine


def workloads_page() -> str:
    found = workloads().values()
    return page(
        "Workloads",
        "A workload is a job with the target and the load that it is usually tried with: `penstock simulate NAME`. "
        "Another load comes from `--trace`, another target from `--slo-...`; another job you "
        "[describe in Python](../how-to/describe-your-job.md).",
        "All run on the simulator. Most run on Spark as well, in micro-batches and in real time, scaled down to a "
        "laptop: `penstock demo --workload NAME`. There an operator waits its service time for each record, an event "
        "means as much work to each operator as in the simulated job, and what counts emits increments.",
        table(
            ["name", "what it is", "on Spark"],
            [[f"[{each.name}](#{each.name})", each.summary, _on_spark(each)] for each in found],
        ),
        *(_one(each) for each in found),
        "## What describes an operator",
        fields_table(Behaviour, defaults=True),
        "## What describes an engine",
        fields_table(Engine, defaults=True),
    )


def _on_spark(workload: Workload) -> str:
    return ", ".join(place for place in workload.runs_on if place is not RunsOn.SIMULATOR)


def _one(workload: Workload) -> str:
    job, trace, engine = workload.job, workload.trace, workload.job.engine
    rows = []
    for each in job.topology.operators:
        behaviour = job.behaviours[each.name]
        rows.append([
            code(each.name) + (" (stateful)" if each.stateful else ""),
            ", ".join(map(code, job.topology.parents[each.name])) or "the source",
            job.first_plan[each.name],
            f"{each.min} to {each.max}",
            f"{behaviour.service_ms:.3g}",
            "" if behaviour.rate_cap is None else rate(behaviour.rate_cap),
        ])  # fmt: skip
    lines = (
        f"Targets: {targets(workload.slo)}.",
        f"Load: `{trace.name}`, {span(trace.seconds)}, up to {rate(trace.peak)}.",
        f"Operators run `{engine.execution}`; a change of plan is a `{engine.change}` with "
        f"{span(engine.downtime_seconds)} of standstill.",
        f"Saved resources are measured against: {job.largest_plan}.",
        f"Runs on: {workload.where_it_runs}.",
    )
    head = ["operator", "after", "at first", "bounds", "ms a record", "capped at"]
    return "\n\n".join((
        f"## {workload.name}",
        f"{workload.summary}. Source: {workload.source}.",
        table(head, rows),
        "\n".join(f"- {line}" for line in lines),
    ))  # fmt: skip
