from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import Slo
from penstock.model import Batch
from penstock.performance.batch_cost import BatchCost, batch_seconds, fit


def batch(records: int, useful_seconds: float, overhead: float) -> Batch:
    """A batch of one task."""
    return Batch(records, useful_seconds + overhead, useful_seconds, useful_seconds)


@given(
    fixed=st.floats(0, 10),
    per_record=st.floats(1e-4, 0.1),
    sizes=st.lists(st.integers(1, 1000), min_size=3, max_size=50).filter(lambda sizes: len(set(sizes)) > 1),
)
def test_what_batches_cost_is_told_apart_from_what_records_cost(
    fixed: float, per_record: float, sizes: list[int]
) -> None:
    cost = fit([batch(n, fixed + per_record * n, 0.3) for n in sizes])
    assert cost.per_record == pytest.approx(per_record, rel=1e-4, abs=1e-6)
    assert cost.fixed == pytest.approx(fixed, abs=1e-2)
    assert cost.overhead == pytest.approx(0.3)


def test_batches_of_one_size_tell_nothing_apart_so_all_counts_as_the_records() -> None:
    assert fit([batch(20, useful, 0.2) for useful in (1.0, 1.2, 1.1)]).per_record == pytest.approx(0.055)


def test_noise_makes_records_look_dearer_never_cheaper() -> None:
    sizes, noise = [10, 12, 14, 16, 18, 20], [0.3, -0.2, 0.1, -0.3, 0.2, -0.1]
    cost = fit([batch(n, 1 + 0.01 * n + miss, 0.0) for n, miss in zip(sizes, noise, strict=True)])
    assert cost.per_record > 0.01


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
