"""A simulation as it is assembled: how far its guards see, how it is stopped, what it refuses."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.cli.workloads import workload
from penstock.guards import chain
from penstock.model import Cycle, InvalidValueError
from penstock.policies import POLICIES
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
    simulation = Simulation(oversized, POLICIES.create("ds2"), guards=chain(), decide_seconds=1.0)

    simulation.run(lambda cycle: changes.append(cycle) if cycle.changed else None)

    assert 300 <= changes[0].t <= 310
    assert changes[0].decision.plan.total < oversized.job.largest_plan.total


def test_a_run_can_be_stopped_after_any_cycle_and_sums_up_what_was_run(oversized: Workload) -> None:
    heard: list[Cycle] = []

    result = Simulation(oversized, POLICIES.create("static")).run(heard.append, stopped=lambda: len(heard) == 2)

    assert len(heard) == 2
    assert result.seconds == 120.0
    assert result.core_seconds == 120.0 * oversized.job.largest_plan.total


@pytest.mark.parametrize(
    ("decide_seconds", "step_seconds", "problem"),
    [
        (0.0, 1.0, "decide_seconds must be a finite number"),
        (60.0, 0.0, "step_seconds must be a finite number"),
        (1.0, 2.0, "step_seconds must not exceed decide_seconds, 1"),
        (1001.0, 0.001, "decide_seconds must be at most 1000000 steps of 0.001 s"),
    ],
)
def test_times_that_cannot_be_are_refused_when_it_is_made(
    oversized: Workload, decide_seconds: float, step_seconds: float, problem: str
) -> None:
    with pytest.raises(InvalidValueError, match=problem):
        Simulation(oversized, POLICIES.create("ds2"), decide_seconds=decide_seconds, step_seconds=step_seconds)
