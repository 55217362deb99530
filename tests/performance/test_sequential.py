"""What a policy for concurrent operators is shown of a job whose operators run sequentially."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import Slo
from penstock.model import Batch, Execution, Observation, OperatorSample, Plan, Sample, Topology
from penstock.performance.sequential import ConcurrentView, as_if_concurrent
from penstock.policies.ds2 import Ds2

PAIR = Topology.chain("parse", "count")
SLO = Slo(event_latency="10 s")  # batches may take 5 s


def window(useful: dict[str, float | None], batches: tuple[Batch, ...] | None = None, t: float = 0.0) -> Sample:
    """Ten seconds at 100 records/s."""
    operators = {name: OperatorSample(4, 1000, 1000, seconds) for name, seconds in useful.items()}
    return Sample(t=t, seconds=10, operators=operators, input_rate=100, throughput=100, backlog=0, batches=batches)


def test_without_batches_every_operator_shows_the_time_of_all() -> None:
    shown = ConcurrentView(SLO).of(window({"parse": 2.0, "count": 6.0}))
    assert {each.useful_seconds for each in shown.operators.values()} == {8.0}


def test_where_one_operator_was_not_measured_nothing_is_made_up() -> None:
    shown = ConcurrentView(SLO).of(window({"parse": 2.0, "count": None}))
    assert {each.useful_seconds for each in shown.operators.values()} == {None}


def test_what_every_batch_costs_counts_once_for_each_batch_that_the_target_allows() -> None:
    # A batch takes a second of a slot and 10 ms for each record, and the driver half a second.
    small, large = Batch(100, 2.5, 2.0, 2.0), Batch(300, 4.5, 4.0, 4.0)
    shown = ConcurrentView(SLO).of(window({"parse": 2.0, "count": 6.0}, (small, large, small)))
    slots = (1.0 / 5 + 0.01 * 100) / (1 - 0.5 / 5)
    assert shown.operators["parse"].useful_seconds == pytest.approx(10 * slots)


def test_batches_of_earlier_windows_are_remembered() -> None:
    view = ConcurrentView(SLO)
    view.of(window({"parse": 2.0, "count": 6.0}, (Batch(100, 2.5, 2.0, 2.0), Batch(300, 4.5, 4.0, 4.0))))
    same = view.of(window({"parse": 2.0, "count": 6.0}, (Batch(200, 3.5, 3.0, 3.0),), t=10.0))
    assert same.operators["count"].useful_seconds == pytest.approx(10 * (1.0 / 5 + 1.0) / 0.9)


def test_a_sample_of_concurrent_operators_is_left_as_it_is() -> None:
    observation = Observation(
        t=10,
        topology=PAIR,
        slo=SLO,
        plan=Plan({"parse": 4, "count": 4}),
        samples=(window({"parse": 2.0, "count": 6.0}),),
    )
    assert as_if_concurrent(observation) is observation


@given(parse=st.floats(0.1, 40), count=st.floats(0.1, 40), rate=st.integers(10, 1000))
def test_the_plan_for_it_is_the_cheapest_that_keeps_up(parse: float, count: float, rate: int) -> None:
    """All operators at ceil(lambda * sum of service times): fewer would take longer than the window."""
    records = 10.0 * rate
    operators = {
        "parse": OperatorSample(4, records, records, records * parse / 1e3),
        "count": OperatorSample(4, records, records, records * count / 1e3),
    }
    sample = Sample(t=0, seconds=10, operators=operators, input_rate=rate, throughput=rate, backlog=0)
    observation = as_if_concurrent(Observation(
        t=10, topology=PAIR, slo=SLO, plan=Plan({"parse": 4, "count": 4}), samples=(sample,),
        execution=Execution.SEQUENTIAL,
    ))  # fmt: skip
    slots = Ds2().decide(observation).plan["parse"]
    work = rate * (parse + count) / 1e3
    assert work <= slots * (1 + 1e-6) or slots == PAIR["parse"].max
    assert slots == 1 or slots - 1 < work
