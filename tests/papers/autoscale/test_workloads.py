"""The workloads show the figures of AUTOSCALE that they were made for."""

from __future__ import annotations

from itertools import pairwise

import pytest

from penstock.cli.workloads import workload
from penstock.papers.autoscale.workloads import LOW, VERY_HIGH, five_step
from workload_runs import run


@pytest.mark.parametrize("name", ["linear", "diamond", "star"])
def test_expert_degrees_carry_the_stream_of_autoscale_and_minimal_ones_do_not(name: str) -> None:
    chosen = workload(name)
    minimal, _ = run(chosen, "static")
    expert, _ = run(chosen, "static", chosen.job.largest_plan.parallelism)

    assert minimal.processed_ratio < 0.5
    assert expert.processed_ratio == 1.0
    assert expert.violation_ratio == 0.0


def test_the_filter_of_the_advertising_topology_spares_the_slow_processors() -> None:
    minimal, cycles = run(workload("advertising"), "static")

    assert minimal.processed_ratio > 0.99
    at_the_peak = next(cycle for cycle in cycles if cycle.t == 1200.0).samples[-1]
    busy = {name: (operator.useful_seconds or 0.0) / 60.0 for name, operator in at_the_peak.operators.items()}
    assert at_the_peak.seconds == 60.0
    assert 0.8 < busy["ip_processor"] < 0.95
    assert 0.5 < busy["campaign_processor"] < 0.75


def test_nothing_announces_the_peaks_of_the_5_step_stream() -> None:
    stream = five_step()
    points = list(zip(stream.times, stream.rates, strict=True))
    jumps = {t: (before, after) for (t, before), (then, after) in pairwise(points) if t == then}
    assert list(jumps) == [360.0, 720.0, 1080.0, 1440.0]
    assert jumps[360.0] == pytest.approx((LOW, VERY_HIGH), rel=0.15)
