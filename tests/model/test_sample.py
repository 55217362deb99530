"""What was measured must be possible; what was not measured is None."""

import math
import pickle
from typing import Any

import pytest

from penstock.model import FrozenMap, InvalidValueError, Latency, OperatorSample, Sample

FIGURES = ["records_in", "records_out", "useful_seconds", "waiting_seconds", "queue", "latency_ms"]
IMPOSSIBLE = [-1, -0.5, math.nan, math.inf, "12", True]


def window(**figures: Any) -> Sample:
    return Sample(**{"t": 0, "seconds": 10, "operators": {"split": OperatorSample(1)}, **figures})


@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize("value", IMPOSSIBLE)
def test_an_impossible_figure_of_an_operator_is_refused(figure: str, value: Any) -> None:
    with pytest.raises(InvalidValueError) as refused:
        OperatorSample(1, **{figure: value})
    assert str(refused.value) == f"{figure} must be a finite number of at least 0, not {value!r}"


@pytest.mark.parametrize("figure", ["t", "seconds", "input_rate", "throughput", "backlog", "dropped"])
@pytest.mark.parametrize("value", IMPOSSIBLE)
def test_an_impossible_figure_of_the_job_is_refused(figure: str, value: Any) -> None:
    with pytest.raises(InvalidValueError) as refused:
        window(**{figure: value})
    assert str(refused.value) == f"{figure} must be a finite number of at least 0, not {value!r}"


@pytest.mark.parametrize("statistic", ["mean", "p50", "p95", "p99"])
@pytest.mark.parametrize("value", IMPOSSIBLE)
def test_an_impossible_latency_is_refused(statistic: str, value: Any) -> None:
    with pytest.raises(InvalidValueError) as refused:
        Latency(**{statistic: value})
    assert str(refused.value) == f"latency: {statistic} must be a finite number of at least 0, not {value!r}"


@pytest.mark.parametrize(
    ("figures", "sentence"),
    [
        ({"seconds": 0}, "seconds must be positive, not 0"),
        ({"seconds": None}, "seconds must be a finite number of at least 0, not None"),
        ({"t": None}, "t must be a finite number of at least 0, not None"),
        ({"input_rate": {"split": -1}}, "input_rate of split must be a finite number of at least 0, not -1"),
        ({"input_rate": {"split": None}}, "input_rate of split must be a finite number of at least 0, not None"),
        ({"executors": 1.5}, "executors must be a whole number of at least 0, not 1.5"),
        ({"processing_latency_ms": 120}, "processing_latency_ms must be a Latency, not 120"),
        ({"event_latency_ms": 120}, "event_latency_ms must be a Latency, not 120"),
        ({"operators": {"split": 3}}, "operators: split must be an OperatorSample, not 3"),
    ],
)
def test_a_bad_sample_is_refused_in_one_sentence(figures: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidValueError) as refused:
        window(**figures)
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("figures", "sentence"),
    [
        ({"parallelism": 0}, "parallelism must be a whole number of at least 1, not 0"),
        ({"parallelism": None}, "parallelism must be a whole number of at least 1, not None"),
        (
            {"parallelism": 1, "records_from": {"read": -1}},
            "records_from read must be a finite number of at least 0, not -1",
        ),
        (
            {"parallelism": 1, "records_from": {"read": None}},
            "records_from read must be a finite number of at least 0, not None",
        ),
    ],
)
def test_a_bad_operator_sample_is_refused_in_one_sentence(figures: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidValueError) as refused:
        OperatorSample(**figures)
    assert str(refused.value) == sentence


def test_what_was_not_measured_is_none() -> None:
    sample = window()
    operator = sample.operators["split"]
    assert all(getattr(operator, figure) is None for figure in [*FIGURES, "records_from"])
    assert (sample.input_rate, sample.throughput, sample.backlog, sample.dropped) == (None, None, None, None)
    assert sample.input_rate_of("split") is None
    assert Latency().at("p99") is None


def test_a_window_ends_where_the_next_one_begins() -> None:
    assert window(t=50, seconds=10).end == 60


def test_one_input_rate_is_what_every_root_receives_in_full() -> None:
    sample = window(input_rate=100)
    assert (sample.input_rate_of("left"), sample.input_rate_of("right"), sample.job_input_rate) == (100, 100, 100)


def test_input_rates_by_root_add_up_to_the_jobs() -> None:
    sample = window(input_rate={"left": 30, "right": 70})
    assert (sample.input_rate_of("left"), sample.input_rate_of("right"), sample.job_input_rate) == (30, 70, 100)
    assert sample.input_rate_of("middle") is None


def test_a_sample_does_not_follow_the_dicts_it_was_made_of_and_can_be_sent_away() -> None:
    rates, received = {"split": 1.0}, {"read": 5.0}
    operators = {"split": OperatorSample(1, records_from=received)}
    sample = Sample(t=0, seconds=1, operators=operators, input_rate=rates)
    rates["split"], received["read"] = 2.0, 6.0
    operators.clear()
    assert sample.input_rate == {"split": 1.0}
    assert sample.operators["split"].records_from == {"read": 5.0}
    assert type(sample.input_rate) is FrozenMap
    assert pickle.loads(pickle.dumps(sample)) == sample
    assert hash(sample) == hash(pickle.loads(pickle.dumps(sample)))
