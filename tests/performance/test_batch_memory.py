"""Which batches are remembered."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from penstock.model import Batch
from penstock.performance.batch_memory import KEPT_SECONDS, NEWEST, OF_EACH_SIZE, BatchMemory


def batch(records: float, useful_seconds: float = 1.0) -> Batch:
    return Batch(records, 1.0, useful_seconds, 1.0)


@given(sizes=st.lists(st.integers(0, 10**6), max_size=300))
def test_the_newest_are_all_kept_and_of_older_ones_the_newest_of_each_size(sizes: list[int]) -> None:
    memory = BatchMemory()
    for t, records in enumerate(sizes):
        memory.add(batch(records, useful_seconds=t), t)
    kept, older = {int(each.useful_seconds) for each in memory.batches()}, sizes[:-NEWEST]
    assert kept >= set(range(len(older), len(sizes)))
    for size in {records.bit_length() for records in older}:
        of_that_size = [t for t, records in enumerate(older) if records.bit_length() == size]
        assert kept & set(of_that_size) == set(of_that_size[-OF_EACH_SIZE:])


def test_what_is_older_than_a_day_is_forgotten() -> None:
    memory = BatchMemory()
    memory.add(batch(5000), 0.0)
    for _ in range(NEWEST):
        memory.add(batch(10), KEPT_SECONDS)
    assert 5000 in [each.records for each in memory.batches()]
    memory.add(batch(10), KEPT_SECONDS + 1)
    assert 5000 not in [each.records for each in memory.batches()]


def test_after_a_change_only_the_batches_since_then_are_kept() -> None:
    memory = BatchMemory()
    for t in range(300):
        memory.add(batch(2 ** (t % 10)), t)
    memory.keep_only(newest=3)
    assert [each.records for each in memory.batches()] == [2**7, 2**8, 2**9]
