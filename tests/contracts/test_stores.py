"""The laws that every store keeps."""

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.control.ports import Store
from penstock.model import (
    Cycle,
    Decision,
    Execution,
    Expected,
    JobDescription,
    Latency,
    Mode,
    Operator,
    OperatorSample,
    PenstockError,
    Plan,
    Reason,
    ReasonCode,
    Sample,
    Slo,
    Topology,
    Verdict,
)
from penstock.stores import open_store

OpenStore = Callable[[str], Store]
"""Opens the store of one job, all in the same place."""


@pytest.fixture(params=["memory", "sqlite"])
def open_job(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenStore]:
    opened: list[Store] = []

    def open_one(job: str) -> Store:
        url = "memory" if request.param == "memory" else f"sqlite:///{tmp_path / 'penstock.db'}"
        opened.append(open_store(url, job))
        return opened[-1]

    yield open_one
    for store in opened:
        store.close()


# Any cycle ---------------------------------------------------------------------------------------------------

names = st.text(min_size=1, max_size=8)
figures = st.floats(0, 2.0**63) | st.integers(0, 10**18).map(float)
maybe = st.none() | figures
plain_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=8), inside, max_size=3),
    max_leaves=8,
)
reasons = st.builds(Reason, st.sampled_from(ReasonCode), st.text(max_size=40))
latencies = st.none() | st.builds(Latency, maybe, maybe, maybe, maybe)
operator_samples = st.builds(
    OperatorSample,
    st.integers(1, 500),
    *[maybe] * 6,
    st.none() | st.dictionaries(names, figures, max_size=2),
)
samples = st.builds(
    Sample,
    t=figures,
    seconds=st.floats(1e-3, 1e6),
    operators=st.dictionaries(names, operator_samples, max_size=3),
    input_rate=maybe | st.dictionaries(names, figures, max_size=2),
    throughput=maybe,
    backlog=maybe,
    processing_latency_ms=latencies,
    event_latency_ms=latencies,
    dropped=maybe,
    executors=st.none() | st.integers(0, 500),
    warm_up=st.booleans(),
)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    parallelism = draw(st.dictionaries(names, st.integers(1, 4), min_size=1, max_size=3))
    placement = {name: draw(st.lists(names, min_size=k, max_size=k)) for name, k in parallelism.items()}
    return Plan(
        parallelism,
        draw(st.none() | st.integers(0, 500)),
        {name: tuple(workers) for name, workers in placement.items()} if draw(st.booleans()) else None,
    )


decisions = st.builds(
    Decision,
    plan=plans(),
    reason=reasons,
    policy=names,
    expected=st.none() | st.builds(Expected, maybe, maybe, maybe),
    figures=st.dictionaries(names, plain_values, max_size=3),
    wanted=st.none() | plans(),
    verdicts=st.lists(st.builds(Verdict, names, reasons), max_size=2).map(tuple),
)
cycles = st.builds(
    Cycle,
    t=st.floats(0, 1e12),
    mode=st.sampled_from(Mode),
    before=plans(),
    decision=decisions,
    samples=st.lists(samples, max_size=2).map(tuple),
    applied=st.booleans(),
    problem=st.none() | st.text(max_size=40),
)


def cycle_at(t: float) -> Cycle:
    plan = Plan({"split": 1})
    return Cycle(t=t, mode=Mode.ACTIVE, before=plan, decision=Decision.hold(plan, ReasonCode.STEADY, "all is well"))


# The laws ----------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cycle=cycles, state=st.dictionaries(names, plain_values, max_size=3))
def test_any_cycle_and_any_state_come_back_as_they_were(
    open_job: OpenStore, cycle: Cycle, state: dict[str, object]
) -> None:
    store = open_job("clicks")
    store.record(cycle, "learner", state)
    assert list(store.recent(1)) == [cycle]
    assert store.state("learner") == state
    store.close()


def test_an_empty_store_remembers_nothing(open_job: OpenStore) -> None:
    store = open_job("clicks")
    assert list(store.recent(10)) == []
    assert store.state("learner") is None


def test_the_newest_cycles_are_told_oldest_first(open_job: OpenStore) -> None:
    store = open_job("clicks")
    for t in range(12):
        store.record(cycle_at(t), "ds2")
    assert [cycle.t for cycle in store.recent(3)] == [9, 10, 11]
    assert [cycle.t for cycle in store.recent(100)] == list(range(12))
    assert list(store.recent(0)) == []


def test_the_order_is_that_of_recording_even_when_the_clock_was_set_back(open_job: OpenStore) -> None:
    store = open_job("clicks")
    for t in (50, 20, 30):
        store.record(cycle_at(t), "ds2")
    assert [cycle.t for cycle in store.recent(10)] == [50, 20, 30]


def test_each_policy_has_its_own_state_and_the_newest_counts(open_job: OpenStore) -> None:
    store = open_job("clicks")
    for number, policy in zip(count(1), ["old", "new", "new"], strict=False):
        store.record(cycle_at(number), policy, {"number": number})
    store.record(cycle_at(4), "new")  # a cycle without a state leaves the last one alone
    assert store.state("old") == {"number": 1}
    assert store.state("new") == {"number": 3}


def test_what_a_learner_does_to_its_state_afterwards_does_not_reach_the_store(open_job: OpenStore) -> None:
    store, state = open_job("clicks"), {"seen": [1]}
    store.record(cycle_at(1), "learner", state)
    state["seen"].append(2)
    known = store.state("learner")
    assert known == {"seen": [1]}
    assert known is not None
    known["seen"].append(3)
    assert store.state("learner") == {"seen": [1]}


def test_a_state_that_cannot_be_kept_takes_its_cycle_with_it(open_job: OpenStore) -> None:
    store = open_job("clicks")
    store.record(cycle_at(1), "learner", {"good": 1})
    with pytest.raises(PenstockError, match="cannot be written as JSON"):
        store.record(cycle_at(2), "learner", {"bad": object()})
    assert [cycle.t for cycle in store.recent(10)] == [1]
    assert store.state("learner") == {"good": 1}


def test_a_state_keeps_numbers_bit_for_bit(open_job: OpenStore) -> None:
    store = open_job("clicks")
    state = {"generator": 2**127 - 1, "third": 1 / 3, "tiny": 5e-324, "endless": float("inf")}
    store.record(cycle_at(1), "learner", state)
    assert store.state("learner") == state


def test_what_a_job_is_comes_back_and_the_newest_counts(open_job: OpenStore) -> None:
    store = open_job("clicks")
    assert store.description() is None  # type: ignore[attr-defined]
    chain = Topology.chain(Operator("split", max=8, stateful=True), "count")
    for policy in ("ds2", "psps"):
        slo = Slo(event_latency="500 ms", drain="6 min", statistic="p95")
        job = JobDescription(chain, slo, Execution.SEQUENTIAL, policy, 30.0)
        store.describe(job)
        store.record(cycle_at(1), policy)
        assert store.description() == job  # type: ignore[attr-defined]


def test_jobs_do_not_see_each_other(open_job: OpenStore) -> None:
    clicks, views = open_job("clicks"), open_job("views")
    clicks.record(cycle_at(1), "learner", {"of": "clicks"})
    views.record(cycle_at(2), "learner", {"of": "views"})
    clicks.record(cycle_at(3), "learner")
    assert [cycle.t for cycle in clicks.recent(10)] == [1, 3]
    assert [cycle.t for cycle in views.recent(10)] == [2]
    assert (clicks.state("learner"), views.state("learner")) == ({"of": "clicks"}, {"of": "views"})
