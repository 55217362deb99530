"""Waiting records and the time that one takes."""

from __future__ import annotations

import pytest

from penstock.model import MissingFigureError, Observation, Operator, OperatorSample, Plan, Sample, Slo, Topology
from penstock.performance.waiting import execution_seconds, waiting_records

TWO_ROOTS = Topology(tuple(map(Operator, ("clicks", "views", "join"))), (("clicks", "join"), ("views", "join")))


def observe(sample: Sample, topology: Topology = TWO_ROOTS) -> Observation:
    return Observation(t=sample.end, topology=topology, slo=Slo(), plan=Plan.smallest(topology), samples=(sample,))


def queues(clicks: float | None, views: float | None, join: float | None) -> dict[str, OperatorSample]:
    lengths = {"clicks": clicks, "views": views, "join": join}
    return {name: OperatorSample(1, queue=length) for name, length in lengths.items()}


def test_roots_share_the_backlog_in_proportion_to_their_input() -> None:
    sample = Sample(
        t=0, seconds=10, operators=queues(1, 2, 3), backlog=400, input_rate={"clicks": 300.0, "views": 100.0}
    )
    assert waiting_records(observe(sample)) == {"clicks": 301, "views": 102, "join": 3}


def test_roots_without_input_share_the_backlog_evenly() -> None:
    sample = Sample(t=0, seconds=10, operators=queues(0, 0, 0), backlog=400, input_rate=0.0)
    assert waiting_records(observe(sample)) == {"clicks": 200, "views": 200, "join": 0}


def test_a_pulled_source_needs_no_queue_at_its_root_but_every_other_operator_does() -> None:
    pulled = Sample(t=0, seconds=10, operators=queues(None, None, 3), backlog=10, input_rate=5.0)
    assert waiting_records(observe(pulled)) == {"clicks": 5, "views": 5, "join": 3}
    with pytest.raises(MissingFigureError, match="queue of clicks"):
        waiting_records(observe(Sample(t=0, seconds=10, operators=queues(None, None, 3), input_rate=5.0)))
    with pytest.raises(MissingFigureError, match="queue of join"):
        waiting_records(observe(Sample(t=0, seconds=10, operators=queues(1, 1, None), backlog=10, input_rate=5.0)))


def test_an_idle_operator_takes_as_long_as_when_it_last_worked() -> None:
    busy = Sample(t=0, seconds=10, operators={"join": OperatorSample(1, records_in=100, useful_seconds=5)})
    idle = Sample(t=10, seconds=10, operators={"join": OperatorSample(1, records_in=0, useful_seconds=0)})
    assert execution_seconds("join", (busy, idle)) == 0.05
    with pytest.raises(MissingFigureError, match="true rate of join"):
        execution_seconds("join", (idle,))
    with pytest.raises(MissingFigureError, match="records_in of join"):
        execution_seconds("join", (Sample(t=0, seconds=10, operators={"join": OperatorSample(1, useful_seconds=5)}),))
