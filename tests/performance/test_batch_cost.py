"""What a batch costs, told apart from its records as far as batches tell."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from penstock import Slo
from penstock.model import Batch
from penstock.performance.batch_cost import BatchCost, Load, batch_seconds, fit, least_load

TRIAL = BatchCost(fixed=0.37, per_record=8e-5, overhead=0.13)
"""A query of a trial: 600 records/s in batches of half a second."""


def batch(records: float, useful_seconds: float, overhead: float) -> Batch:
    """A batch of one task."""
    return Batch(records, useful_seconds + overhead, useful_seconds, useful_seconds)


def true_batch(cost: BatchCost, records: float) -> Batch:
    return batch(records, cost.of(records), cost.overhead)


any_batches = st.lists(
    st.builds(
        batch,
        records=st.one_of(st.integers(0, 10**9), st.floats(0, 1e9)),
        useful_seconds=st.floats(0, 1e6),
        overhead=st.floats(0, 1e3),
    ),
    min_size=1,
    max_size=40,
)
rates = st.floats(0, 1e6)
lengths = st.floats(0.01, 1e4)


# Laws ------------------------------------------------------------------------------------------------------------


@given(batches=any_batches, rate=rates, length=lengths)
def test_no_part_is_negative_or_not_a_number_and_the_best_estimate_lies_between_the_ends(
    batches: list[Batch], rate: float, length: float
) -> None:
    estimate = fit(batches)
    for cost in (estimate.best, estimate.cheap, estimate.dear):
        assert all(math.isfinite(part) and part >= 0 for part in (cost.fixed, cost.per_record, cost.overhead))
    assert estimate.cheap.per_record <= estimate.best.per_record <= estimate.dear.per_record
    load = estimate.load(rate, length)
    assert 0 <= load.low <= load.high < math.inf
    assert load.low * (1 - 1e-9) <= load.slots <= load.high * (1 + 1e-9)
    assert math.isfinite(load.known_within)
    assert all(math.isfinite(estimate.miss(each)) for each in batches if each.useful_seconds < 1e5)


@given(batches=any_batches, rates=st.tuples(rates, rates), length=lengths, utilisation=st.floats(0.1, 1))
def test_more_records_never_need_less(
    batches: list[Batch], rates: tuple[float, float], length: float, utilisation: float
) -> None:
    lesser, greater = (fit(batches).load(rate, length) for rate in sorted(rates))
    assert lesser.slots <= greater.slots
    assert lesser.low <= greater.low
    assert lesser.high <= greater.high
    assert lesser.to_plan_for(utilisation) <= greater.to_plan_for(utilisation)


@given(batches=any_batches, seed=st.integers(0, 100))
def test_the_order_of_batches_does_not_matter_to_the_last_bit(batches: list[Batch], seed: int) -> None:
    shuffled = random.Random(seed).sample(batches, len(batches))
    assert fit(shuffled) == fit(batches)


@given(
    fixed=st.floats(0.01, 10),
    per_record=st.floats(1e-4, 0.1),
    small=st.integers(1, 1000),
    times=st.floats(3, 100),
    each=st.integers(10, 40),
)
def test_two_sizes_without_noise_tell_fixed_and_per_record_exactly(
    fixed: float, per_record: float, small: int, times: float, each: int
) -> None:
    """Unless one of the two is next to nothing: then the mean of what is possible is a little more than that."""
    truth, large = BatchCost(fixed, per_record, 0.3), math.ceil(small * times)
    assume(fixed / truth.of(small) > 0.2 and per_record * large / truth.of(large) > 0.2)
    best = fit([true_batch(truth, small), true_batch(truth, large)] * each).best
    assert (best.fixed, best.per_record, best.overhead) == pytest.approx((fixed, per_record, 0.3), rel=1e-3)


@given(
    fixed=st.floats(0, 10),
    per_record=st.floats(0, 0.1),
    sizes=st.lists(st.integers(1, 1000), min_size=1, max_size=50),
    rate=st.floats(1, 1000),
)
def test_without_noise_the_truth_is_never_outside_the_ends(
    fixed: float, per_record: float, sizes: list[int], rate: float
) -> None:
    truth = BatchCost(fixed, per_record, 0.3)
    load = fit([true_batch(truth, n) for n in sizes]).load(rate, 5.0)
    assert load.low * (1 - 1e-6) <= truth.slots(rate, 5.0) <= load.high * (1 + 1e-6) + 1e-12


@given(batches=any_batches, length=lengths)
def test_batches_of_one_size_leave_no_doubt_about_batches_of_that_size(batches: list[Batch], length: float) -> None:
    records = batches[0].records
    assume(records >= 1)
    alike = [Batch(records, each.seconds, each.useful_seconds, each.stage_seconds) for each in batches]
    load = fit(alike).load(records / length, length)
    assert load.low == pytest.approx(load.high, rel=1e-6)


# The trial ---------------------------------------------------------------------------------------------------------


def test_a_hundred_batches_that_are_alike_do_not_make_a_light_load_a_heavy_one() -> None:
    """Charged to the records, it would be 0.74 slots; the truth is 0.13."""
    load = fit([true_batch(TRIAL, 330)] * 100).load(600, 5.0)
    assert TRIAL.slots(600, 5.0) == pytest.approx(0.125, abs=0.001)
    assert (load.low, load.slots, load.high) == pytest.approx((0.081, 0.41, 0.74), abs=0.005)
    assert load.known_within == pytest.approx(0.8, abs=0.01)


def test_two_larger_ones_among_them_are_enough_to_tell() -> None:
    load = fit([true_batch(TRIAL, 330)] * 100 + [true_batch(TRIAL, 3000)] * 2).load(600, 5.0)
    assert load.slots == pytest.approx(0.125, rel=0.01)
    assert load.known_within < 0.05


@pytest.mark.parametrize("seed", range(5))
def test_batches_that_differ_by_a_tenth_tell_something(seed: int) -> None:
    chance = random.Random(seed)
    batches = [batch(n, TRIAL.of(n) * chance.gauss(1, 0.1), 0.13) for n in (chance.gauss(330, 33) for _ in range(100))]
    load = fit(batches).load(600, 5.0)
    assert load.low < 0.125 < load.high < 0.55


def test_ten_slow_batches_that_are_huge_do_not_hide_what_small_ones_cost() -> None:
    """In a surge batches are a thousand times as large; a miss of a tenth is then more than a small batch costs."""
    chance = random.Random(7)
    sizes = [330] * 90 + [330_000] * 10
    estimate = fit([batch(n, TRIAL.of(n) * chance.gauss(1, 0.1), 0.13) for n in sizes])
    assert estimate.best.fixed == pytest.approx(TRIAL.fixed, rel=0.1)
    assert estimate.best.per_record == pytest.approx(TRIAL.per_record, rel=0.1)


def test_three_batches_on_a_line_do_not_prove_that_there_is_no_noise() -> None:
    """Times are in milliseconds: 301 records may well seem to cost no more than 300."""
    load = fit([batch(n, 0.4, 0.1) for n in (300, 301, 302)]).load(600, 5.0)
    assert load.known_within > 0.7


# What it says ------------------------------------------------------------------------------------------------------


def test_a_batch_contradicts_only_beyond_all_that_is_possible() -> None:
    alike = fit([true_batch(TRIAL, 330)] * 100)
    assert alike.miss(true_batch(TRIAL, 330)) == pytest.approx(0.0, abs=1e-6)
    assert alike.miss(true_batch(TRIAL, 3000)) == 0.0  # news, but no contradiction
    assert alike.miss(batch(330, 5 * TRIAL.of(330), 0.1)) > 10
    assert alike.miss(batch(330, TRIAL.of(330) / 5, 0.1)) < -5
    assert abs(alike.miss(batch(330, 1.1 * TRIAL.of(330), 0.1))) <= 1.0 + 1e-6


def test_how_sure_it_is_stands_in_a_sentence() -> None:
    alike = fit([true_batch(TRIAL, 330)] * 100).load(600, 5.0)
    assert str(alike).startswith("the load fills 0.08 to 0.74 slots: the batches were too much alike")
    assert str(Load(slots=2.0, low=1.9, high=2.1)) == "the load fills 2.00 slots, known to within 5 %"


def test_the_least_load_is_what_batches_need_whatever_is_fixed_of_them() -> None:
    long, short = [batch(3000, 6.0, 0.0)], [batch(100, 2.0, 0.0)]
    assert least_load(long, rate=500, batch_seconds=5.0) == pytest.approx(500 * 0.002)
    assert least_load(short, rate=100, batch_seconds=5.0) == pytest.approx(2.0 / 5)
    assert least_load([batch(0, 1.0, 0.0)], rate=100, batch_seconds=5.0) == pytest.approx(0.2)


def test_the_slots_needed_make_a_batch_just_fit() -> None:
    cost, rate, length = BatchCost(fixed=0.6, per_record=0.01, overhead=0.4), 200.0, 5.0
    slots = cost.slots(rate, length)
    assert cost.overhead + (cost.fixed + cost.per_record * rate * length) / slots == pytest.approx(length)


def test_tiny_batches_back_to_back_need_few_slots_however_busy_they_look() -> None:
    # As measured on three slots: 12 records in each batch of 0.6 s, which held the slots for 1.1 s.
    cost = BatchCost(fixed=1.0, per_record=0.01, overhead=0.1)
    assert (1.0 + 0.01 * 12) / 0.6 > 1.8
    assert cost.slots(rate=20, batch_seconds=5) < 0.5


@pytest.mark.parametrize(
    ("slo", "trigger_seconds", "allowed"),
    [
        (Slo(event_latency="10 s"), 0.0, 5.0),
        (Slo(event_latency="10 s"), 8.0, 8.0),
        (Slo(processing_latency="2 s"), 0.0, 2.0),
        (Slo(processing_latency="2 s", event_latency="3 s"), 0.0, 1.5),
        (Slo(), 0.0, 2.5),
    ],
)
def test_batches_may_take_what_the_targets_allow(slo: Slo, trigger_seconds: float, allowed: float) -> None:
    assert batch_seconds(slo, trigger_seconds) == allowed
