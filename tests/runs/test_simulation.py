"""A simulation as it is assembled: how far its guards see, how it is stopped, what it refuses."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.cli.workloads import workload
from penstock.model import Cycle, InvalidValueError
from penstock.runs.simulation import Simulation
from penstock.runs.workload import Workload


@pytest.fixture
def oversized() -> Workload:
    """Clicks before the surge, with the plan for its peak."""
    clicks = workload("clicks")
    return replace(clicks, job=replace(clicks.job, start=clicks.job.largest_plan), trace=clicks.trace.first(400.0))


def test_patience_ends_however_short_the_cycles_are(oversized: Workload) -> None:
    # Five minutes are 300 cycles of a second: more than a loop remembers unless a guard asks for it.
    changes: list[Cycle] = []
    simulation = Simulation(oversized, policy="ds2", interval="1 s")

    simulation.run(lambda cycle: changes.append(cycle) if cycle.changed else None)

    assert 300 <= changes[0].t <= 310
    assert changes[0].decision.plan.total < oversized.job.largest_plan.total


def test_a_run_can_be_stopped_after_any_cycle_and_sums_up_what_was_run(oversized: Workload) -> None:
    cycles: list[Cycle] = []

    result = Simulation(oversized, policy="static").run(cycles.append, stopped=lambda: len(cycles) == 2)

    assert len(cycles) == 2
    assert result.seconds == 120.0
    assert result.core_seconds == 120.0 * oversized.job.largest_plan.total


@pytest.mark.parametrize(
    ("interval", "step_seconds", "problem"),
    [
        ("0 s", 1.0, "interval must be positive"),
        ("60 s", 0.0, "step_seconds must be a finite number"),
        ("1 s", 2.0, "step_seconds must not exceed the interval, 1 s"),
        ("1001 s", 0.001, "interval must be at most 1000000 steps of 0.001 s"),
    ],
)
def test_times_that_cannot_be_are_refused_when_it_is_made(
    oversized: Workload, interval: str, step_seconds: float, problem: str
) -> None:
    with pytest.raises(InvalidValueError, match=problem):
        Simulation(oversized, policy="ds2", interval=interval, step_seconds=step_seconds)


def test_a_policy_may_decide_with_every_measurement() -> None:
    """AUTOSCALE measures every 10 s and decides as often, over a window that slides (section IV-B)."""
    cycles: list[Cycle] = []
    linear = workload("linear")
    Simulation(replace(linear, trace=linear.trace.first(120.0)), policy="autoscale").run(cycles.append)
    assert [cycle.t for cycle in cycles] == [10.0 * (i + 1) for i in range(12)]
    assert all(len(cycle.samples) == 1 for cycle in cycles)
