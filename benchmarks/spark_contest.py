"""What the benchmarks of policies on real Spark share: `predictive`, DS2 at 80 % and a plan fixed for the peak.

A standalone cluster on this machine, and the demo's job. The load is six hours of the World Cup of 1998 with a match
in them, compressed to three minutes, if the folder that the environment variable PENSTOCK_TRACES names has its file;
else a surge by formula. Core-seconds are those between Spark's events that an executor was added and removed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.load.trace import Trace
    from penstock.model import Cycle
    from penstock.runs.live import LiveRun
    from penstock.runs.result import Result
    from penstock.testbed.place import LocalPlace

CURVE, FIRST_HOUR, HOURS = "worldcup98_jun24_jul01_60s.csv", 12.0, 6.0
SECONDS = 180.0
PEAKS = {"microbatch": 450.0, "realtime": 650.0}
"""Records per second at which the plan for the peak needs three executors, and the load at its lowest one."""
SLOTS = {"microbatch": 4, "realtime": 6}
"""Slots of an executor. In real time every operator and every reader has slots of its own."""
COMPRESS = 20.0
OURS, RIVAL, FIXED = "predictive", "ds2 at 80 %", "fixed plan for the peak"
POLICIES: dict[str, tuple[str, dict[str, float]]] = {
    OURS: ("predictive", {"compress": COMPRESS}),
    RIVAL: ("ds2", {"utilisation": 0.8}),
}
GUARDS: dict[str, dict[str, float]] = {
    "ineffective": {"seconds": 15.0}, "roll_back": {"trial_seconds": 15.0, "seconds": 20.0},
}  # fmt: skip
"""What takes minutes in life takes seconds here."""
OF_OTHERS: dict[str, dict[str, float]] = {"patience": {"seconds": 6.0}, "stabilisation": {"seconds": 2.0}}
"""The same for guards whose work `predictive` does itself."""


@dataclass(frozen=True)
class Row:
    """One run."""

    engine: str
    load: str
    policy: str
    outside_percent: float
    core_seconds: float
    changes: int
    event_latency_p95_ms: float | None
    seconds: float


@dataclass(frozen=True)
class Bar:
    """A figure to reach."""

    engine: str
    figure: str
    reached: float
    to_reach: str


def rows_of(engine: str) -> Iterator[Row | Bar]:
    """In a process of its own: a process has one Spark context."""
    command = [sys.executable, "-m", __name__, engine]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found = [Row(**json.loads(line)) for line in done.stdout.splitlines() if line.startswith("{")]
    yield from found
    yield from bars(engine, {row.policy: row for row in found})


def bars(engine: str, runs: dict[str, Row]) -> list[Bar]:
    ours, rival, fixed = runs[OURS], runs[RIVAL], runs[FIXED]
    return [
        Bar(engine, "percent outside the target", ours.outside_percent, f"fewer than {rival.outside_percent:.1f}"),
        Bar(engine, "core-seconds saved by it", 1 - ours.core_seconds / fixed.core_seconds, "at least 0.25"),
    ]


def load(peak: float) -> Trace:
    from penstock.demo.clicks_on_spark import surge
    from penstock.load.trace import read_trace

    folder = os.environ.get("PENSTOCK_TRACES")
    if folder is None:
        return surge(SECONDS, 0.2 * peak, peak)
    curve = read_trace(Path(folder) / CURVE).after(3600 * FIRST_HOUR).first(3600 * HOURS)
    return replace(curve.compressed(curve.seconds / SECONDS).scaled(peak), name="World Cup")


def measure(engine: str) -> None:
    from penstock.testbed.place import opened

    with opened(engine, cluster=True, slots_each=SLOTS[engine]) as place:
        for policy, run in runs(place).items():
            result = run.run(partial(say, policy))
            print(json.dumps(asdict(row(engine, policy, result))), flush=True)


def say(policy: str, cycle: Cycle) -> None:
    """What is decided, as it is decided."""
    window = cycle.samples[-1] if cycle.samples else None
    rate, event = (None, None) if window is None else (window.job_input_rate, window.event_latency_ms)
    shown = f"{rate or 0:.0f}/s, {event.mean if event and event.mean else 0:.0f} ms"
    print(
        f"{policy} {cycle.t:.0f} s: {shown}: {cycle.decision.plan}, as {cycle.decision.reason.text}",
        file=sys.stderr,
        flush=True,
    )


def row(engine: str, policy: str, result: Result) -> Row:
    return Row(
        engine, result.trace, policy, 100 * result.violation_ratio, result.core_seconds, result.rescales,
        result.event_latency_ms.p95, result.seconds,
    )  # fmt: skip


def runs(place: LocalPlace) -> dict[str, LiveRun]:
    """By the name of the policy, in the order in which they are run."""
    from penstock.cli.demo_on_spark import JUST_BUSY, MOST, SETTINGS, slo_of, within
    from penstock.demo.clicks_on_spark import CLICKS
    from penstock.model import Execution
    from penstock.runs.live import NOWHERE, LiveRun
    from penstock.testbed.place import most_that_fit

    setting, trace = SETTINGS[place.engine], load(PEAKS[place.engine])
    sequential = place.execution is Execution.SEQUENTIAL
    assert place.executors is not None
    most = MOST if sequential else min(MOST, most_that_fit(CLICKS.pipeline, place.executors * SLOTS[place.engine]))
    topology = CLICKS.pipeline(NOWHERE, NOWHERE, most=most).topology()
    first = CLICKS.sized_for(trace.rates[0], place.execution, busy=JUST_BUSY[place.execution])
    # The demo allows 10 s on a cluster, as executors take seconds to come; in real time nobody would miss that.
    slo = slo_of(CLICKS, place) if sequential else CLICKS.slo
    common: Any = {
        "place": place, "pipeline": partial(CLICKS.pipeline, most=most), "values": CLICKS.values, "trace": trace,
        "slo": slo, "plan": within(topology, first), "executors": (1, place.executors),
        "interval": setting.interval, "batch": f"{setting.batch_seconds:g} s",
    }  # fmt: skip
    made = {
        label: LiveRun(**common, policy=name, policy_options=options, guards=_guards(label))
        for label, (name, options) in POLICIES.items()
    }
    fixed = within(topology, CLICKS.sized_for(trace.peak, place.execution))
    # The fixed plan comes first, and pays for what is cold: classes that the driver loads, the first batch.
    return {FIXED: made[OURS].under(fixed), **made}


def _guards(policy: str) -> dict[str, dict[str, float]]:
    return GUARDS if policy == OURS else {**GUARDS, **OF_OTHERS}


if __name__ == "__main__":
    measure(sys.argv[1])
