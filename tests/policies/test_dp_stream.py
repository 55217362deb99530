"""Dp-Stream sizes its critical path for what is about to arrive."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.control.think import think
from penstock.forecast.neural import Neural
from penstock.model import (
    Decision,
    InvalidValueError,
    Observation,
    Operator,
    OperatorSample,
    Plan,
    ReasonCode,
    Sample,
    Slo,
    Topology,
    Worker,
)
from penstock.policies import POLICIES, Learner
from penstock.policies.dp_stream import DpStream

WORDS = Topology(
    tuple(Operator(name, max=20) for name in ("spout", "split", "count")), (("spout", "split"), ("split", "count"))
)
DIAMOND = Topology(
    tuple(Operator(name, max=20) for name in ("read", "left", "right", "join")),
    (("read", "left"), ("read", "right"), ("left", "join"), ("right", "join")),
)
SPEED = {
    "spout": 4000.0,
    "split": 1000.0,
    "count": 2000.0,
    "read": 4000.0,
    "left": 500.0,
    "right": 250.0,
    "join": 4000.0,
}


def measured(topology: Topology, plan: Plan, rate: float, t: float = 0.0) -> Sample:
    """A job that keeps up, every operator passing on what it gets."""
    operators = {
        name: OperatorSample(plan[name], 10 * rate, 10 * rate, 10 * rate / SPEED[name]) for name in topology.names
    }
    return Sample(t=t, seconds=10, input_rate=rate, operators=operators)


def seen(topology: Topology, plan: Plan, *rates: float, **details: Any) -> Observation:
    samples = tuple(measured(topology, plan, rate, 10.0 * i) for i, rate in enumerate(rates))
    return Observation(t=samples[-1].end, topology=topology, slo=Slo(), plan=plan, samples=samples, **details)


def decide(topology: Topology, plan: Plan, rate: float, **options: Any) -> Decision:
    return DpStream(**options).decide(seen(topology, plan, rate))


def test_every_operator_of_a_chain_is_brought_below_omega() -> None:
    """2000/s: spout 0.5, split 2.0, count 1.0 ms for each ms; 0.8 needs 1, 3 and 2 instances."""
    decision = decide(WORDS, Plan({"spout": 1, "split": 1, "count": 1}), 2000)
    assert decision.plan.parallelism == {"spout": 1, "split": 3, "count": 2}
    assert decision.reason.code is ReasonCode.SCALE_UP
    assert decision.figures["critical_path"] == ["spout", "split", "count"]
    assert decision.figures["T_i_ms"] == pytest.approx({"spout": 0.5, "split": 2.0, "count": 1.0})
    assert decision.figures["T_ms"] == pytest.approx(3.5)
    assert decision.figures["T_after_ms"] == pytest.approx(0.5 + 2 / 3 + 0.5)


def test_omega_itself_is_fast_enough_and_lambda_itself_slow_enough() -> None:
    plan = Plan({"spout": 1, "split": 2, "count": 1})
    assert decide(WORDS, plan, 1600).plan["split"] == 2  # 0.8
    assert decide(WORDS, plan, 1601).plan["split"] == 3
    assert decide(WORDS, plan, 1000, lambda_ms=0.5).plan["split"] == 2  # 0.5
    assert decide(WORDS, plan, 799, lambda_ms=0.5).plan["split"] == 1


def test_it_never_shrinks_over_omega() -> None:
    """900/s on 2 instances takes 0.45 ms, below lambda; one alone would take 0.9, above omega."""
    assert decide(WORDS, Plan({"spout": 1, "split": 2, "count": 1}), 900).plan["split"] == 2


def test_instances_go_while_it_is_faster_than_lambda() -> None:
    """600/s on 20 instances takes 0.03 ms; below 0.5 it shrinks, down to 1 instance at 0.6."""
    assert decide(WORDS, Plan({"spout": 1, "split": 20, "count": 1}), 600).plan["split"] == 1
    assert decide(WORDS, Plan({"spout": 1, "split": 20, "count": 1}), 2600).plan["split"] == 5  # 0.52 ms


def test_operators_beside_the_critical_path_stay() -> None:
    plan = Plan({"read": 1, "left": 9, "right": 1, "join": 1})
    decision = decide(DIAMOND, plan, 1000)
    assert decision.figures["critical_path"] == ["read", "right", "join"]
    assert decision.plan.parallelism == {"read": 1, "left": 9, "right": 5, "join": 1}


def test_bounds_hold() -> None:
    job = Topology((Operator("spout", min=2, max=3),), source_partitions=20)
    assert decide(job, Plan({"spout": 2}), 90_000).plan["spout"] == 3
    assert decide(job, Plan({"spout": 3}), 1).plan["spout"] == 2
    capped = Topology((Operator("spout", max=50),), source_partitions=4)
    assert decide(capped, Plan({"spout": 1}), 90_000).plan["spout"] == 4
    assert decide(capped, Plan({"spout": 9}), 90_000).plan["spout"] == 4


def test_the_network_counts_where_placement_is_known() -> None:
    plan = Plan(
        {"spout": 1, "split": 2, "count": 2}, placement={"spout": ("a",), "split": ("b", "b"), "count": ("b", "b")}
    )
    workers = (Worker("a", 8), Worker("b", 8))
    observation = seen(WORDS, plan, 1400, workers=workers)
    free = DpStream().decide(observation)
    assert free.plan["spout"] == 1
    slow = DpStream(bandwidth=2500).decide(observation)
    assert slow.figures["Ts_ms"] == pytest.approx({"spout": 1400 / 2500, "split": 0.0})
    assert slow.plan["spout"] == 2  # 0.35 + 0.56 is more than 0.8, 0.175 + 0.56 is not


def test_every_pair_of_workers_has_its_own_bandwidth() -> None:
    plan = Plan(
        {"spout": 1, "split": 2, "count": 2}, placement={"spout": ("a",), "split": ("b", "b"), "count": ("c", "c")}
    )
    observation = seen(WORDS, plan, 1400, workers=tuple(Worker(name, 8) for name in "abc"))
    decision = POLICIES.create("dp_stream", {"bandwidth": {"a": {"b": 2500}, "b": {"c": 1e6}}}).decide(observation)
    assert decision.figures["Ts_ms"] == pytest.approx({"spout": 1400 / 2500, "split": 1400 / 1e6})
    assert decision.plan["spout"] == 2


def test_an_operator_that_weighs_more_is_slow_sooner() -> None:
    plan = Plan({"spout": 1, "split": 2, "count": 1})
    assert decide(WORDS, plan, 1000).plan["split"] == 2
    assert decide(WORDS, plan, 1000, weights={"split": 2.0}).plan["split"] == 3


def test_the_genetic_algorithms_parameters_are_options_of_the_policy() -> None:
    policy = POLICIES.create(
        "dp_stream",
        {
            "population": 7, "iterations": 11, "crossover": 0.5, "mutation": 0.3, "temperature": 0.2, "cooling": 0.9,
            "training_seconds": 20.0,
        },
    )  # fmt: skip
    assert isinstance(policy, DpStream)
    network = policy._forecaster
    assert isinstance(network, Neural)
    assert (network.population, network.iterations, network.crossover) == (7, 11, 0.5)
    assert (network.mutation, network.temperature, network.cooling) == (0.3, 0.2, 0.9)
    assert (network.training_seconds, network.inputs) == (20.0, Neural().inputs)


def test_a_new_instance_goes_where_the_least_room_is_left_be_it_idle() -> None:
    """Algorithm 2 takes the smallest remainder; it does not ask whether a worker is in use."""
    workers = (Worker("large", 8), Worker("small", 2))
    plan = Plan({"spout": 1, "split": 1, "count": 1}, placement=dict.fromkeys(WORDS.names, ("large",)))
    grown = DpStream().decide(seen(WORDS, plan, 1400, workers=workers)).plan
    assert grown["split"] == 2
    assert grown.placement is not None
    assert grown.placement["split"] == ("large", "small")


def test_new_instances_are_placed_and_released_by_room() -> None:
    workers = tuple(Worker(name, 2) for name in "abcd")
    plan = Plan({"spout": 1, "split": 1, "count": 1}, placement={"spout": ("a",), "split": ("a",), "count": ("b",)})
    grown = DpStream().decide(seen(WORDS, plan, 2000, workers=workers)).plan
    assert grown.placement == {"spout": ("a",), "split": ("a", "b", "c"), "count": ("b", "c")}
    shrunk = DpStream().decide(seen(WORDS, grown, 700, workers=workers)).plan
    assert shrunk.placement == {"spout": ("a",), "split": ("a",), "count": ("b",)}


def test_it_prepares_for_the_rate_to_come() -> None:
    """A rate that climbs by 100/s every 10 s is met before it arrives, with any forecaster."""
    rates = [1000.0 + 100 * i for i in range(12)]
    observation = seen(WORDS, Plan({"spout": 1, "split": 3, "count": 2}), *rates)
    ahead = think(DpStream(forecaster="linear", horizon_seconds=60), (), observation, len(rates))
    assert ahead.figures["predicted_rate"] == pytest.approx(2100 + 600)
    assert ahead.plan["split"] == 4
    behind = think(DpStream(forecaster="last"), (), observation, len(rates))
    assert behind.figures["predicted_rate"] == 2100
    assert behind.plan["split"] == 3


def test_before_anything_is_learnt_the_measured_rate_counts() -> None:
    decision = decide(WORDS, Plan({"spout": 1, "split": 1, "count": 1}), 2000)
    assert decision.figures["predicted_rate"] is None
    assert decision.figures["r"]["spout"] == 2000


def test_it_goes_on_where_it_stopped() -> None:
    rates = [1000.0 + 37 * (i * i % 17) for i in range(30)]
    plan = Plan({"spout": 1, "split": 1, "count": 1})
    whole, first, second = DpStream(), DpStream(), DpStream()
    assert isinstance(whole, Learner)
    think(whole, (), seen(WORDS, plan, *rates), 30)
    think(first, (), seen(WORDS, plan, *rates[:25]), 25)
    second.restore(json.loads(json.dumps(first.state())))
    think(second, (), seen(WORDS, plan, *rates), 5)
    assert second.decide(seen(WORDS, plan, *rates)) == whole.decide(seen(WORDS, plan, *rates))
    assert second.state() == whole.state() != first.state()


def test_what_another_forecaster_knew_is_left_alone() -> None:
    linear, last = DpStream(forecaster="linear"), DpStream(forecaster="last")
    linear.learn(seen(WORDS, Plan({"spout": 1, "split": 1, "count": 1}), 1000))
    last.restore(linear.state())
    assert last.state() == DpStream(forecaster="last").state()


def test_over_800_seconds_it_halves_the_latency_of_a_job_left_alone() -> None:
    """WordCount at a smooth rate in [1000, 3000] (Fig. 2): T of equation 9, in each window under the plan in force."""
    start = Plan({"spout": 1, "split": 1, "count": 1})
    policy, plan, samples = DpStream(), start, list[Sample]()
    steered, alone = [], []
    for window in range(80):
        rate = 2000 + 900 * math.sin(window / 9) + 100 * math.sin(window / 2)
        steered.append(sum(rate / (plan[name] * SPEED[name]) for name in WORDS.names))
        alone.append(sum(rate / SPEED[name] for name in WORDS.names))
        samples.append(measured(WORDS, plan, rate, 10.0 * window))
        observation = Observation(t=samples[-1].end, topology=WORDS, slo=Slo(), plan=plan, samples=tuple(samples[-20:]))
        plan = think(policy, (), observation, 1).plan
    assert sum(steered[1:]) < 0.55 * sum(alone[1:])
    assert max(steered[1:]) < 3.0  # no operator of the three ever needs more than the moment
    assert plan.total < 12


@settings(max_examples=80, deadline=None)
@given(
    rate=st.floats(1, 1e5),
    degrees=st.tuples(*[st.integers(1, 20)] * 3),
    bounds=st.tuples(st.floats(0.01, 3), st.floats(0, 1)),
)
def test_a_second_decision_under_the_same_load_changes_nothing(
    rate: float, degrees: tuple[int, ...], bounds: tuple[float, float]
) -> None:
    options = {"omega_ms": bounds[0], "lambda_ms": bounds[0] * bounds[1]}
    first = decide(WORDS, Plan(dict(zip(WORDS.names, degrees, strict=True))), rate, **options).plan
    assert decide(WORDS, first, rate, **options).plan == first
    for name in WORDS.names:
        latency = 1e3 * rate * 0.001 / (first[name] * SPEED[name])
        assert latency <= bounds[0] * 1.000001 or first[name] == 20


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"forecaster": "oracle"}, "forecaster"),
        ({"omega_ms": 0.4}, "lambda_ms must not exceed omega_ms"),
        ({"omega_ms": 0.0}, "omega_ms"),
        ({"moment_ms": 0.0}, "moment_ms"),
        ({"bandwidth": 0.0}, "bandwidth"),
        ({"horizon_seconds": -1.0}, "horizon_seconds"),
        ({"bandwidth": {"a": {"b": 0.0}}}, "bandwidth from a to b"),
        ({"weights": {"split": -1.0}}, "weights of split"),
        ({"population": 1}, "population"),
        ({"forecaster": "linear", "cooling": 0.9}, "cooling must be left out for the forecaster linear"),
    ],
)
def test_options_that_cannot_be_are_refused_by_name(options: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidValueError, match=field):
        POLICIES.create("dp_stream", options)
