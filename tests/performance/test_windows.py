"""Several samples as one, and what reached an operator."""

from __future__ import annotations

import pytest

from penstock.model import MissingFigureError, Operator, OperatorSample, Sample, Topology
from penstock.performance.windows import merged, received, windows

DIAMOND = Topology(
    tuple(map(Operator, ("read", "left", "right", "join"))),
    (("read", "left"), ("read", "right"), ("left", "join"), ("right", "join")),
)


def test_counts_add_up_and_queues_are_the_last() -> None:
    whole = merged([
        Sample(t=0, seconds=10, backlog=5, dropped=1, throughput=9, operators={
            "read": OperatorSample(1, 100, 200, 4.0, 6.0, queue=3, records_from={"a": 60, "b": 40})}),
        Sample(t=10, seconds=30, backlog=7, dropped=2, throughput=13, operators={
            "read": OperatorSample(2, 50, 60, 1.0, 29.0, queue=9, records_from={"b": 50})}),
    ])  # fmt: skip
    read = whole.operators["read"]
    assert (whole.t, whole.seconds, whole.backlog, whole.dropped, whole.throughput) == (0, 40, 7, 3, 12)
    assert (read.parallelism, read.records_in, read.records_out) == (2, 150, 260)
    assert (read.useful_seconds, read.waiting_seconds, read.queue) == (5.0, 35.0, 9)
    assert read.records_from == {"a": 60, "b": 90}


def test_what_one_lacks_the_whole_lacks() -> None:
    known = Sample(t=0, seconds=10, input_rate=5, operators={"read": OperatorSample(1, 100, useful_seconds=4.0)})
    unknown = Sample(t=10, seconds=10, operators={"read": OperatorSample(1, 100)})
    whole = merged([known, unknown])
    assert whole.operators["read"].useful_seconds is None
    assert whole.operators["read"].records_in == 200
    assert whole.input_rate is None


def test_rates_of_several_roots_are_averaged_each() -> None:
    samples = [
        Sample(t=0, seconds=10, input_rate={"a": 10, "b": 1}, operators={}),
        Sample(t=10, seconds=30, input_rate={"a": 50, "b": 1}, operators={}),
    ]
    assert merged(samples).input_rate == {"a": 40, "b": 1}


def test_windows_are_counted_back_from_the_newest() -> None:
    samples = [Sample(t=10.0 * i, seconds=10, input_rate=i, operators={}) for i in range(8)]
    assert [window.input_rate for window in windows(samples, 30)] == [0.5, 3.0, 6.0]
    assert [window.end for window in windows(samples, 30)] == [20, 50, 80]
    assert windows([], 30) == ()


def test_an_operator_receives_its_own_count_or_all_its_parents_emit() -> None:
    operators = {
        "read": OperatorSample(1, records_out=70),
        "left": OperatorSample(1, records_out=30, records_from={"read": 20}),
        "right": OperatorSample(1, records_out=5),
        "join": OperatorSample(1),
    }
    sample = Sample(t=0, seconds=10, input_rate=8, operators=operators)
    assert [received(name, DIAMOND, sample) for name in DIAMOND.names] == [80, 20, 70, 35]


def test_what_nobody_counted_is_named() -> None:
    sample = Sample(t=0, seconds=10, operators={"read": OperatorSample(1), "left": OperatorSample(1)})
    with pytest.raises(MissingFigureError, match="input_rate of read"):
        received("read", DIAMOND, sample)
    with pytest.raises(MissingFigureError, match="records_out of read"):
        received("left", DIAMOND, sample)
