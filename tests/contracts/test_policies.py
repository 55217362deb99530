"""The laws that every policy keeps, whatever its rule, with its default options.

A policy whose published rule breaks a law is named in the table beside that law, with the reason.
"""

import dataclasses
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.control.think import learn, think
from penstock.model import Decision, Observation, Operator, OperatorSample, Plan, ReasonCode, Sample, Topology
from penstock.policies import POLICIES, Learner, Policy
from strategies import LinearJob, linear_jobs, plans

every_policy = pytest.mark.parametrize("name", POLICIES.names())

NEEDS_NO_FIXED_POINT: dict[str, str] = {
    "dstreams": "once it is nearly large enough it adds one executor a minute, which takes more cycles than these",
    "keda_lag": "no lag is no need: it shrinks until the job falls behind, grows while it is behind, and shrinks again",
}
"""Policies that may go on moving under a constant load."""

EXPLORES = "its next plan is one to learn from, chosen by expected improvement, not the plan that the load needs"
MAY_SHRINK_UNDER_MORE_LOAD: dict[str, str] = {"autrascale": EXPLORES, "autrascale_plus": EXPLORES}
"""Policies for which more load may mean fewer instances of some operator."""

MAY_CHANGE_WITHOUT_A_FIGURE: dict[tuple[str, str], str] = {
    (policy, "backlog"): "an engine without a source queue has no backlog: what waits is all in the operators' queues"
    for policy in ("autoscale", "dabs", "keda_lag", "predictive", "psps", "spark_dynamic_allocation")
}
"""Policies, and the figures without which they have another way to decide."""

CYCLES = 60
"""Enough to size any job of the strategies and to drain what piled up meanwhile."""

OPERATOR_FIGURES = [field.name for field in dataclasses.fields(OperatorSample) if field.name != "parallelism"]
JOB_FIGURES = ["input_rate", "throughput", "backlog", "processing_latency_ms", "event_latency_ms", "dropped"]


def decide(name: str, observation: Observation) -> Decision:
    """A fresh policy that has learnt from every sample, one after the other."""
    return think(POLICIES.create(name), (), observation, fresh=len(observation.samples))


def watched(job: LinearJob, plan: Plan, windows: int = 3) -> Observation:
    """Some windows under the same plan and load."""
    samples: list[Sample] = []
    for _ in range(windows):
        samples.append(job.respond(plan, samples[-1] if samples else None))
    return job.observe(plan, samples)


def plain(value: Any) -> bool:
    """Whether JSON can say it exactly."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and plain(each) for key, each in value.items())
    if isinstance(value, list):
        return all(map(plain, value))
    return value is None or type(value) in (str, int, bool) or (type(value) is float and math.isfinite(value))


@every_policy
@settings(max_examples=30)
@given(job=linear_jobs(), data=st.data())
def test_the_plan_stays_within_the_bounds(name: str, job: LinearJob, data: st.DataObject) -> None:
    decision = decide(name, watched(job, data.draw(plans(job.topology))))
    assert set(decision.plan.parallelism) == set(job.topology.names)
    for operator in job.topology.operators:
        assert operator.min <= decision.plan[operator.name] <= job.topology.ceiling(operator.name)


@every_policy
@settings(max_examples=30)
@given(job=linear_jobs(), data=st.data())
def test_the_same_observation_gives_the_same_decision(name: str, job: LinearJob, data: st.DataObject) -> None:
    observation = watched(job, data.draw(plans(job.topology)))
    assert decide(name, observation) == decide(name, observation)


@every_policy
@settings(max_examples=30)
@given(job=linear_jobs(), data=st.data())
def test_deciding_changes_nothing_in_the_policy(name: str, job: LinearJob, data: st.DataObject) -> None:
    observation = watched(job, data.draw(plans(job.topology)))
    policy = POLICIES.create(name)
    if isinstance(policy, Learner):
        learn(policy, observation, len(observation.samples))
    assert think(policy, (), observation, fresh=0) == think(policy, (), observation, fresh=0)


@every_policy
@settings(max_examples=30)
@given(job=linear_jobs(), data=st.data())
def test_the_figures_are_plain_json(name: str, job: LinearJob, data: st.DataObject) -> None:
    decision = decide(name, watched(job, data.draw(plans(job.topology))))
    assert plain(dict(decision.figures)), decision.figures


@every_policy
@pytest.mark.parametrize("figure", OPERATOR_FIGURES + JOB_FIGURES)
@settings(max_examples=10)
@given(job=linear_jobs(), data=st.data())
def test_a_missing_figure_never_moves_the_plan(name: str, figure: str, job: LinearJob, data: st.DataObject) -> None:
    if (name, figure) in MAY_CHANGE_WITHOUT_A_FIGURE:
        pytest.skip(MAY_CHANGE_WITHOUT_A_FIGURE[name, figure])
    observation = watched(job, data.draw(plans(job.topology)))
    victim = data.draw(st.sampled_from(job.topology.names))
    without = replace(observation, samples=tuple(_without(sample, figure, victim) for sample in observation.samples))
    blind, seeing = decide(name, without), decide(name, observation)
    if blind.plan != seeing.plan:
        assert blind.plan == observation.plan
        assert blind.reason.code is ReasonCode.MISSING_METRICS


def _without(sample: Sample, figure: str, operator: str) -> Sample:
    nothing: dict[str, Any] = {figure: None}
    if figure in JOB_FIGURES:
        return replace(sample, **nothing)
    poorer = replace(sample.operators[operator], **nothing)
    return replace(sample, operators={**sample.operators, operator: poorer})


@every_policy
@settings(max_examples=15)
@given(job=linear_jobs(bounded=False), data=st.data())
def test_under_a_constant_load_the_plan_comes_to_rest(name: str, job: LinearJob, data: st.DataObject) -> None:
    if name in NEEDS_NO_FIXED_POINT:
        pytest.skip(NEEDS_NO_FIXED_POINT[name])
    policy = POLICIES.create(name)
    start = Plan({operator: data.draw(st.integers(1, 20)) for operator in job.topology.names})
    trail = list(_steer(policy, job, start))
    assert trail[-5:] == trail[-1:] * 5


def _steer(policy: Policy, job: LinearJob, plan: Plan) -> list[Plan]:
    """The plans of some cycles, each applied by the job immediately."""
    samples: list[Sample] = []
    trail = [plan]
    for _ in range(CYCLES):
        samples.append(job.respond(plan, samples[-1] if samples else None))
        plan = think(policy, (), job.observe(plan, samples[-20:]), fresh=1).plan
        trail.append(plan)
    return trail


@every_policy
@settings(max_examples=30)
@given(job=linear_jobs(), more=st.floats(1, 5), data=st.data())
def test_more_load_never_means_fewer_instances(name: str, job: LinearJob, more: float, data: st.DataObject) -> None:
    if name in MAY_SHRINK_UNDER_MORE_LOAD:
        pytest.skip(MAY_SHRINK_UNDER_MORE_LOAD[name])
    plan = data.draw(plans(job.topology))
    quiet = decide(name, watched(job, plan)).plan
    busy = decide(name, watched(replace(job, input_rate=job.input_rate * more), plan)).plan
    assert all(busy[operator] >= quiet[operator] for operator in job.topology.names)


def shape(names: str, *edges: str) -> Topology:
    return Topology(tuple(Operator(name, max=20) for name in names), tuple((edge[0], edge[1]) for edge in edges))


@every_policy
@pytest.mark.parametrize(
    "topology",
    [
        pytest.param(shape("a"), id="one operator"),
        pytest.param(shape("abc", "ab", "bc"), id="a chain"),
        pytest.param(shape("abcd", "ab", "ac", "bd", "cd"), id="a diamond"),
        pytest.param(shape("abc", "ac", "bc"), id="several roots"),
        pytest.param(shape("abc", "ab", "ac"), id="several leaves"),
        pytest.param(shape("abcd", "ab", "cd"), id="two jobs in one"),
    ],
)
@pytest.mark.parametrize("input_rate", [0.0, 1.0, 100.0, 1e6])
def test_every_shape_of_job_gets_a_decision_with_a_reason(name: str, topology: Topology, input_rate: float) -> None:
    ones = dict.fromkeys(topology.names, 1.0)
    job = LinearJob(topology, dict.fromkeys(topology.names, 50.0), ones, input_rate)
    decision = decide(name, watched(job, Plan.smallest(topology)))
    decision.plan.check(topology)
    assert decision.policy == name
    assert decision.reason.text
