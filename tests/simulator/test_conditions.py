"""Harder conditions: random arrivals, executors that come and go, state that has to move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from penstock.load.curves import constant
from penstock.model import InvalidValueError, Operator, Plan, Slo, Topology
from penstock.simulator.arrivals import ArrivalProcess, Arrivals
from penstock.simulator.cluster import SimulatedCluster
from penstock.simulator.conditions import SPARK, Conditions
from penstock.simulator.executors import ExecutorPool, Executors
from penstock.simulator.job import Behaviour, Change, Engine, Job

JOB = Job(
    "counting",
    Topology((Operator("count", max=20, stateful=True),)),
    {"count": Behaviour(service_ms=10.0, state_keys=20_000)},
    engine=Engine(change=Change.RESTART, downtime_seconds=2.0),
    start=Plan({"count": 4}),
)
EXECUTORS = Conditions(executors=Executors(cores=4, arrive_seconds=9.0, leave_seconds=4.0))


def cluster(conditions: Conditions, rate: float = 100.0, seconds: float = 600.0, seed: int = 0) -> SimulatedCluster:
    return SimulatedCluster(JOB, constant(rate, seconds), Slo(), seed=seed, conditions=conditions)


# Arrivals ------------------------------------------------------------------------------------------------------------


def offered(arrivals: Arrivals, windows: Sequence[int], seed: int = 0, rate: float = 200.0) -> np.ndarray:
    process, found, step = ArrivalProcess(arrivals, seed), [], 0
    for steps in windows:
        middles = step + np.arange(steps) + 0.5
        found.append(process.counts(np.full((steps, 1), rate), middles)[:, 0])
        step += steps
    return np.concatenate(found)


@pytest.mark.parametrize(
    ("arrivals", "dispersion"), [(Arrivals(), 1.0), (Arrivals(deviation=0.1, burst_seconds=10.0), 1 + 200 * 10 * 0.01)]
)
def test_records_of_a_burst_have_the_index_of_dispersion_that_was_asked_for(
    arrivals: Arrivals, dispersion: float
) -> None:
    counts = offered(arrivals, [200_000]).reshape(-1, 10).sum(axis=1)

    assert counts.mean() == pytest.approx(2000.0, rel=0.01)
    assert counts.var() / counts.mean() == pytest.approx(dispersion, rel=0.05)


def test_arrivals_do_not_depend_on_how_a_run_is_cut_into_windows() -> None:
    bursty = Arrivals(deviation=0.3, burst_seconds=7.0)

    assert offered(bursty, [60, 60]).tolist() == offered(bursty, [13, 100, 7]).tolist()
    assert offered(bursty, [120], seed=1).tolist() != offered(bursty, [120]).tolist()


def test_every_record_that_arrives_at_random_is_accounted_for() -> None:
    run = cluster(Conditions(arrivals=Arrivals(deviation=0.5)))
    run.advance(600.0)

    inside = int(run.state.backlog.sum() + run.state.queue.sum())
    assert int(run.total.offered.sum()) == int(run.total.left[0]) + inside
    assert int(run.total.offered.sum()) == pytest.approx(60_000, rel=0.2)
    assert int(run.total.offered.sum()) != 60_000


# Executors -----------------------------------------------------------------------------------------------------------


def test_a_plan_takes_effect_when_its_executors_serve_and_they_cost_cores_from_their_request() -> None:
    run = cluster(EXECUTORS)
    run.advance(60.0)
    assert run.core_seconds == 60.0 * 4

    run.apply(Plan({"count": 9}))  # three executors instead of one
    assert run.plan() == Plan({"count": 9})
    run.advance(60.0)

    assert run.supply == [(0.0, 4), (69.0, 9)]
    assert run.core_seconds == 60.0 * 4 + 60.0 * 12
    sample = run.read()[-1]
    assert sample.warm_up
    assert (sample.executors, sample.operators["count"].parallelism) == (3, 9)


def test_executors_that_are_released_cost_cores_until_they_are_gone() -> None:
    run = cluster(EXECUTORS)
    run.apply(Plan({"count": 12}))
    run.advance(60.0)
    before = run.core_seconds

    run.apply(Plan({"count": 5}))  # the third one goes
    assert run.leaving() == 1
    run.advance(60.0)

    assert run.leaving() == 0
    assert run.supply[-1] == (60.0, 5)
    assert run.core_seconds - before == 60.0 * 8 + 4.0 * 4


def test_slots_that_an_executor_has_anyway_cost_nothing_and_come_immediately() -> None:
    run = cluster(EXECUTORS)
    run.apply(Plan({"count": 5}))
    run.advance(60.0)
    before = run.core_seconds

    run.apply(Plan({"count": 8}))
    run.advance(60.0)

    assert run.supply[-1] == (60.0, 8)
    assert run.core_seconds - before == 60.0 * 8


def test_a_change_that_waits_can_be_called_off() -> None:
    run = cluster(EXECUTORS)
    run.advance(60.0)
    run.apply(Plan({"count": 8}))
    run.advance(5.0)

    run.apply(Plan({"count": 4}))
    run.advance(55.0)

    assert run.supply == [(0.0, 4)]
    assert run.core_seconds == 60.0 * 4 + 60.0 * 4 + (5.0 + 4.0) * 4, "what was requested leaves like any other"
    assert float(run.total.seconds[1]) == 0.0, "the job was not restarted"


def test_requests_are_not_made_twice_and_the_last_requested_is_released_first() -> None:
    pool = ExecutorPool(Executors(cores=1, arrive_seconds=10.0, leave_seconds=0.0), 1)

    assert pool.require(2, 0.0) == 10.0
    assert pool.require(3, 4.0) == 14.0
    assert pool.require(2, 5.0) == 10.0
    pool.give_back(2, 6.0)
    assert pool.core_seconds(6.0, 12.0) == 12.0
    assert pool.serving == 2


# State ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("seconds_per_key", "silent"), [(0.0, 2), (1e-4, 4), (SPARK.seconds_per_key, 4)])
def test_a_change_is_silent_for_as_long_as_the_state_is_large(seconds_per_key: float, silent: int) -> None:
    run = cluster(Conditions(seconds_per_key=seconds_per_key))
    run.apply(Plan({"count": 8}))
    left = []
    for _ in range(8):
        before = float(run.total.left[0])
        run.advance(1.0)
        left.append(float(run.total.left[0]) - before)

    assert left[:silent] == [0.0] * silent
    assert left[silent] > 0.0


def test_an_operator_that_stays_as_it_is_moves_no_state() -> None:
    pair = replace(
        JOB,
        topology=Topology.chain(Operator("read", max=4), Operator("count", max=20)),
        behaviours={"read": Behaviour(service_ms=0.1), "count": JOB.behaviours["count"]},
        start=Plan({"read": 1, "count": 4}),
    )
    run = SimulatedCluster(pair, constant(100.0, 60.0), Slo(), conditions=Conditions(seconds_per_key=1e-3))
    run.apply(Plan({"read": 2, "count": 4}))
    run.advance(3.0)

    assert float(run.total.left[0]) > 0.0


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: Arrivals(deviation=-0.1), "arrivals: deviation"),
        (lambda: Arrivals(burst_seconds=0.0), "arrivals: burst_seconds"),
        (lambda: Executors(cores=0), "executors: cores"),
        (lambda: Conditions(seconds_per_key=-1.0), "conditions: seconds_per_key"),
    ],
)
def test_conditions_that_cannot_be_are_refused(make: type, field: str) -> None:
    with pytest.raises(InvalidValueError, match=field):
        make()
