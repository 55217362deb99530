"""Two demos in real time whose load jumps, changed by a restart and by a hand-over: the time outside their targets.

`penstock demo --engine realtime --workload W`, once with `--change restart` and once with `--change handover`, under
`predictive`, in one session. Before them one is run that does not count, as the JVM is new then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from penstock.cli.demo_on_spark import live_run
from penstock.cli.workloads import spark_workload
from penstock.runs.result import Result
from penstock.testbed.place import LocalPlace, opened

DEMOS = ("yahoo_open_store", "linear_peaks")
CHANGES = ("restart", "handover")
POLICY = "predictive"
ROUNDS = 1
MOST_OF_TODAYS = 0.5
"""A hand-over has to halve the time outside the target."""


@dataclass(frozen=True)
class Run:
    workload: str
    change: str
    seconds: float
    outside_percent: float
    changes: int
    event_latency_p50_ms: float | None
    event_latency_p99_ms: float | None
    slot_seconds: float


@dataclass(frozen=True)
class Bar:
    """A mean over the rounds, against that of restarts."""

    workload: str
    restarted_percent: float
    handed_over_percent: float
    holds: bool


def rows() -> Iterator[Run | Bar]:
    with opened("realtime") as place:
        run(place, DEMOS[0], CHANGES[0])
        for name in DEMOS:
            runs = [run(place, name, change) for _ in range(ROUNDS) for change in CHANGES]
            yield from runs
            restarted, handed_over = (
                sum(each.outside_percent for each in runs if each.change == change) / ROUNDS for change in CHANGES
            )
            yield Bar(name, restarted, handed_over, handed_over <= MOST_OF_TODAYS * restarted)


def run(place: LocalPlace, name: str, change: str) -> Run:
    made = replace(live_run(spark_workload(name), place, POLICY), change=change)
    result: Result = made.run()
    return Run(
        name, change, round(result.seconds), 100 * result.violation_ratio, result.rescales,
        result.event_latency_ms.p50, result.event_latency_ms.p99, round(result.core_seconds),
    )  # fmt: skip
