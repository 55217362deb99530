"""DRS: the greedy plan is the best of its size, the smallest that meets the target, and quickly found."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from penstock.model import (
    InvalidValueError,
    Latency,
    Observation,
    Operator,
    OperatorSample,
    Plan,
    ReasonCode,
    Sample,
    Slo,
    Topology,
)
from penstock.performance.jackson import Station, mean_sojourn
from penstock.policies.drs import Drs


def chain(
    loads: Sequence[float], most: int = 100, slo: Slo | None = None, rate: float = 100.0, selectivity: float = 1.0
) -> Observation:
    """A chain in which operator i would keep loads[i] instances busy at 100 records/s."""
    names = [f"o{i}" for i in range(len(loads))]
    topology = Topology(tuple(Operator(name, max=most) for name in names), tuple(itertools.pairwise(names)))
    operators = {
        name: OperatorSample(
            1, records_in=1000 * selectivity**i, records_out=1000 * selectivity ** (i + 1), useful_seconds=10 * load
        )
        for i, (name, load) in enumerate(zip(names, loads, strict=True))
    }
    sample = Sample(t=0, seconds=10, operators=operators, input_rate=rate)
    return Observation(t=10, topology=topology, slo=slo or Slo(), plan=Plan.smallest(topology), samples=(sample,))


def modelled(observation: Observation, parallelism: Sequence[int]) -> float:
    """Mean milliseconds in the job by DRS's own model."""
    stations, rate = {}, observation.latest.offered_rate
    entered = observation.latest.operators["o0"].records_in
    for name, k in zip(observation.topology.names, parallelism, strict=True):
        operator = observation.latest.operators[name]
        assert operator.records_in is not None
        assert operator.useful_seconds is not None
        assert entered is not None
        visits = operator.records_in / entered
        stations[name] = Station.of(k, rate * visits, operator.records_in / operator.useful_seconds)
    return 1e3 * mean_sojourn(stations, rate)


def sizes(plan: Plan) -> list[int]:
    return list(plan.parallelism.values())


def test_without_a_target_the_smallest_stable_plan_will_do() -> None:
    decision = Drs().decide(chain([0.5, 2.0, 2.5]))
    assert sizes(decision.plan) == [1, 3, 3]
    assert decision.reason.code is ReasonCode.SCALE_UP


def test_an_instance_goes_where_it_shortens_the_sojourn_most() -> None:
    # 100 records/s; one instance of each does 200/s and 55/s. M/M/1 at a half: 10 ms. M/M/2 at 1.818 of 2: 104.8 ms.
    observation = chain([0.5, 100 / 55], slo=Slo(processing_latency="60 ms"))
    decision = Drs().decide(observation)
    assert sizes(decision.plan) == [1, 3]
    assert decision.figures["smallest_stable"] == {"o0": 1, "o1": 2}
    assert modelled(observation, [1, 2]) == pytest.approx(10 + 1e3 / 55 / (1 - (100 / 110) ** 2))
    assert decision.figures["sojourn_ms"] == pytest.approx(modelled(observation, [1, 3]))
    assert decision.figures["sojourn_ms"] < 60 < modelled(observation, [1, 2])


def test_the_processing_target_goes_before_the_event_target_which_stands_in_for_it() -> None:
    both = Slo(processing_latency="60 ms", event_latency="200 ms")
    assert Drs().decide(chain([1.8], slo=both)).figures["target_ms"] == 60
    assert Drs().decide(chain([1.8], slo=Slo(event_latency="200 ms"))).figures["target_ms"] == 200


def test_observed_rates_take_an_idle_instance_for_a_slow_one() -> None:
    observation = chain([0.5])
    assert sizes(Drs(rates="true").decide(observation).plan) == [1]
    observed = Drs(rates="observed").decide(observation)
    assert observed.figures["service_rate"] == {"o0": 100}  # it did 100/s in the window: all there was to do
    assert sizes(observed.plan) == [2]


def test_an_estimate_can_be_scaled_to_what_was_measured() -> None:
    """The model says 90 ms for M/M/1 at nine tenths; 300 ms were measured, so 54 ms are asked of it instead of 180."""
    slow = chain([0.9], slo=Slo(processing_latency="180 ms"))
    slow = replace(slow, samples=(replace(slow.latest, processing_latency_ms=Latency(mean=300.0)),))
    assert sizes(Drs().decide(slow).plan) == [1]
    grown = Drs(calibrated=True).decide(slow)
    assert sizes(grown.plan) == [2]
    assert grown.figures["target_ms"] == pytest.approx(54.0)
    quick = replace(slow, samples=(replace(slow.latest, processing_latency_ms=Latency(mean=1.0)),))
    assert Drs(calibrated=True).decide(quick).figures["target_ms"] == 180  # never looser than the target itself


def test_a_total_too_small_for_a_stable_job_goes_to_the_busiest() -> None:
    assert sizes(Drs(max_total=9).decide(chain([1.5, 6.5, 3.5])).plan) == [1, 5, 3]


def test_a_total_ends_the_growth() -> None:
    observation = chain([0.9, 0.9], slo=Slo(processing_latency="21 ms"))
    assert sizes(Drs().decide(observation).plan) == [3, 2]
    assert sizes(Drs(max_total=4).decide(observation).plan) == [2, 2]


def test_a_target_below_the_service_time_is_not_chased_to_the_last_instance() -> None:
    observation = chain([1.8, 3.2], slo=Slo(processing_latency="1 ms"))
    decision = Drs().decide(observation)
    assert modelled(observation, sizes(decision.plan)) <= 1.01 * (18 + 32)
    assert decision.plan.total < 20
    assert "not within the target of 1.0 ms" in decision.reason.text


def test_an_operator_that_cannot_keep_up_gets_all_it_may_have() -> None:
    observation = chain([1.8, 30.0], most=8, slo=Slo(processing_latency="100 ms"))
    decision = Drs().decide(observation)
    assert decision.plan["o1"] == 8
    assert decision.figures["sojourn_ms"] is None
    assert "cannot keep up" in decision.reason.text


def test_a_job_without_input_needs_no_more_than_its_minimum() -> None:
    assert sizes(Drs().decide(chain([5.0, 9.0], slo=Slo(processing_latency="1 ms"), rate=0.0)).plan) == [1, 1]


def test_a_hundred_operators_of_hundreds_of_instances() -> None:
    loads = [100.0 + 2 * i for i in range(100)]
    observation = chain(loads, most=2000, slo=Slo(processing_latency=f"{10 * sum(loads) + 100} ms"))
    decision = Drs().decide(observation)
    assert decision.figures["sojourn_ms"] <= 10 * sum(loads) + 100
    assert decision.plan.total > 20_500
    fewer = [k - 1 for k in sizes(decision.plan)]
    assert modelled(observation, fewer) > 10 * sum(loads) + 100


def test_options_are_refused_by_name() -> None:
    with pytest.raises(InvalidValueError, match="rates 'wrong' is not known"):
        Drs(rates="wrong")
    with pytest.raises(InvalidValueError, match="max_total must"):
        Drs(max_total=0)


small_loads = st.lists(st.floats(0.1, 4.5), min_size=1, max_size=3)


@settings(deadline=None, max_examples=60)
@given(small_loads, st.floats(1.05, 3.0), st.floats(0.2, 5.0))
def test_no_plan_of_the_same_size_is_better_and_no_smaller_one_meets_the_target(
    loads: list[float], slack: float, selectivity: float
) -> None:
    target = slack * 10 * sum(loads)
    slo = Slo(processing_latency=f"{target:.6f} ms")
    observation = chain(loads, most=9, slo=slo, selectivity=selectivity)
    plan = sizes(Drs().decide(observation).plan)
    reached = modelled(observation, plan)
    assume(reached <= target)
    every = list(itertools.product(range(1, 10), repeat=len(loads)))
    assert reached <= min(modelled(observation, p) for p in every if sum(p) == sum(plan)) * (1 + 1e-9)
    assert all(modelled(observation, p) > target * (1 - 1e-9) for p in every if sum(p) < sum(plan))


@settings(deadline=None)
@given(st.lists(st.floats(0.1, 30), min_size=1, max_size=6), st.floats(1.001, 3.0), st.integers(1, 40))
def test_the_target_is_met_whenever_the_largest_plan_meets_it(loads: list[float], slack: float, most: int) -> None:
    target = slack * 10 * sum(loads)
    observation = chain(loads, most=most, slo=Slo(processing_latency=f"{target:.6f} ms"))
    assume(modelled(observation, [most] * len(loads)) <= target * (1 - 1e-6))
    assert modelled(observation, sizes(Drs().decide(observation).plan)) <= target * (1 + 1e-6)


@settings(deadline=None)
@given(
    st.lists(st.floats(0.1, 20), min_size=1, max_size=5),
    st.floats(0.5, 3.0),
    st.floats(0, 300),
    st.floats(0, 300),
    st.integers(1, 30),
)
def test_more_load_never_means_fewer_instances(
    loads: list[float], slack: float, rate: float, more: float, most: int
) -> None:
    slo = Slo(processing_latency=f"{slack * 10 * sum(loads):.6f} ms")
    before = Drs().decide(chain(loads, most=most, slo=slo, rate=rate))
    after = Drs().decide(chain(loads, most=most, slo=slo, rate=rate + more))
    assert after.plan.total >= before.plan.total
