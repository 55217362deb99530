"""Which operators share their instances, and where a shuffle stands."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.types import StructType

from penstock.model import Operator, Plan, Topology
from penstock.spark.chains import UNEVEN, Chain, Exchange, Partitioning, chained, chains, united
from penstock.spark.dry_run import DryRun
from penstock.spark.graph import Graph
from penstock.spark.segments import Segment

COLUMNS = ("user", "page")
NONE, COALESCE, SHUFFLE = Exchange.NONE, Exchange.COALESCE, Exchange.SHUFFLE


def tried(**known: Any) -> DryRun:
    """An operator that hands on every column in the partition in which it came, unless told otherwise."""
    given = {"keeps": frozenset(COLUMNS), "keeps_partitions": True, "narrow": True, "passes": True, **known}
    return DryRun(StructType(), StructType(), None, exchanges=0, filters=False, plain=True, **given)


def built(operators: Sequence[tuple[int, tuple[str, ...]]], alone: str = "") -> tuple[Segment, Graph, Plan]:
    """Operators a, b, c ..., each with its parallelism and its key; those that are `alone` do not share."""
    graph, names = Graph("job", source=None), [chr(ord("a") + place) for place in range(len(operators))]  # type: ignore[arg-type]
    before: tuple[str, ...] = ()
    for name, (_, key) in zip(names, operators, strict=True):
        graph.operator(name, lambda frame: frame, after=before, key=key, chain=name not in alone)
        before = (name,)
    plan = Plan({name: instances for name, (instances, _) in zip(names, operators, strict=True)})
    return Segment(tuple(names), (), (), ()), graph, plan


def line(
    *operators: tuple[int, tuple[str, ...]],
    read: Partitioning,
    dry_runs: dict[str, DryRun] | None = None,
    alone: str = "",
    **how: bool,
) -> tuple[Chain, ...]:
    """The chains of operators a, b, c ..., as `built` makes them."""
    segment, graph, plan = built(operators, alone)
    return chains(segment, graph, dict.fromkeys(graph.steps, tried()) | (dry_runs or {}), plan, read, **how)


def shape(made: tuple[Chain, ...]) -> list[tuple[str, Exchange]]:
    return [("".join(chain.operators), chain.exchange) for chain in made]


def test_operators_of_one_parallelism_share_a_stage_with_the_source() -> None:
    assert shape(line((2, ()), (2, ()), (2, ()), read=Partitioning(2))) == [("abc", NONE)]


def test_fewer_instances_than_partitions_read_several_each() -> None:
    assert shape(line((2, ()), (2, ()), read=Partitioning(8))) == [("ab", COALESCE)]


def test_more_instances_than_partitions_need_a_shuffle_once() -> None:
    assert shape(line((4, ()), (4, ()), read=Partitioning(2))) == [("ab", SHUFFLE)]


def test_whole_partitions_are_not_given_out_unevenly() -> None:
    """Three instances with four partitions would be as slow as two."""
    assert shape(line((3, ()), read=Partitioning(4))) == [("a", SHUFFLE)]
    assert shape(line((3, ()), read=Partitioning(32))) == [("a", COALESCE)]


def test_partitions_that_are_not_known_need_a_shuffle() -> None:
    assert shape(line((2, ()), (2, ()), read=Partitioning(None))) == [("ab", SHUFFLE)]


def test_another_parallelism_behind_an_operator_needs_a_shuffle_also_a_smaller_one() -> None:
    """Without one the operator in front would run in as few instances."""
    assert shape(line((4, ()), (2, ()), (2, ()), read=Partitioning(4))) == [("a", NONE), ("bc", SHUFFLE)]


def test_a_key_needs_a_shuffle_once() -> None:
    made = line((2, ()), (2, ("user",)), (2, ()), (2, ("user",)), read=Partitioning(2))
    assert shape(made) == [("a", NONE), ("bcd", SHUFFLE)]
    assert made[1].key == ("user",)
    assert made[1].behind == Partitioning(2, ("user",))


def test_another_key_needs_another_shuffle() -> None:
    made = line((2, ("user",)), (2, ("page",)), (2, ("page", "user")), read=Partitioning(2, ("user",)))
    assert shape(made) == [("a", NONE), ("b", SHUFFLE), ("c", SHUFFLE)]


def test_a_key_that_was_made_anew_needs_a_shuffle() -> None:
    changes = {"a": tried(keeps=frozenset({"page"}))}
    assert shape(line((2, ("user",)), (2, ("user",)), read=Partitioning(2), dry_runs=changes)) == [
        ("a", SHUFFLE),
        ("b", SHUFFLE),
    ]


def test_one_instance_has_all_values_of_every_key() -> None:
    assert shape(line((1, ("user",)), (1, ("page",)), (1, ()), read=Partitioning(4))) == [("abc", COALESCE)]


def test_behind_a_shuffle_inside_an_operator_nobody_knows_the_partitions() -> None:
    made = line((2, ()), (2, ()), (2, ()), read=Partitioning(2), dry_runs={"b": tried(keeps_partitions=False)})
    assert shape(made) == [("ab", NONE), ("c", SHUFFLE)]


def test_what_an_operator_reads_twice_is_held_by_a_shuffle() -> None:
    made = line((2, ()), (2, ()), read=Partitioning(2), dry_runs={"b": tried(rereads=True)})
    assert shape(made) == [("a", NONE), ("b", SHUFFLE)]


def test_an_operator_that_does_not_share_has_a_shuffle_in_front_and_behind() -> None:
    made = line((2, ()), (2, ()), (2, ()), (2, ()), read=Partitioning(2), alone="b")
    assert shape(made) == [("a", NONE), ("b", SHUFFLE), ("cd", SHUFFLE)]
    assert shape(line((2, ()), (2, ()), read=Partitioning(2), alone="a")) == [("a", SHUFFLE), ("b", SHUFFLE)]


def test_without_chaining_there_is_a_shuffle_in_front_of_each() -> None:
    made = line((2, ()), (2, ()), (1, ()), read=Partitioning(2), chaining=False)
    assert shape(made) == [("a", SHUFFLE), ("b", SHUFFLE), ("c", SHUFFLE)]


@pytest.mark.parametrize(("instances", "exchange"), [(1, SHUFFLE), (2, SHUFFLE), (4, NONE), (8, SHUFFLE)])
def test_a_task_that_reads_all_the_time_reads_one_partition(instances: int, exchange: Exchange) -> None:
    assert shape(line((instances, ()), (instances, ()), read=Partitioning(4), live=True)) == [("ab", exchange)]


def test_a_topic_that_is_read_all_the_time_may_get_another_partition() -> None:
    assert shape(line((1, ("user",)), (1, ()), read=Partitioning(1), live=True)) == [("ab", SHUFFLE)]


def test_what_keeps_state_in_a_stream_shuffles_for_it() -> None:
    """In a batch it would leave records where they lie."""
    states = {"a": tried(narrow=False)}
    assert shape(line((2, ()), (2, ()), read=Partitioning(2), dry_runs=states, live=True)) == [
        ("a", NONE),
        ("b", SHUFFLE),
    ]
    assert shape(line((2, ()), (2, ()), read=Partitioning(2), dry_runs=states)) == [("ab", NONE)]


def test_a_union_has_the_partitions_of_all_its_parts() -> None:
    assert united([Partitioning(2), Partitioning(3)]) == Partitioning(5)
    assert united([Partitioning(2), Partitioning(None)]) == Partitioning(None)
    assert united([Partitioning(2, ("user",))]) == Partitioning(2, ("user",))


keys = st.sampled_from([(), ("user",), ("page",), ("user", "page")])
operators = st.lists(st.tuples(st.integers(1, 5), keys), min_size=1, max_size=6)
reads = st.builds(Partitioning, st.none() | st.integers(1, 12), keys)
dry = st.builds(
    tried,
    keeps=st.frozensets(st.sampled_from(COLUMNS)),
    keeps_partitions=st.booleans(),
    rereads=st.booleans(),
)


@given(operators, reads, st.lists(dry, min_size=6, max_size=6))
def test_every_operator_runs_once_in_order_with_its_own_parallelism(
    given: list[tuple[int, tuple[str, ...]]], read: Partitioning, dry_runs: list[DryRun]
) -> None:
    made = line(*given, read=read, dry_runs=dict(zip("abcdef", dry_runs, strict=True)))
    assert "".join(name for chain in made for name in chain.operators) == "abcdef"[: len(given)]
    for chain in made:
        assert {given[ord(name) - ord("a")][0] for name in chain.operators} == {chain.parallelism}
    assert all(chain.exchange is SHUFFLE for chain in made[1:])


@given(operators, reads, st.lists(dry, min_size=6, max_size=6))
def test_equal_values_of_a_key_meet(
    given: list[tuple[int, tuple[str, ...]]], read: Partitioning, dry_runs: list[DryRun]
) -> None:
    """Follow the records: what they are distributed by, as far as nobody has changed it since."""
    tries = dict(zip("abcdef", dry_runs, strict=True))
    lies = read.key
    for chain in line(*given, read=read, dry_runs=tries):
        if chain.exchange is not NONE:
            lies = chain.key if chain.exchange is SHUFFLE else ()
        for name in chain.operators:
            key = given[ord(name) - ord("a")][1]
            assert not key or key == lies or chain.parallelism == 1
            kept = tries[name].keeps_partitions and tries[name].keeps.issuperset(lies)
            lies = lies if kept else ()
        assert chain.behind.key in (lies, ())


@given(operators, reads)
def test_a_shuffle_stands_only_where_something_asks_for_it(
    given: list[tuple[int, tuple[str, ...]]], read: Partitioning
) -> None:
    made = line(*given, read=read)
    for before, chain in pairwise(made):
        assert before.parallelism != chain.parallelism or chain.key
    first = made[0]
    if first.exchange is SHUFFLE and not first.key and read.partitions is not None:
        most = -(-read.partitions // first.parallelism)
        assert read.partitions < first.parallelism or most * first.parallelism > UNEVEN * read.partitions


@given(st.integers(1, 5), st.lists(keys, min_size=1, max_size=6), reads)
def test_without_keys_one_parallelism_is_one_chain(
    instances: int, some: list[tuple[str, ...]], read: Partitioning
) -> None:
    assert len(line(*[(instances, ())] * len(some), read=read)) == 1


@given(operators, reads, st.lists(dry, min_size=6, max_size=6), st.sampled_from(["", "b", "ac"]))
def test_policies_know_the_chains_that_run_in_real_time(
    given: list[tuple[int, tuple[str, ...]]], read: Partitioning, dry_runs: list[DryRun], alone: str
) -> None:
    tries = dict(zip("abcdef", dry_runs, strict=True))
    segment, graph, plan = built(given, alone)
    shared = chained([segment], graph, tries)
    known = Topology.chain(*(Operator(name, chained=name in shared) for name in graph.steps))
    run = chains(segment, graph, tries, plan, read, live=True)
    assert known.chains(plan.parallelism) == tuple(chain.operators for chain in run)
