"""Model values survive the way into JSON and back, and what does not fit is named by its path."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from penstock.model import (
    Actuation,
    Cycle,
    Decision,
    Expected,
    FrozenMap,
    InvalidValueError,
    Latency,
    Mode,
    Operator,
    OperatorSample,
    PenstockError,
    Plan,
    ReasonCode,
    Sample,
    Slo,
    Topology,
    Worker,
)
from penstock.stores.codec import SloInNumbers, from_json, plain, to_json


def a_cycle() -> Cycle:
    plan = Plan({"split": 1, "count": 2}, executors=3, placement={"split": ("a",), "count": ("a", "b")})
    sample = Sample(
        t=0,
        seconds=10,
        operators={"split": OperatorSample(1, records_in=1000), "count": OperatorSample(2, records_from={"split": 5})},
        input_rate={"split": 100},
        event_latency_ms=Latency(mean=150, p95=300),
    )
    wanted = Decision.move(plan, plan.changed(split=9), "split is busy")
    vetted = wanted.vetted("bounds", ReasonCode.BOUNDS, "no further", plan.changed(split=2))
    vetted = replace(vetted, expected=Expected(throughput=100))
    return Cycle(t=10, mode=Mode.MONITOR, before=plan, decision=vetted, samples=(sample,), problem="it rains")


def test_a_cycle_comes_back_whole() -> None:
    cycle = a_cycle()
    again = from_json(Cycle, to_json(cycle))
    assert again == cycle
    assert again.mode is Mode.MONITOR
    assert type(again.before.parallelism) is FrozenMap
    assert type(again.before.placement) is FrozenMap
    assert again.samples[0].input_rate == {"split": 100}


def test_what_was_not_measured_is_left_out() -> None:
    sample = Sample(t=0, seconds=10, operators={"split": OperatorSample(1, queue=0)}, event_latency_ms=Latency(p95=3))
    assert plain(sample) == {
        "t": 0,
        "seconds": 10,
        "operators": {"split": {"parallelism": 1, "queue": 0}},
        "event_latency_ms": {"p95": 3},
        "warm_up": False,
    }


def test_none_inside_figures_is_a_figure() -> None:
    assert plain(Decision.hold(Plan({"split": 1}), ReasonCode.STEADY, "", figures={"score": None}))["figures"] == {
        "score": None
    }


@pytest.mark.parametrize(
    "value",
    [
        Topology(
            (Operator("split", actuation=Actuation.RESTART, tie="query"), Operator("count", 2, 40, stateful=True)),
            (("split", "count"),),
            source_partitions=8,
        ),
        Plan({"split": 2}),
        Expected(throughput=1 / 3),
        Worker("a", 2.5, 1024),
        OperatorSample(3, waiting_seconds=0.1),
    ],
)
def test_every_value_of_the_model_comes_back(value: object) -> None:
    assert from_json(type(value), to_json(value)) == value


def test_an_slo_is_written_in_numbers_whose_names_say_the_unit() -> None:
    slo = Slo(event_latency="500 ms", drain="6 min", statistic="p95")
    assert plain(slo) == {"event_latency_ms": 500.0, "drain_seconds": 360.0, "statistic": "p95"}
    assert from_json(SloInNumbers, to_json(slo)).slo() == slo


def test_figures_of_numpy_become_plain_numbers() -> None:
    assert plain({"k": np.int64(3), "rate": np.float64(0.5), "rates": np.arange(3)}) == {
        "k": 3,
        "rate": 0.5,
        "rates": [0, 1, 2],
    }


def test_endless_figures_come_back_endless() -> None:
    figures = {"latency": math.inf, "floor": -math.inf}
    decision = Decision.hold(Plan({"split": 1}), ReasonCode.STEADY, "", figures=figures)
    assert from_json(Decision, to_json(decision)).figures == figures


def test_what_json_has_no_words_for_is_refused() -> None:
    with pytest.raises(PenstockError, match=r"^\{1\} cannot be written as JSON$"):
        to_json({"seen": {1}})


def test_a_text_of_a_later_version_may_know_more() -> None:
    assert from_json(Plan, '{"parallelism": {"split": 1}, "colour": "blue"}') == Plan({"split": 1})


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        (["mode"], "asleep", "mode must be 'off', 'monitor' or 'active', not \"asleep\""),
        (["before", "parallelism", "split"], 0, "before.parallelism.split must be a whole number of at least 1, not 0"),
        (["before", "placement", "split"], [], "before.placement.split must name one worker for each instance"),
        (["samples", 0, "t"], "soon", 'samples[0].t must be a number, not "soon"'),
        (
            ["samples", 0, "operators", "split", "records_in"],
            -3,
            "samples[0].operators.split.records_in must be a finite number of at least 0, not -3",
        ),
        (
            ["decision", "expected", "throughput"],
            -0.5,
            "decision.expected.throughput must be a finite number of at least 0, not -0.5",
        ),
        (["decision", "verdicts", 0, "reason"], None, "decision.verdicts[0].reason must be an object, not null"),
    ],
)
def test_what_does_not_fit_is_named_by_its_path(path: list[str | int], value: object, sentence: str) -> None:
    whole = json.loads(to_json(a_cycle()))
    place = whole
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(InvalidValueError) as refused:
        from_json(Cycle, json.dumps(whole))
    assert str(refused.value) == sentence
