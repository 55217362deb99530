"""Whatever a monitor tells, and whoever sets the clock: the loop goes on, within bounds, and finds back.

Windows that cannot be, such as those with NaN or a negative figure, are refused where they are made
(`tests/model/`), so a monitor that measures them fails: "refused" in `lies`.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lies import INTERVAL, Lie, LyingJob, has_a_figure, lies
from penstock.control.assembly import Steering, assemble
from penstock.control.loop import Loop
from penstock.forecast import FORECASTERS
from penstock.guards import GuardOptions, only
from penstock.model import Cycle, Execution, Origin, Slo
from penstock.policies import POLICIES
from penstock.stores.codec import from_json, to_json
from penstock.stores.memory import MemoryStore
from strategies import LinearJob, linear_jobs, plans

FINDS_BACK_WITHIN = 3
"""Good windows, of a minute each, after which the loop decides again, whatever was told before."""

FINDS_BACK_LATER: dict[str, tuple[int, str]] = {
    "dataflow": (4, "all windows of two minutes must have what it needs"),
    "phoebe": (11, "its forecast needs all input rates of ten minutes"),
}
"""Policies that need more, and why."""

SLO = Slo(processing_latency="2 s", event_latency="5 s", drain="6 min")
GUARDS: dict[str, GuardOptions | None] = {"guards on": None, "guards off": only()}

every_policy = pytest.mark.parametrize("policy", sorted(POLICIES.names(), key=lambda name: name != "predictive"))
every_forecaster = pytest.mark.parametrize("forecaster", FORECASTERS.names())
with_and_without_guards = pytest.mark.parametrize("guards", GUARDS)


def a_loop(lying: LyingJob, policy: str, guards: str, forecaster: str | None = None) -> Loop:
    return assemble(
        Steering(policy=policy, guards=GUARDS[guards], forecaster=forecaster, interval=f"{INTERVAL:g} s"),
        topology=lying.job.topology,
        slo=SLO,
        monitor=lying,
        actuator=lying,
        clock=lying.clock,
        store=MemoryStore(),
        execution=Execution.CONCURRENT,
        policy_limit_seconds=None,
    )


def run(lying: LyingJob, loop: Loop) -> Cycle:
    """One cycle, with the laws that hold for each."""
    lying.advance()
    loop.has_news()  # as a controller looks between two decisions
    loop.overtaken()
    before = lying.in_force
    cycle = loop.run_once()
    for operator in lying.job.topology.operators:
        assert operator.min <= cycle.decision.plan[operator.name] <= lying.job.topology.ceiling(operator.name)
    written = to_json(cycle)
    assert to_json(from_json(Cycle, written)) == written
    if not any(has_a_figure(sample) for sample in cycle.samples if not sample.warm_up):
        assert lying.in_force == before, cycle.decision.reason
    return cycle


@with_and_without_guards
@every_policy
@settings(max_examples=25)
@given(job=linear_jobs(), told=st.lists(lies(), min_size=1, max_size=8), data=st.data())
def test_whatever_it_is_told_a_loop_goes_on_and_finds_back(
    policy: str, guards: str, job: LinearJob, told: list[Lie], data: st.DataObject
) -> None:
    lying = LyingJob(job, data.draw(plans(job.topology)), told)
    loop = a_loop(lying, policy, guards)
    while lying.lies:
        run(lying, loop)
    within, _ = FINDS_BACK_LATER.get(policy, (FINDS_BACK_WITHIN, ""))
    good = [run(lying, loop) for _ in range(within)]
    assert good[-1].decision.reason.code.origin is not Origin.LOOP, good[-1].decision.reason


@every_forecaster
@settings(max_examples=40)
@given(job=linear_jobs(), told=st.lists(lies(), min_size=1, max_size=8), data=st.data())
def test_whatever_it_is_told_a_forecaster_finds_back(
    forecaster: str, job: LinearJob, told: list[Lie], data: st.DataObject
) -> None:
    lying = LyingJob(job, data.draw(plans(job.topology)), told)
    loop = a_loop(lying, "ds2", "guards on", forecaster)
    while lying.lies:
        run(lying, loop)
    good = [run(lying, loop) for _ in range(FINDS_BACK_WITHIN)]
    assert good[-1].decision.reason.code.origin is not Origin.LOOP, good[-1].decision.reason
