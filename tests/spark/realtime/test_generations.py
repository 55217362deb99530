"""Who owns which records, whatever happened: numbers only, no Spark runs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from penstock.spark.realtime.generations import Generation, one_again

OFFSETS = st.integers(min_value=0, max_value=60)


@given(old_read=OFFSETS, cut=OFFSETS, new_read=st.none() | OFFSETS, first=OFFSETS)
def test_whatever_a_hand_over_had_come_to_every_record_is_done_at_least_once(
    old_read: int, cut: int, new_read: int | None, first: int
) -> None:
    """The old query has done its own records as far as it read, the new one likewise; the next does what is left."""
    cut = max(cut, first)
    old = Generation(3, {"in": {"0": first}}, {"in": {"0": first}})
    new = Generation(4, {"in": {"0": first}}, {"in": {"0": cut}})
    read = None if new_read is None else {"in": {"0": new_read}}
    next_one = one_again([old, new], [{"in": {"0": old_read}}, read], 5)
    assert next_one.starts is not None
    by_old = set(range(first, min(old_read, cut)))
    by_new = set(range(cut, new_read or 0))
    again = set(range(next_one.starts["in"]["0"], 100))
    assert by_old | by_new | again >= set(range(first, 100))
    if old_read >= cut:
        assert not again & (by_old | by_new)  # the hand-over was all but over: nothing comes twice
    assert min(again) >= first  # what lies before was done by a generation that is no more
    assert next_one.number == 5
    assert not next_one.skips(None)


@given(data=st.data(), queries=st.integers(min_value=2, max_value=4))
def test_so_it_is_for_a_segment_that_was_handed_over_again_meanwhile(data: st.DataObject, queries: int) -> None:
    """Each query has done its own records as far as it has read, or nothing yet."""
    cuts = sorted(data.draw(st.lists(OFFSETS, min_size=queries, max_size=queries)))
    read = [data.draw(OFFSETS), *(data.draw(st.none() | OFFSETS) for _ in cuts[1:])]
    generations = [Generation(n, {"in": {"0": cuts[0]}}, {"in": {"0": cut}}) for n, cut in enumerate(cuts)]
    next_one = one_again(generations, [None if at is None else {"in": {"0": at}} for at in read], queries)
    assert next_one.starts is not None
    done: set[int] = set()
    for cut, at, until in zip(cuts, read, [*cuts[1:], 100], strict=True):
        done |= set(range(cut, min(at or 0, until)))
    again = set(range(next_one.starts["in"]["0"], 100))
    assert done | again >= set(range(cuts[0], 100))
    assert min(again) >= cuts[0]
    first_missing = min(set(range(cuts[0], 100)) - done)
    assert min(again) == first_missing  # and no more comes again than has to


def test_an_old_query_that_has_finished_nothing_does_all_of_it_again() -> None:
    old, new = Generation(), Generation(1, {"in": {"0": 5}}, {"in": {"0": 9}})
    assert one_again([old, new], [None, {"in": {"0": 20}}], 2) is old


def test_a_partition_that_was_added_meanwhile_is_read_from_where_the_new_query_has_come_to() -> None:
    old, new = Generation(), Generation(1, {"in": {"0": 5}}, {"in": {"0": 9}})
    found = one_again([old, new], [{"in": {"0": 12, "1": 4}}, {"in": {"0": 11, "1": 3}}], 2)
    assert found.starts == {"in": {"0": 11, "1": 3}}


def test_records_are_skipped_until_the_query_goes_on_from_beyond_its_first_ones() -> None:
    one = Generation(1, {"in": {"0": 5}}, {"in": {"0": 9}})
    assert one.skips(None)
    assert one.skips({"in": {"0": 8}})
    assert not one.skips({"in": {"0": 9}})
    assert Generation().skips({"in": {"0": 8}}) is False


def test_what_a_generation_owns_ends_where_the_next_one_begins() -> None:
    one = Generation(1, first={"in": {"0": 10}})
    assert one.owned({"in": {"0": 50, "1": 50}}, {"in": {"0": 30}}) == {"in": {"0": 30, "1": 50}}
