"""The fewest slots that a job needs: no plan with fewer holds, whatever the graph and the execution."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.load.trace import Trace
from penstock.model import Execution, InvalidValueError, Operator, Plan, Slo, Topology
from penstock.simulator.job import Behaviour, Engine, Grouping, Job
from penstock.simulator.ladder import ladder
from penstock.simulator.steady import SteadyState

MOST = 4
GRAPHS = (
    (),
    (("a", "b"),),
    (("a", "b"), ("b", "c")),
    (("a", "b"), ("a", "c")),
    (("a", "c"), ("b", "c")),
)

behaviours = st.builds(
    Behaviour,
    service_ms=st.floats(1.0, 20.0),
    selectivity=st.sampled_from([0.5, 1.0, 2.0]),
    variability=st.sampled_from([0.5, 1.0, 20.0]),
    coordination=st.sampled_from([0.0, 0.02]),
    hop_ms=st.sampled_from([0.0, 5.0]),
    grouping=st.sampled_from(list(Grouping)),
    key_skew=st.sampled_from([0.0, 0.5]),
)


@st.composite
def jobs(draw: st.DrawFn) -> Job:
    edges = draw(st.sampled_from(GRAPHS))
    names = sorted({name for edge in edges for name in edge} or {"a"})
    execution = draw(st.sampled_from(list(Execution)))
    return Job(
        "any",
        Topology(tuple(Operator(name, max=MOST) for name in names), edges),
        {name: draw(behaviours) for name in names},
        engine=Engine(execution=execution, batch_seconds=1.0, batch_overhead_seconds=0.2),
    )


def fewest_by_trying_all(job: Job, slo: Slo, rate: float) -> int | None:
    steady, names = SteadyState(job, slo), job.topology.names
    plans = (Plan(dict(zip(names, sizes, strict=True))) for sizes in product(range(1, MOST + 1), repeat=len(names)))
    return min(
        (job.engine.execution.slots(plan, job.topology) for plan in plans if steady.holds(plan, rate)), default=None
    )


@settings(max_examples=60, deadline=None)
@given(jobs(), st.floats(1.0, 300.0), st.sampled_from(["200 ms", "2 s"]))
def test_no_plan_with_fewer_slots_holds(job: Job, rate: float, target: str) -> None:
    slo = Slo(event_latency=target)
    fewest = fewest_by_trying_all(job, slo, rate)
    if fewest is None:
        return
    steps = ladder(job, slo, rate)

    rung = steps.rungs[steps.at(rate)]
    assert SteadyState(job, slo).holds(rung.plan, rung.rate)
    assert rung.slots == fewest


COUNT = Job("count", Topology((Operator("count", max=8),)), {"count": Behaviour(service_ms=10.0, variability=0.0)})


def test_demand_steps_where_the_load_passes_what_a_plan_carries() -> None:
    steps = ladder(COUNT, Slo(), 400.0)
    ramp = Trace("ramp", (0.0, 400.0), (0.0, 400.0))

    assert [(rung.slots, round(rung.rate)) for rung in steps.rungs] == [(1, 100), (2, 200), (3, 300), (4, 400)]
    demand = steps.demand(ramp, 1.0)
    assert demand.values == (1.0, 2.0, 3.0, 4.0)
    assert demand.times == (0.0, 100.0, 200.0, 300.0)


def test_beyond_what_any_plan_carries_the_largest_is_demanded() -> None:
    steps = ladder(COUNT, Slo(), 5000.0)

    assert steps.rungs[-1].slots == 8
    assert steps.at(4000.0) == len(steps.rungs) - 1


def test_operators_with_a_tie_have_the_same_parallelism() -> None:
    tied = replace(
        COUNT,
        topology=Topology.chain(Operator("a", max=8, tie="state"), Operator("b", max=8, tie="state")),
        behaviours={"a": Behaviour(service_ms=10.0), "b": Behaviour(service_ms=1.0)},
    )

    assert all(rung.plan["a"] == rung.plan["b"] for rung in ladder(tied, Slo(event_latency="1 s"), 500.0).rungs)


def test_a_target_that_no_plan_meets_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="slo of count must be one that some plan meets"):
        ladder(COUNT, Slo(event_latency="5 ms"), 100.0)
