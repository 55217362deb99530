"""ContTune: the worked example of its repository, Big and Small."""

from __future__ import annotations

import json

import pytest

from penstock.control.think import think
from penstock.model import (
    Decision,
    InvalidValueError,
    Observation,
    Operator,
    OperatorSample,
    Plan,
    Sample,
    Slo,
    Topology,
)
from penstock.performance.bayesian.processing_ability import ProcessingAbility
from penstock.policies import POLICIES
from penstock.policies.conttune import ContTune
from strategies import LinearJob

MAPPER = {
    1: 529573.16752, 2: 966817.36242, 4: 1829695.58, 6: 2535502.7616, 7: 2936888.579, 8: 3118477.8826,
    10: 3721099.1836, 13: 4624714.165666, 15: 4967828.2586, 20: 6350677.0454, 21: 6465249.805, 25: 7089387.3074,
    26: 7476391.84,
}  # fmt: skip
"""The mapper of Nexmark query 1 in the README of ContTune's repository: parallelism and processing ability."""

JOB = Topology((Operator("map", max=40),))


def decide(policy: ContTune, rate: float, k: int, ability: float, throughput: float | None = None) -> Decision:
    """What it decides at a rate, with k instances that can do `ability` together."""
    done = rate if throughput is None else throughput
    operator = OperatorSample(k, records_in=60 * done, records_out=60 * done, useful_seconds=60 * k * done / ability)
    sample = Sample(t=0, seconds=60, operators={"map": operator}, input_rate=rate, throughput=done)
    observation = Observation(t=60, topology=JOB, slo=Slo(), plan=Plan({"map": k}), samples=(sample,))
    return think(policy, (), observation, fresh=1)


def experienced(**options: float) -> ContTune:
    policy = ContTune(**options)  # type: ignore[arg-type]
    for parallelism, ability in MAPPER.items():
        policy.tried("map", parallelism, ability)
    return policy


def test_the_example_of_the_repository() -> None:
    # At 4,000,000 records/s it finds 11, one away from the 10 that were tried.
    model = ProcessingAbility.fit(MAPPER)
    assert model.at(10) < 4e6 <= model.at(11)
    decision = decide(experienced(alpha=1), rate=4e6, k=26, ability=MAPPER[26])
    assert decision.plan == Plan({"map": 11})
    assert decision.figures["sized_by"] == {"map": "model"}


def test_where_the_model_would_guess_true_rates_decide() -> None:
    decision = decide(experienced(alpha=0), rate=4e6, k=26, ability=MAPPER[26])
    assert decision.plan == Plan({"map": 14})  # 4,000,000 / (7,476,391.84 / 26) = 13.9
    assert decision.figures["sized_by"] == {"map": "true rates"}


def test_the_model_meets_what_was_tried_and_promises_nothing_far_from_it() -> None:
    model = ProcessingAbility.fit(MAPPER)
    assert [model.at(p) for p in MAPPER] == pytest.approx(list(MAPPER.values()), rel=1e-3)
    assert abs(model.at(200)) < 1


def test_a_job_that_falls_behind_is_doubled() -> None:
    decision = decide(ContTune(), rate=1000, k=3, ability=900, throughput=900)
    assert (decision.plan, decision.figures["phase"]) == (Plan({"map": 6}), "big")
    assert decide(ContTune(), rate=1000, k=30, ability=900, throughput=900).plan == Plan({"map": 40})
    assert decide(ContTune(), rate=1000, k=3, ability=1000, throughput=995).figures["phase"] == "small"


def test_big_doubles_every_operator() -> None:
    line = Topology.chain("read", "count")
    job = LinearJob(line, {"read": 200, "count": 20}, {"read": 1.0, "count": 1.0}, input_rate=100)
    plan = Plan({"read": 1, "count": 2})
    assert think(ContTune(), (), job.observe(plan, [job.respond(plan)]), fresh=1).plan == Plan({"read": 2, "count": 4})


def test_with_one_parallelism_tried_true_rates_decide() -> None:
    assert decide(ContTune(), rate=500, k=10, ability=1000).figures["sized_by"] == {"map": "true rates"}


def test_only_the_last_windows_of_a_parallelism_count() -> None:
    policy = ContTune(top_k=2)
    for ability in (1000.0, 100.0, 300.0):
        policy.tried("map", 4, ability)
    policy.tried("map", 2, 120.0)
    assert decide(policy, rate=190, k=8, ability=800).plan == Plan({"map": 4})  # (100 + 300) / 2 suffice
    policy.tried("map", 4, 60.0)
    assert decide(policy, rate=190, k=8, ability=800).plan != Plan({"map": 4})


def test_what_was_learnt_at_one_rate_serves_at_another() -> None:
    """Rates fall with parallelism: DS2 would need several steps to 12, history needs one."""
    abilities = {k: 100.0 * k / (1 + 0.05 * k) for k in range(1, 25)}
    policy = ContTune()
    for k in (4, 8, 11, 12, 16, 24):
        policy.tried("map", k, abilities[k])
    assert decide(policy, rate=740, k=24, ability=abilities[24]).plan == Plan({"map": 12})
    assert decide(ContTune(), rate=740, k=24, ability=abilities[24]).plan == Plan({"map": 17})


def test_it_goes_on_where_it_stopped() -> None:
    policy, twin = experienced(), ContTune()
    twin.restore(json.loads(json.dumps(policy.state())))
    for rate in (1e6, 3e6, 5e6):
        assert decide(twin, rate, 26, MAPPER[26]) == decide(policy, rate, 26, MAPPER[26])


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(InvalidValueError, match=r"alpha must be a finite number of at least 0, not -1\.0"):
        POLICIES.create("conttune", {"alpha": -1})
    with pytest.raises(InvalidValueError, match="top_k must be a whole number of at least 1, not 0"):
        POLICIES.create("conttune", {"top_k": 0})
