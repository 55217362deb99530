"""A job may begin with records that wait already."""

from __future__ import annotations

import pytest

from penstock.cli.workloads import workload
from penstock.model import Cycle, InvalidValueError
from penstock.runs.simulation import Simulation


def test_what_waits_at_the_beginning_is_worked_off_and_is_as_old_as_the_run() -> None:
    cycles: list[Cycle] = []
    job = workload("yahoo_open_store")
    still = Simulation(job, policy="static", policy_options={"kind": "over_provisioned"}, backlog=6_000_000)
    still.run(cycles.append, stopped=lambda: len(cycles) == 3)
    first, *_, last = (cycle.samples[-1] for cycle in cycles)

    assert first.job_input_rate == pytest.approx(30e3)  # it is not offered a second time
    assert first.backlog == pytest.approx(6e6 + 60 * (30e3 - (first.throughput or 0)), rel=0.02)
    assert last.event_latency_ms is not None
    assert 60e3 < (last.event_latency_ms.mean or 0) < 180e3


def test_a_negative_backlog_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="backlog"):
        Simulation(workload("yahoo"), policy="static", backlog=-1)
