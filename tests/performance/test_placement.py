"""Where instances go: nothing is lost, nothing moves without need, room is respected while there is any."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.model import InvalidValueError, Observation, Operator, Plan, Slo, Topology, Worker
from penstock.performance.placement import Placement, best_fit, placed, room, round_robin

FOUR = tuple(Worker(name, 2, 4096) for name in "abcd")


def chain(*operators: Operator) -> Topology:
    names = [operator.name for operator in operators]
    return Topology(operators, tuple(pairwise(names)))


WORDS = chain(Operator("spout"), Operator("split"), Operator("count"))


def used(placement: Placement) -> set[str]:
    return {worker for places in placement.values() for worker in places}


def test_best_fit_fills_one_worker_before_it_opens_another() -> None:
    placement = best_fit(WORDS, {"spout": 1, "split": 2, "count": 2}, FOUR)
    assert placement == {"spout": ("a",), "split": ("a", "b"), "count": ("b", "c")}


def test_best_fit_takes_the_worker_in_use_that_is_left_with_the_least_room() -> None:
    job = chain(Operator("big", cpu_cores=1.5), Operator("small", cpu_cores=0.5))
    keep = {"big": ("b",), "small": ("c",)}
    assert best_fit(job, {"big": 1, "small": 2}, FOUR, keep)["small"] == ("c", "b")
    assert best_fit(job, {"big": 2, "small": 1}, FOUR, keep)["big"] == ("b", "c")


def test_memory_counts_as_much_as_cores() -> None:
    """AUTOSCALE's sinks claim 80 % of a core and 512 MB: here memory is what runs out."""
    job = chain(Operator("sink", cpu_cores=0.8, memory_mb=512))
    placement = best_fit(job, {"sink": 3}, (Worker("a", 8, 1024), Worker("b", 8, 1024)))
    assert placement == {"sink": ("a", "a", "b")}


def test_least_room_is_least_of_cores_and_memory_together() -> None:
    job = chain(Operator("fat", cpu_cores=0, memory_mb=3000), Operator("wide", cpu_cores=1))
    keep = {"fat": ("a",), "wide": ("b",)}  # a: 4 cores and 1096 MB free, b: 3 cores and all memory
    workers = (Worker("b", 4, 4096), Worker("a", 4, 4096))
    assert best_fit(job, {"fat": 1, "wide": 2}, workers, keep)["wide"] == ("b", "a")


def test_a_small_worker_in_use_is_preferred_to_a_smaller_idle_one() -> None:
    workers = (Worker("large", 8), Worker("small", 1))
    assert best_fit(WORDS, {"spout": 1, "split": 1, "count": 1}, workers, {"spout": ("large",)}) == {
        "spout": ("large",),
        "split": ("large",),
        "count": ("large",),
    }


def test_what_fits_nowhere_goes_where_most_room_is_and_room_says_so() -> None:
    workers = (Worker("a", 1), Worker("b", 2))
    placement = best_fit(WORDS, {"spout": 2, "split": 1, "count": 1}, workers)
    assert placement == {"spout": ("a", "b"), "split": ("b",), "count": ("a",)}
    free = room(workers, WORDS, placement)
    assert (free["a"].cores, free["b"].cores) == (-1, 0)
    assert free["a"].overcommitted
    assert not free["b"].overcommitted


def test_an_instance_is_released_from_the_worker_with_the_most_room_left() -> None:
    keep = {"spout": ("a",), "split": ("a", "b"), "count": ("c", "c")}
    assert best_fit(WORDS, {"spout": 1, "split": 1, "count": 2}, FOUR, keep)["split"] == ("a",)


def test_of_two_instances_on_one_worker_the_newest_is_released() -> None:
    keep = {"spout": ("a",), "split": ("b", "a", "b"), "count": ("a",)}
    assert best_fit(WORDS, {"spout": 1, "split": 2, "count": 1}, FOUR, keep)["split"] == ("b", "a")


def test_instances_of_a_lost_worker_are_placed_again() -> None:
    keep = {"spout": ("a",), "split": ("gone", "b"), "count": ("b",)}
    placement = best_fit(WORDS, {"spout": 1, "split": 2, "count": 1}, FOUR, keep)
    assert placement == {"spout": ("a",), "split": ("b", "a"), "count": ("b",)}


def test_round_robin_uses_every_worker_evenly() -> None:
    placement = round_robin(WORDS, {"spout": 1, "split": 4, "count": 3}, FOUR)
    assert placement == {"spout": ("a",), "split": ("b", "c", "d", "a"), "count": ("b", "c", "d")}


def test_round_robin_levels_out_what_was_uneven() -> None:
    keep = {"spout": ("a",), "split": ("a", "a"), "count": ("b",)}
    assert round_robin(WORDS, {"spout": 1, "split": 1, "count": 3}, FOUR, keep) == {
        "spout": ("a",),
        "split": ("a",),
        "count": ("b", "c", "d"),
    }


def test_without_workers_there_is_nowhere_to_go() -> None:
    with pytest.raises(InvalidValueError, match="workers must not be empty"):
        best_fit(WORDS, {"spout": 1}, ())


def test_room_is_exact_for_claims_that_are_not_binary_fractions() -> None:
    job = chain(Operator("tick", cpu_cores=0.1))
    assert best_fit(job, {"tick": 10}, (Worker("a", 1), Worker("b", 1))) == {"tick": ("a",) * 10}


def test_a_plan_is_placed_only_where_workers_are_known_and_something_changes() -> None:
    plan = Plan({"spout": 1, "split": 1, "count": 1})
    seen = Observation(t=0, topology=WORDS, slo=Slo(), plan=plan, samples=())
    assert placed(seen, plan.changed(split=2)).placement is None
    known = replace(seen, workers=FOUR)
    assert placed(known, plan) is plan
    assert placed(known, plan.changed(split=2)).placement == {"spout": ("a",), "split": ("a", "b"), "count": ("b",)}


def test_a_plan_placed_afresh_moves_what_could_have_stayed() -> None:
    spread = Plan(
        {"spout": 1, "split": 2, "count": 1}, placement={"spout": ("a",), "split": ("b",) * 2, "count": ("c",)}
    )
    seen = Observation(t=0, topology=WORDS, slo=Slo(), plan=spread, samples=(), workers=FOUR)
    fewer = spread.changed(split=1)
    assert placed(seen, fewer).placement == {"spout": ("a",), "split": ("b",), "count": ("c",)}
    assert placed(seen, fewer, afresh=True).placement == {"spout": ("a",), "split": ("a",), "count": ("b",)}


def test_cores_may_be_claimed_more_than_once_but_memory_may_not() -> None:
    job = chain(Operator("sink", cpu_cores=0.8, memory_mb=512))
    plan = Plan({"sink": 1})

    def used(memory_mb: float, cpu_overcommit: float) -> int:
        workers = tuple(Worker(f"w{i}", 2, memory_mb) for i in range(6))
        seen = Observation(t=0, topology=job, slo=Slo(), plan=plan, samples=(), workers=workers)
        placement = placed(seen, plan.changed(sink=8), cpu_overcommit=cpu_overcommit).placement
        assert placement is not None
        return len(set(placement["sink"]))

    assert (used(4096, 1.0), used(4096, 1.5), used(4096, 1.6)) == (4, 3, 2)
    assert used(1024, 1.6) == 4


claims = st.sampled_from([0.0, 0.2, 0.5, 0.8, 1.0])
machines = st.lists(st.integers(0, 6), min_size=1, max_size=5).map(
    lambda cores: tuple(Worker(f"w{i}", c, 1024 * c) for i, c in enumerate(cores))
)
jobs = st.lists(st.tuples(claims, st.sampled_from([0, 256, 512])), min_size=1, max_size=4).map(
    lambda given: chain(*(Operator(f"o{i}", cpu_cores=c, memory_mb=m) for i, (c, m) in enumerate(given)))
)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), job=jobs, workers=machines, evenly=st.booleans())
def test_every_instance_has_one_worker_and_nothing_moves_without_need(
    data: st.DataObject, job: Topology, workers: tuple[Worker, ...], evenly: bool
) -> None:
    degrees = st.fixed_dictionaries({name: st.integers(1, 6) for name in job.names})
    before, after = data.draw(degrees), data.draw(degrees)
    scheduler = round_robin if evenly else best_fit
    keep = scheduler(job, before, workers)
    then = scheduler(job, after, workers, keep)
    for name in job.names:
        assert len(then[name]) == after[name]
        assert set(then[name]) <= {worker.name for worker in workers}
        stayed = Counter(keep[name]) & Counter(then[name])
        assert stayed.total() == min(before[name], after[name])
    Plan(after, placement=then)


@settings(max_examples=60, deadline=None)
@given(workers=machines, k=st.integers(1, 30))
def test_equal_instances_overcommit_nothing_while_they_fit(workers: tuple[Worker, ...], k: int) -> None:
    job = chain(Operator("only", cpu_cores=0.5, memory_mb=512))
    free = room(workers, job, best_fit(job, {"only": k}, workers))
    slots = sum(int(worker.cores * 2) for worker in workers)
    assert any(where.overcommitted for where in free.values()) == (k > slots)


@settings(max_examples=60, deadline=None)
@given(k=st.integers(1, 24), count=st.integers(1, 6))
def test_best_fit_needs_the_fewest_equal_workers_and_round_robin_is_even(k: int, count: int) -> None:
    job = chain(Operator("only"))
    workers = tuple(Worker(f"w{i}", 4) for i in range(count))
    assert len(used(best_fit(job, {"only": k}, workers))) == min(count, -(-k // 4))
    loads = Counter(round_robin(job, {"only": k}, workers)["only"])
    assert max(loads.values()) - min(loads[worker.name] for worker in workers) <= 1


@settings(max_examples=60, deadline=None)
@given(job=jobs, workers=machines, k=st.integers(1, 5))
def test_room_and_claims_add_up(job: Topology, workers: tuple[Worker, ...], k: int) -> None:
    placement = best_fit(job, dict.fromkeys(job.names, k), workers)
    free = room(workers, job, placement)
    claimed = sum(k * operator.cpu_cores for operator in job.operators)
    assert sum(where.cores for where in free.values()) == pytest.approx(sum(w.cores for w in workers) - claimed)


def test_a_worker_takes_no_more_instances_of_an_operator_than_it_has_slots() -> None:
    """AUTOSCALE's hypothesis H4: no two threads of an operator in one process, and a supervisor has four of them."""
    job = chain(Operator("sink", cpu_cores=0.1, max=20), Operator("next", cpu_cores=0.1, max=20))
    workers = tuple(Worker(name, 2, slots=4) for name in "abc")
    placement = best_fit(job, {"sink": 6, "next": 3}, workers)
    assert placement == {"sink": ("a",) * 4 + ("b",) * 2, "next": ("a",) * 3}


def test_without_a_free_slot_anywhere_the_roomiest_worker_takes_the_instance() -> None:
    job = chain(Operator("sink", cpu_cores=0.1, max=20))
    assert best_fit(job, {"sink": 3}, (Worker("a", 1, slots=1), Worker("b", 2, slots=1))) == {"sink": ("a", "b", "b")}


def test_a_worker_has_at_least_one_slot() -> None:
    with pytest.raises(InvalidValueError, match="worker a: slots"):
        Worker("a", 2, slots=0)


def test_the_smallest_remainder_may_open_an_idle_worker() -> None:
    """Dp-Stream's Algorithm 2 looks at nothing but the room that is left."""
    workers = (Worker("large", 8), Worker("small", 2))
    keep = {"spout": ("large",), "split": (), "count": ()}
    wanted = {"spout": 1, "split": 1, "count": 0}
    assert best_fit(WORDS, wanted, workers, keep)["split"] == ("large",)
    assert best_fit(WORDS, wanted, workers, keep, used_first=False)["split"] == ("small",)
