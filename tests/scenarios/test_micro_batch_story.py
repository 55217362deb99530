"""A query of micro-batches under the policy and the guards that a user gets without a word: `predictive`.

The query is the one of a trial on a real cluster: 600 records/s in batches of half a second, back to back, on one slot.
Nearly all that a batch takes is fixed.
"""

from __future__ import annotations

import pytest

from micro_batch_query import TEN_SECONDS, MicroBatchQuery, cycles_of, steered
from penstock.control.assembly import Steering
from penstock.model import Cycle
from penstock.performance.batch_cost import BatchCost
from stories import mean

MOSTLY_FIXED = BatchCost(fixed=0.45, per_record=6e-5, overhead=0.045)
ONLY_RECORDS = BatchCost(fixed=0.0, per_record=8e-3, overhead=0.13)
TRUTH = MOSTLY_FIXED.slots(600, 5.0)
EVERY_30_SECONDS = Steering(interval="30 s")


def query(
    cost: BatchCost, slots: int, noise: float = 0.1, seed: int = 0, rate: float = 600.0, records: float | None = None
) -> MicroBatchQuery:
    """It begins with a batch as long as those that follow, unless there are records that waited."""
    alike = rate * (cost.overhead + cost.fixed / slots) / (1 - cost.per_record * rate / slots)
    return MicroBatchQuery(lambda t: cost, lambda t: rate, slots, noise, seed, alike if records is None else records)


def plans(cycles: list[Cycle]) -> list[int]:
    return [cycle.decision.plan["job"] for cycle in cycles]


def missed(cycles: list[Cycle]) -> int:
    return sum(bool(TEN_SECONDS.violations(sample)) for cycle in cycles for sample in cycle.samples)


@pytest.mark.parametrize("noise", [0.0, 0.02, 0.1, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_at_a_steady_load_far_inside_its_target_it_stays_as_it_is(noise: float, seed: int) -> None:
    job = query(MOSTLY_FIXED, slots=1, noise=noise, seed=seed)
    cycles = cycles_of(job, steered(job, EVERY_30_SECONDS), 3600)
    assert abs(TRUTH - 0.13) < 0.005
    assert sum(batch.useful_seconds for batch in job.ended) / job.t > 0.9  # of its one slot
    assert mean(cycles[-1].samples[-1].event_latency_ms) < 1_100
    assert set(plans(cycles)) == {1}
    assert {cycle.decision.wanted["job"] for cycle in cycles} == {1}


@pytest.mark.parametrize("seed", range(3))
def test_what_the_first_batches_told_is_still_known_after_an_hour(seed: int) -> None:
    """A query that starts on what waited has one large batch, and then thousands that are alike."""
    job = query(MOSTLY_FIXED, slots=1, seed=seed, records=6_000)
    loop = steered(job, EVERY_30_SECONDS)
    cycles_of(job, loop, 3600)
    assert len(job.ended) > 5_000
    assert loop.view is not None
    assert loop.view.load is not None
    assert loop.view.load.slots == pytest.approx(TRUTH, rel=0.3)  # that one batch is as noisy as any
    assert loop.view.load.high < 2 * TRUTH


@pytest.mark.parametrize(("noise", "at_most"), [(0.0, 0.8 * 0.68), (0.02, 0.2), (0.1, 0.2), (0.3, 0.2)])
@pytest.mark.parametrize("seed", range(3))
def test_in_monitor_mode_a_light_load_does_not_look_like_a_heavy_one(noise: float, at_most: float, seed: int) -> None:
    """A load that would fill 3 % of one executor. Its tiny batches keep 65 % of one busy: that is the most it can need.

    Batches that do not differ at all cannot tell: policies are then shown that 65 % with their own reserve in it.
    """
    light = BatchCost(fixed=0.15, per_record=1e-5, overhead=0.18)
    job = query(light, slots=3, noise=noise, seed=seed, rate=20.0)
    loop = steered(job, Steering(interval="30 s", mode="monitor"))
    last = cycles_of(job, loop, 1800)[-1]
    assert loop.view is not None
    assert loop.view.load is not None
    assert light.slots(20.0, 5.0) == pytest.approx(0.031, abs=0.001)
    assert sum(batch.useful_seconds for batch in job.ended) / job.t == pytest.approx(0.65, abs=0.03)
    assert loop.view.load.low <= light.slots(20.0, 5.0) * 1.05
    assert light.slots(20.0, 5.0) <= loop.view.load.high
    assert loop.view.load.to_plan_for(0.8) <= at_most
    assert (job.slots, last.decision.wanted["job"]) == (3, 1)


@pytest.mark.parametrize("slots", [6, 7, 10])
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_a_job_whose_cost_is_all_in_its_records_never_shrinks_below_its_need(slots: int, noise: float) -> None:
    """It needs 4.93 slots, and its batches are alike: that records cost nothing is as possible as this."""
    job = query(ONLY_RECORDS, slots=slots, noise=noise)
    cycles = cycles_of(job, steered(job, EVERY_30_SECONDS), 7200)
    assert ONLY_RECORDS.slots(600, 5.0) == pytest.approx(4.93, abs=0.01)
    assert missed(cycles) == 0
    assert min(plans(cycles)) >= 5


@pytest.mark.parametrize("noise", [0.02, 0.1, 0.2])
def test_a_job_that_is_far_too_large_shrinks_to_what_it_needs(noise: float) -> None:
    """It needs 1.24 slots and has 10 that are mostly busy. Each step makes larger batches, and they tell more.

    A plan that may be enough is tried, as changing back costs nothing; at most one cycle of 240 may be late for it.
    """
    cost = BatchCost(fixed=3.7, per_record=8e-4, overhead=0.1)
    job = query(cost, slots=10, noise=noise)
    cycles = cycles_of(job, steered(job, EVERY_30_SECONDS), 7200)
    assert sum(batch.useful_seconds for batch in job.ended[:50]) / sum(b.seconds for b in job.ended[:50]) > 7
    assert cost.slots(600, 5.0) == pytest.approx(1.24, abs=0.01)
    assert plans(cycles)[-1] == 2
    assert missed(cycles) <= 1


@pytest.mark.parametrize("seed", range(3))
def test_records_that_suddenly_cost_five_times_more_are_met_at_the_next_decision(seed: int) -> None:
    """1.9 slots instead of 0.4: in the first cycle after the change the job has grown as far as it must."""
    before, after = BatchCost(0.2, 6e-4, 0.1), BatchCost(0.2, 3e-3, 0.1)
    job = query(before, slots=1, seed=seed, records=3_000)
    loop = steered(job, EVERY_30_SECONDS)
    cycles_of(job, loop, 1800)
    assert job.slots == 1
    job.cost = lambda t: after
    (noticed,) = cycles_of(job, loop, 1)
    assert after.slots(600, 5.0) == pytest.approx(1.88, abs=0.01)
    assert noticed.decision.plan["job"] >= 2
