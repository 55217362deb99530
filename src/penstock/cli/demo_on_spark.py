"""`penstock demo` on real Spark."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.live import Live

from penstock.cli.interrupt import Interrupt
from penstock.cli.running import end_demo, say
from penstock.cli.workloads import spark_workload as job
from penstock.model import Cycle, Execution, Plan, Slo, Topology
from penstock.policies import POLICIES, knows_chains
from penstock.report.folder import ReportFolder
from penstock.report.journal import Journal
from penstock.report.live import LiveView
from penstock.report.recorder import Recorder
from penstock.report.story import Rival, Story
from penstock.runs.live import NOWHERE, LiveRun
from penstock.runs.spark_workload import SparkWorkload
from penstock.testbed.place import EXECUTOR_SLOTS, SLOTS, LocalPlace, most_that_fit, opened

FORECASTER = "holt"
POLICY_OPTIONS: dict[str, dict[str, Any]] = {"predictive": {"compress": 20.0}, "ds2": {"utilisation": 0.5}}
"""What takes minutes in life takes seconds here, and a load that grows fivefold within seconds needs headroom; every
other policy runs as it comes."""


@dataclass(frozen=True)
class Setting:
    """The intervals that suit an engine, and its name for people."""

    interval: str
    batch_seconds: float
    words: str


SETTINGS = {
    "microbatch": Setting("4 s", 2.0, "Spark micro-batches"),
    "realtime": Setting("2.5 s", 2.0, "Spark real-time mode on Kafka"),
}
MOST = 12
"""The most instances of an operator: more are of no use on a laptop."""
SECONDS_AN_OPERATOR = 1.5
"""The target of a job in micro-batches, for each of its operators: each is one more stage to plan and run."""

SLOWER_ON_A_CLUSTER = 2.0
"""How many times as long the load takes there: an executor needs some ten seconds to come on two cores."""
CLUSTER_SLO = Slo(event_latency="10 s")
"""Of a job that gets its cores from a cluster, on either engine: they come ten seconds after they were asked for."""

JUST_BUSY = {Execution.CONCURRENT: 0.5, Execution.SEQUENTIAL: 1.0}
"""How busy the first plan may be. Sequentially, the overhead of batches leaves some headroom as it is."""

# A demo takes a minute: what takes minutes by default takes seconds here.
GUARDS: dict[str, dict[str, Any] | None] = {
    "patience": {"seconds": 6.0},
    "stabilisation": {"seconds": 2.0},
    "ineffective": {"seconds": 15.0},
    "roll_back": {"trial_seconds": 15.0, "seconds": 20.0},
}


def demo_on_spark(
    name: str,
    policy: str,
    engine: str,
    seconds: float | None,
    report: Path,
    cluster: bool,
    change: str | None,
    chaining: bool | None,
) -> None:
    """Run a workload under its load, in this many seconds if they are given, then under a fixed plan, and report."""
    POLICIES.create(policy, POLICY_OPTIONS.get(policy))  # refuses a wrong name before anything starts
    chosen = job(name)
    console, folder = Console(highlight=False), ReportFolder(report)
    logging.getLogger("penstock").setLevel(logging.ERROR)  # what happens is on the screen and in the report
    with ExitStack() as stack:
        with console.status(f"Starting {SETTINGS[engine].words}"):
            place = stack.enter_context(opened(engine, cluster))
        run = replace(live_run(chosen, place, policy, seconds, chaining), change=change)
        story = _watch(chosen, run, folder, console)
    end_demo(story, folder)


def live_run(
    chosen: SparkWorkload, place: LocalPlace, policy: str, seconds: float | None = None, chaining: bool | None = None
) -> LiveRun:
    """A workload under its load, in this many seconds if they are given."""
    setting, trace = SETTINGS[place.engine], chosen.trace
    # What the load at its beginning needs: a job that begins by falling behind shows little else in a minute.
    shares = knows_chains(POLICIES.create(policy, POLICY_OPTIONS.get(policy))) if chaining is None else chaining
    first = chosen.sized_for(trace.rates[0], place.execution, JUST_BUSY[place.execution], chaining=shares)
    slots = SLOTS if place.executors is None else place.executors * EXECUTOR_SLOTS
    most = MOST if place.execution is Execution.SEQUENTIAL else min(MOST, most_that_fit(chosen.pipeline, slots))
    return LiveRun(
        place=place,
        pipeline=partial(chosen.pipeline, most=most),
        values=chosen.values,
        trace=trace.compressed(trace.seconds / (seconds or _seconds(chosen, place))),
        slo=slo_of(chosen, place),
        policy=policy,
        policy_options=POLICY_OPTIONS.get(policy),
        guards=GUARDS,
        forecaster=FORECASTER,
        plan=within(chosen.pipeline(NOWHERE, NOWHERE, most=most).topology(), first),
        executors=None if place.executors is None else (1, place.executors),
        interval=setting.interval,
        batch=f"{setting.batch_seconds:g} s",
        chaining=chaining,
    )


def within(topology: Topology, plan: Plan) -> Plan:
    """The plan, as far as the operators' bounds allow."""
    return Plan({name: topology.clamp(name, k) for name, k in plan.parallelism.items()})


def _seconds(chosen: SparkWorkload, place: LocalPlace) -> float:
    return chosen.trace.seconds * (1.0 if place.executors is None else SLOWER_ON_A_CLUSTER)


def slo_of(chosen: SparkWorkload, place: LocalPlace) -> Slo:
    """The target of the job, which is meant for operators that run concurrently, or a longer one for micro-batches."""
    if place.executors is not None:
        return CLUSTER_SLO
    if place.execution is Execution.CONCURRENT:
        return chosen.slo
    return Slo(event_latency=f"{SECONDS_AN_OPERATOR * len(chosen.service_ms):g} s")


def _watch(chosen: SparkWorkload, run: LiveRun, folder: ReportFolder, console: Console) -> Story:
    recorder = Recorder(run.slo)
    fixed = within(run.pipeline(NOWHERE, NOWHERE).topology(), chosen.sized_for(run.trace.peak, run.place.execution))
    with ExitStack() as stack:
        journal = Journal(stack.enter_context(folder.decisions()))
        history = stack.enter_context(folder.history(f"{chosen.name} {run.policy}", run.description()))
        interrupt = stack.enter_context(Interrupt())
        draw = _screen(stack, chosen.name, run, recorder, fixed, console)

        def on_cycle(cycle: Cycle) -> None:
            recorder(cycle)
            journal(cycle)
            history(cycle)
            draw(cycle)

        result = run.run(on_cycle, interrupt)
        rival = None if interrupt.asked else _rival(run, fixed, console, interrupt)
    if interrupt.asked:
        rival = None  # a part of a run is compared with nothing
    return Story(result, recorder, rival, interrupt.asked, live=True)


def _rival(run: LiveRun, fixed: Plan, console: Console, stopped: Callable[[], bool]) -> Rival:
    """The same load once more, under the fixed plan, whose executors have warmed up as well."""
    with console.status(f"The same {run.trace.seconds:.0f} s under a fixed plan for the peak: {fixed}"):
        warm_up = run.warm_up_seconds if run.executors else 0.0
        return Rival(fixed, replace(run.under(fixed), warm_up_seconds=warm_up).run(stopped=stopped))


def _screen(
    stack: ExitStack, name: str, run: LiveRun, recorder: Recorder, fixed: Plan, console: Console
) -> Callable[[Cycle], None]:
    """A live view on a terminal; otherwise a line for each cycle."""
    engine = SETTINGS[run.place.engine].words
    if console.is_terminal:
        title = f"{run.policy} steers {name} on {engine}"
        view = LiveView(title, recorder, run.trace.seconds, fixed, "on real Spark")
        live = stack.enter_context(Live(view.render(), console=console, auto_refresh=False))
        return lambda cycle: live.update(view.render(), refresh=True)
    console.print(f"{engine}: warming up, then {run.trace.seconds:.0f} s of {name}", soft_wrap=True)
    return lambda cycle: say(recorder, cycle, run.trace.seconds, str(cycle.decision.plan))
