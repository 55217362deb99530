"""What every guard keeps to, whatever it guards."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.guards import DEFAULT_ORDER, GUARDS, Guard, chain, cycles_to_remember
from penstock.guards._limits import inside
from penstock.model import (
    Cycle,
    Decision,
    Execution,
    InvalidValueError,
    Latency,
    Mode,
    Observation,
    Operator,
    Plan,
    Reason,
    ReasonCode,
    Sample,
    Slo,
    Topology,
    Verdict,
)

STRICT: dict[str, dict[str, Any]] = {
    "quota": {"slots": 7},
    "calendar": {"windows": ("00:00-12:00", "1970-01-01 13:00-1970-01-01 20:00")},
    "max_step": {"up_factor": 1.0, "down_factor": 1.0},
    "patience": {"seconds": 50.0},
    "roll_back": {"samples": 1},
    "memory_first": {"levels": 3},
}
"""Options under which the guards have more to say than by default."""

EVERY_GUARD: list[Guard] = [
    *(GUARDS.create(name) for name in GUARDS.names()),
    *(GUARDS.create(name, options) for name, options in STRICT.items()),
]
NOW = 40_000.0
PARALLELISM = st.integers(1, 30)


@st.composite
def topologies(draw: st.DrawFn) -> Topology:
    """Up to four operators in a row; tied ones, if any, have limits in common."""
    operators = []
    for name in ("a", "b", "c", "d")[: draw(st.integers(1, 4))]:
        least = draw(st.integers(1, 4))
        tie = draw(st.sampled_from([None, None, "state"]))
        operators.append(Operator(name, min=least, max=draw(st.integers(4, 12)), tie=tie))
    edges = tuple((left.name, right.name) for left, right in pairwise(operators))
    return Topology(tuple(operators), edges, source_partitions=draw(st.sampled_from([None, 4, 9])))


def plans(topology: Topology) -> st.SearchStrategy[Plan]:
    executors = st.one_of(st.none(), st.integers(0, 20))
    return st.builds(Plan, st.fixed_dictionaries(dict.fromkeys(topology.names, PARALLELISM)), executors)


def windows(t: float) -> st.SearchStrategy[Sample]:
    rates = st.one_of(st.none(), st.floats(0, 200))
    latencies = st.one_of(st.none(), st.builds(Latency, st.floats(0, 400)))
    return st.builds(
        Sample, t=st.just(t), seconds=st.just(60.0), operators=st.just({}), input_rate=rates, throughput=rates,
        backlog=st.one_of(st.none(), st.floats(0, 2000)), processing_latency_ms=latencies, event_latency_ms=latencies,
    )  # fmt: skip


@st.composite
def decisions(draw: st.DrawFn, topology: Topology) -> Decision:
    reason = Reason(draw(st.sampled_from([ReasonCode.REBALANCE, ReasonCode.STALE_METRICS])), "")
    roll_back = (Verdict("roll_back", Reason(ReasonCode.ROLL_BACK, "")),)
    verdicts = roll_back if draw(st.booleans()) else ()
    plan, wanted = draw(plans(topology)), draw(plans(topology))
    return Decision(plan=plan, reason=reason, policy="ds2", wanted=wanted, verdicts=verdicts)


@st.composite
def observations(draw: st.DrawFn) -> Observation:
    """A job with up to four remembered cycles, a minute apart, each with the window it was decided on."""
    topology = draw(topologies())
    plan = draw(plans(topology))
    times = [NOW - 60.0 * age for age in range(draw(st.integers(1, 5)), 0, -1)]
    samples = tuple(draw(windows(t)) for t in times)
    history = []
    for t, sample in zip(times[:-1], samples, strict=False):
        decision = draw(decisions(topology))
        history.append(
            Cycle(t=t + 60, mode=Mode.ACTIVE, before=plan, decision=decision, samples=(sample,), applied=True)
        )
        plan = decision.plan
    return Observation(
        t=NOW, topology=topology, slo=Slo("100 ms", "500 ms"), plan=plan, samples=samples,
        history=tuple(history), execution=draw(st.sampled_from(list(Execution))),
    )  # fmt: skip


@st.composite
def cases(draw: st.DrawFn) -> tuple[Decision, Observation]:
    """A fresh decision in some world."""
    observation = draw(observations())
    return replace(draw(decisions(observation.topology)), verdicts=()), observation


def vet(guards: tuple[Guard, ...], decision: Decision, observation: Observation) -> Decision:
    for guard in guards:
        decision = guard.vet(decision, observation)
    return decision


@given(case=cases())
@settings(max_examples=50, deadline=None)
def test_a_guard_is_a_function_of_its_inputs(case: tuple[Decision, Observation]) -> None:
    twins, (decision, observation) = pickle.loads(pickle.dumps((EVERY_GUARD, case)))
    for guard, twin in zip(EVERY_GUARD, twins, strict=True):
        assert guard.vet(*case) == twin.vet(decision, observation), guard


@given(case=cases())
@settings(max_examples=50, deadline=None)
def test_a_guard_returns_a_plan_for_the_same_job_and_signs_what_it_changed(case: tuple[Decision, Observation]) -> None:
    decision, observation = case
    for guard in EVERY_GUARD:
        vetted = guard.vet(decision, observation)
        vetted.plan.check(observation.topology)
        if vetted.plan == decision.plan:
            assert vetted is decision, guard
        else:
            (verdict,) = vetted.verdicts
            assert verdict.guard == guard.name
            assert verdict.reason.text
            assert vetted == replace(decision, plan=vetted.plan, verdicts=vetted.verdicts)


@given(case=cases())
@settings(max_examples=50, deadline=None)
def test_what_a_guard_has_vetted_it_lets_pass(case: tuple[Decision, Observation]) -> None:
    decision, observation = case
    for guard in EVERY_GUARD:
        vetted = guard.vet(decision, observation)
        assert guard.vet(vetted, observation) is vetted, guard


@given(observation=observations())
@settings(max_examples=50, deadline=None)
def test_wanting_the_present_plan_inside_the_bounds_passes_all_but_a_roll_back(observation: Observation) -> None:
    observation = replace(observation, plan=inside(observation.plan, observation.topology))
    decision = Decision.hold(observation.plan, ReasonCode.STEADY, "all is well", policy="ds2")
    assert vet(chain({"roll_back": None}), decision, observation) is decision


@pytest.mark.parametrize("options", [{}, STRICT], ids=["default", "strict"])
@given(case=cases())
@settings(max_examples=40, deadline=None)
def test_the_chain_ends_inside_the_bounds_or_holds_what_was_outside(
    options: dict[str, dict[str, Any]], case: tuple[Decision, Observation]
) -> None:
    decision, observation = case
    plan = vet(chain(options), decision, observation).plan
    held_outside = plan == observation.plan != inside(observation.plan, observation.topology)
    assert plan == inside(plan, observation.topology) or held_outside


@given(case=cases(), slots=st.integers(1, 60))
@settings(max_examples=40, deadline=None)
def test_the_chain_ends_inside_the_quota_or_at_the_minima(case: tuple[Decision, Observation], slots: int) -> None:
    decision, observation = case
    topology, execution = observation.topology, observation.execution
    plan = vet(chain({"quota": {"slots": slots}, "stabilisation": None}), decision, observation).plan
    minima = inside(Plan.smallest(topology), topology)
    assert execution.slots(plan, topology) <= max(slots, execution.slots(minima, topology))


def test_the_chain_holds_every_guard_of_the_catalog_in_its_place() -> None:
    assert sorted(DEFAULT_ORDER) == GUARDS.names()
    assert tuple(guard.name for guard in chain()) == DEFAULT_ORDER


def test_a_guard_is_set_or_left_out_by_name() -> None:
    guards = {guard.name: guard for guard in chain({"patience": {"seconds": 60}, "roll_back": None})}
    assert guards["patience"] == GUARDS.create("patience", {"seconds": 60.0})
    assert "roll_back" not in guards


def test_an_unknown_guard_and_an_unknown_option_are_refused_by_name() -> None:
    with pytest.raises(InvalidValueError, match=r"guard 'patiense' is not known; did you mean 'patience'\?"):
        chain({"patiense": {}})
    with pytest.raises(InvalidValueError, match="guard patience: option 'minutes' is not known"):
        chain({"patience": {"minutes": 5}})
    with pytest.raises(InvalidValueError, match="guards must be the options of guards by name, not 'patience'"):
        chain("patience")  # type: ignore[arg-type]
    with pytest.raises(InvalidValueError, match="guard patience must be options by name, a guard or None, not 60"):
        chain({"patience": 60})  # type: ignore[dict-item]


@pytest.mark.parametrize(("interval", "cycles"), [(60.0, 31), (7.0, 259)])
def test_the_history_must_reach_as_far_back_as_the_longest_memory(interval: float, cycles: int) -> None:
    assert cycles_to_remember(chain(), interval) == cycles  # half an hour: ineffective growth and roll-backs
    assert cycles_to_remember((), interval) == 1
