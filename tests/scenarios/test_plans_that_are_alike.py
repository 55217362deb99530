"""A load that grows slowly passes rates at which several plans are as good as each other: they must not take turns."""

from __future__ import annotations

from dataclasses import replace

from penstock.cli.workloads import workload
from penstock.load.trace import Trace
from penstock.runs.simulation import Simulation


def test_a_job_goes_to_another_plan_only_if_that_saves_something() -> None:
    """By the cheapest plan of each minute it changed 19 times within the two hours, each time for one slot or none."""
    job = workload("twitter_complex")
    low, high = 0.6 * job.trace.peak, 0.95 * job.trace.peak
    slowly = Trace("slowly", (0.0, 1800.0, 9000.0), (low, low, high))
    result = Simulation(replace(job, trace=slowly), policy="predictive").run()
    assert result.rescales <= 8
    assert result.violation_ratio < 0.005
