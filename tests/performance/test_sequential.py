"""What a policy for concurrent operators is shown of a job whose operators run sequentially."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import Slo
from penstock.model import Batch, Execution, Observation, OperatorSample, Plan, Sample, Topology
from penstock.performance.batch_cost import Load
from penstock.performance.sequential import ConcurrentView, as_if_concurrent
from penstock.performance.true_rates import true_rates
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


def test_instances_differ_from_each_other_as_they_did() -> None:
    """AuTraScale+ takes the mean of their rates; AuTraScale divides sums, which are the same for any instances."""
    sample = window({"parse": 2.0, "count": 6.0})
    uneven = replace(sample.operators["parse"], instance_rates=(1000.0, 250.0))
    sample = replace(sample, operators={**sample.operators, "parse": uneven})
    seen = as_if_concurrent(
        Observation(
            t=10.0,
            topology=PAIR,
            slo=SLO,
            plan=Plan({"parse": 4, "count": 4}),
            samples=(sample,),
            execution=Execution.SEQUENTIAL,
        )
    )
    assert seen.latest.operators["parse"].instance_rates == (250.0, 62.5)  # a quarter of 8 s was the operator's own
    assert true_rates(seen, by_instance=True)["parse"].processing == pytest.approx((250.0 + 62.5) / 2)
    assert true_rates(seen)["parse"].processing == pytest.approx(1000 / 8.0)
    assert seen.latest.operators["count"].instance_rates is None


def test_what_every_batch_costs_counts_once_for_each_batch_that_the_target_allows() -> None:
    # A batch takes a second of a slot and 10 ms for each record, and the driver half a second.
    small, large = Batch(100, 2.5, 2.0, 2.0), Batch(300, 4.5, 4.0, 4.0)
    view = ConcurrentView(SLO, utilisation=0.8)
    shown = view.of(window({"parse": 2.0, "count": 6.0}, (small, large, small)))
    slots = (1.0 / 5 + 0.01 * 100) / (1 - 0.5 / 5)
    assert shown.operators["parse"].useful_seconds == pytest.approx(10 * slots)


def test_batches_of_earlier_windows_are_remembered() -> None:
    view = ConcurrentView(SLO, utilisation=0.8)
    view.of(window({"parse": 2.0, "count": 6.0}, (Batch(100, 2.5, 2.0, 2.0), Batch(300, 4.5, 4.0, 4.0))))
    same = view.of(window({"parse": 2.0, "count": 6.0}, (Batch(200, 3.5, 3.0, 3.0),), t=10.0))
    assert same.operators["count"].useful_seconds == pytest.approx(10 * (1.0 / 5 + 1.0) / 0.9)


def shown_slots(view: ConcurrentView, *batches: Batch, t: float = 0.0, warm_up: bool = False) -> float:
    shown = view.of(replace(window({"job": 1.0}, batches, t), warm_up=warm_up)).operators["job"].useful_seconds
    assert shown is not None
    return shown / 10


def parts(load: Load | None) -> tuple[float, float, float]:
    assert load is not None
    return load.low, load.slots, load.high


def sized(records: float, per_record: float = 0.01) -> Batch:
    """A batch that takes a second of a slot, and so much for each record, and no time of the driver."""
    useful = 1.0 + per_record * records
    return Batch(records, useful, useful, useful)


def test_a_policy_without_a_reserve_is_shown_the_most_that_alike_batches_leave_possible() -> None:
    """100 records/s in batches of 100 that take 2 slot-seconds: two slots, or 0.4 if all of it is fixed."""
    view = ConcurrentView(SLO)
    assert shown_slots(view, *[sized(100)] * 5) == pytest.approx(2.0)
    assert parts(view.load) == pytest.approx((0.4, 1.2, 2.0))


def test_the_reserve_of_a_policy_covers_what_is_not_known_and_is_not_added_to_it() -> None:
    assert shown_slots(ConcurrentView(SLO, utilisation=0.8), *[sized(100)] * 5) == pytest.approx(0.8 * 2.0)
    told_apart = [sized(100), sized(1000)] * 20
    assert shown_slots(ConcurrentView(SLO, utilisation=0.8), *told_apart) == pytest.approx(1.2, rel=1e-3)


def test_batches_as_large_as_the_target_allows_leave_nothing_open() -> None:
    view = ConcurrentView(SLO)
    assert shown_slots(view, *[sized(500)] * 5) == pytest.approx(6.0 / 5)
    assert view.load is not None
    assert view.load.known_within == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("needed", [1, 2, 3])
def test_records_that_cost_five_times_more_are_noticed_with_the_third_batch(needed: int) -> None:
    view = ConcurrentView(SLO, utilisation=0.8)
    shown_slots(view, *[sized(100), sized(500)] * 50)
    slots = shown_slots(view, *[sized(100, per_record=0.05)] * needed, t=10.0)
    if needed < 3:
        assert slots < 2.0
    else:  # 5.2 are true; all that is left is three batches which are alike
        assert slots == pytest.approx(0.8 * 6.0)
        assert parts(view.load) == pytest.approx((1.2, 3.6, 6.0))


def test_a_first_batch_that_takes_longer_than_it_may_is_believed_immediately() -> None:
    view = ConcurrentView(SLO, utilisation=0.8)
    shown_slots(view, *[sized(100), sized(500)] * 50)
    assert shown_slots(view, sized(600, per_record=0.05), t=10.0) == pytest.approx(100 * 31.0 / 600)


def test_two_batches_that_were_slow_by_chance_change_nothing_for_long() -> None:
    view = ConcurrentView(SLO, utilisation=0.8)
    shown_slots(view, *[sized(100), sized(300)] * 50)
    before = shown_slots(view, sized(100), t=10.0)
    shown_slots(view, Batch(100, 10.0, 10.0, 10.0), Batch(100, 10.0, 10.0, 10.0), sized(100), t=20.0)
    assert shown_slots(view, *[sized(100), sized(300)] * 5, t=30.0) == pytest.approx(before, rel=0.25)


def test_batches_of_warming_up_tell_what_a_batch_costs_only_while_nothing_else_does() -> None:
    first, later = ConcurrentView(SLO), ConcurrentView(SLO)
    assert shown_slots(first, sized(500), warm_up=True) == pytest.approx(6.0 / 5)
    shown_slots(later, *[sized(500)] * 3)
    assert shown_slots(later, *[sized(500, per_record=0.02)] * 3, t=10.0) != pytest.approx(6.0 / 5)
    known = first.cost
    first.of(replace(window({"job": 1.0}, (sized(500, per_record=0.02),) * 5, t=10.0), warm_up=True))
    assert first.cost is known


def test_batches_without_a_record_say_nothing_about_records() -> None:
    """Records came, but not in the batches that were measured."""
    assert ConcurrentView(SLO).of(window({"job": 3.0}, (sized(0),) * 3)).operators["job"].useful_seconds == 3.0


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


def running(rate: float, records: float | None = None, useful: float | None = None) -> Sample:
    """Two seconds of a batch that has not ended."""
    operators = {"job": OperatorSample(4, records, records, useful)}
    return Sample(t=10.0, seconds=2, operators=operators, input_rate=rate, backlog=1e4)


def test_a_batch_that_still_runs_shows_what_its_records_need_at_the_rate_at_which_they_come() -> None:
    view = ConcurrentView(SLO, utilisation=0.8)
    shown_slots(view, Batch(100, 2.5, 2.0, 2.0), Batch(300, 4.5, 4.0, 4.0), Batch(200, 3.5, 3.0, 3.0))
    shown = view.of(running(rate=900.0)).operators["job"]
    assert shown.records_in == pytest.approx(2 * 900)
    assert shown.useful_seconds == pytest.approx(2 * (1.0 / 5 + 0.01 * 900) / 0.9)
    observation = Observation(
        t=12.0, topology=Topology.chain("job"), slo=SLO, plan=Plan({"job": 4}), execution=Execution.SEQUENTIAL,
        samples=(replace(running(900.0), operators={"job": shown}),),
    )  # fmt: skip
    assert Ds2().decide(observation).plan["job"] == 11


def test_what_a_running_batch_has_shown_of_its_records_stays() -> None:
    view = ConcurrentView(SLO)
    shown_slots(view, Batch(100, 2.5, 2.0, 2.0), Batch(300, 4.5, 4.0, 4.0), Batch(200, 3.5, 3.0, 3.0))
    dear = view.of(running(rate=900.0, records=50.0, useful=2.5)).operators["job"]
    assert (dear.records_in, dear.useful_seconds) == (50.0, 2.5)
    nothing_known = ConcurrentView(SLO).of(running(rate=900.0)).operators["job"]
    assert (nothing_known.records_in, nothing_known.useful_seconds) == (None, None)
