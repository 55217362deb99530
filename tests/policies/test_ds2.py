"""DS2 sizes every operator for the load that reaches it, in one step."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.control.think import think
from penstock.model import (
    Decision,
    Forecast,
    Observation,
    Operator,
    OperatorSample,
    Plan,
    ReasonCode,
    Sample,
    Slo,
    Topology,
)
from penstock.performance.true_rates import instances
from penstock.policies.ds2 import Ds2
from strategies import LinearJob, linear_jobs

CHAIN = Topology((Operator("Op1"), Operator("Op2")), (("Op1", "Op2"),))
# True rates in 10 s of useful time: Op1 takes 50 records per second and emits 400, Op2 takes 100.
OP1 = OperatorSample(1, records_in=500, records_out=4000, useful_seconds=10)
OP2 = OperatorSample(1, records_in=1000, records_out=1000, useful_seconds=10)


def observe(operators: dict[str, OperatorSample], topology: Topology = CHAIN, **figures: Any) -> Observation:
    sample = Sample(t=0, seconds=10, operators=operators, **{"input_rate": 100, **figures})
    plan = Plan({name: sample.operators[name].parallelism for name in topology.names})
    return Observation(t=10, topology=topology, slo=Slo(), plan=plan, samples=(sample,))


def decide(observation: Observation) -> Decision:
    return think(Ds2(), (), observation, fresh=0)


def operator(processing: float, output: float, k: int = 1, **figures: Any) -> OperatorSample:
    """What an operator of these true rates shows after ten useful seconds."""
    return OperatorSample(k, 10 * processing, 10 * output, useful_seconds=10, **figures)


def test_the_published_example_needs_two_and_eight() -> None:
    decision = decide(observe({"Op1": OP1, "Op2": OP2}))
    assert decision.plan.parallelism == {"Op1": 2, "Op2": 8}
    assert decision.reason.code is ReasonCode.SCALE_UP
    assert decision.figures["true_processing_rate"] == {"Op1": 50, "Op2": 100}
    assert decision.figures["true_output_rate"] == {"Op1": 400, "Op2": 100}
    assert decision.figures["target_rate"] == {"Op1": 100, "Op2": 800}
    assert decision.figures["throughput_parallelism"] == {"Op1": 2, "Op2": 8}


def test_a_parents_parallelism_is_not_rounded_on_the_way() -> None:
    # 120/s need 2.4 instances of Op1, so 3; they still pass on 2.4 * 400 = 960/s, which needs 10 of Op2, not 12.
    assert decide(observe({"Op1": OP1, "Op2": OP2}, input_rate=120)).plan.parallelism == {"Op1": 3, "Op2": 10}


def test_both_arms_of_a_diamond_load_its_end() -> None:
    diamond = Topology(
        tuple(map(Operator, ("read", "left", "right", "join"))),
        (("read", "left"), ("read", "right"), ("left", "join"), ("right", "join")),
    )
    shown = {
        "read": operator(100, 100), "left": operator(50, 50), "right": operator(25, 50), "join": operator(100, 1),
    }  # fmt: skip
    decision = decide(observe(shown, diamond))
    assert decision.figures["target_rate"] == {"read": 100, "left": 100, "right": 100, "join": 100 + 200}
    assert decision.plan.parallelism == {"read": 1, "left": 2, "right": 4, "join": 3}


def test_each_root_is_sized_for_its_own_rate() -> None:
    roots = Topology(tuple(map(Operator, ("left", "right", "join"))), (("left", "join"), ("right", "join")))
    shown = {"left": operator(10, 10), "right": operator(10, 20), "join": operator(10, 1)}
    decision = decide(observe(shown, roots, input_rate={"left": 10, "right": 30}))
    assert decision.plan.parallelism == {"left": 1, "right": 3, "join": 7}
    assert decide(observe(shown, roots, input_rate=20)).plan.parallelism == {"left": 2, "right": 2, "join": 6}


def test_a_child_that_receives_a_share_is_sized_for_that_share() -> None:
    quarter = replace(OP2, records_from={"Op1": 1000})  # of the 4000 that Op1 emitted
    assert decide(observe({"Op1": OP1, "Op2": quarter})).plan.parallelism == {"Op1": 2, "Op2": 2}


def test_an_idle_operator_is_sized_from_the_last_window_in_which_it_worked() -> None:
    busy = observe({"Op1": OP1, "Op2": OP2})
    idle = replace(busy.latest, t=10, operators={"Op1": OP1, "Op2": OperatorSample(1, 0, 0, useful_seconds=0)})
    assert decide(replace(busy, samples=(busy.latest, idle))).plan.parallelism == {"Op1": 2, "Op2": 8}


@pytest.mark.parametrize(
    ("operators", "figures", "sentence"),
    [
        ({"Op1": replace(OP1, useful_seconds=None), "Op2": OP2}, {}, "useful_seconds of Op1 was not measured"),
        ({"Op1": OP1, "Op2": replace(OP2, records_in=None)}, {}, "records_in of Op2 was not measured"),
        ({"Op1": replace(OP1, records_out=None), "Op2": OP2}, {}, "records_out of Op1 was not measured"),
        ({"Op1": OP1, "Op2": OP2}, {"input_rate": None}, "input_rate of Op1 was not measured"),
    ],
)
def test_a_missing_figure_holds_the_plan(operators: Any, figures: Any, sentence: str) -> None:
    observation = observe(operators, **figures)
    decision = decide(observation)
    assert decision.plan == observation.plan
    assert (decision.reason.code, decision.reason.text) == (ReasonCode.MISSING_METRICS, sentence)


def test_a_leaf_need_not_say_what_it_emits() -> None:
    assert decide(observe({"Op1": OP1, "Op2": replace(OP2, records_out=None)})).plan["Op2"] == 8


def test_it_sizes_for_the_forecast_where_there_is_one() -> None:
    observation = replace(observe({"Op1": OP1, "Op2": OP2}), forecast=Forecast("last", 200.0))
    assert decide(observation).plan.parallelism == {"Op1": 4, "Op2": 16}


def test_it_keeps_to_the_bounds_and_to_the_partitions_of_the_source() -> None:
    topology = Topology((Operator("Op1", min=1), Operator("Op2", max=5)), (("Op1", "Op2"),), source_partitions=1)
    decision = decide(observe({"Op1": OP1, "Op2": OP2}, topology))
    assert decision.plan.parallelism == {"Op1": 1, "Op2": 5}
    assert decision.figures["throughput_parallelism"] == {"Op1": 2, "Op2": 8}  # what it would have taken


def test_too_many_are_given_back() -> None:
    decision = decide(observe({"Op1": replace(OP1, parallelism=9), "Op2": replace(OP2, parallelism=9)}))
    assert decision.plan.parallelism == {"Op1": 2, "Op2": 8}
    assert decision.reason.code is ReasonCode.SCALE_DOWN


@given(job=linear_jobs(bounded=False), start=st.integers(1, 20))
def test_on_a_linear_job_one_step_gives_the_least_plan_that_keeps_up(job: LinearJob, start: int) -> None:
    before = Plan(dict.fromkeys(job.topology.names, start))
    plan = decide(job.observe(before, [job.respond(before)])).plan
    assert decide(job.observe(plan, [job.respond(plan)])).plan == plan
    for name, load in job.load.items():
        assert plan[name] * job.true_rate[name] >= load * (1 - 1e-6)
        assert plan[name] == 1 or (plan[name] - 1) * job.true_rate[name] < load


def test_a_quotient_a_hair_above_a_whole_number_is_that_number() -> None:
    assert instances(0.1 + 0.2, 0.1) == 3  # the quotient is 3.0000000000000004
    assert instances(3.01, 1.0) == 4
