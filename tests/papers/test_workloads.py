"""Every workload that comes with Penstock runs, and accounts for each of its records."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.cli.workloads import workload, workloads
from penstock.model import ReasonCode
from penstock.simulator.cluster import SimulatedCluster
from workload_runs import run

FAILURES = {ReasonCode.POLICY_FAILED, ReasonCode.POLICY_TOO_SLOW, ReasonCode.MISSING_METRICS, ReasonCode.MONITOR_FAILED}


@pytest.mark.parametrize("policy", ["static", "ds2"])
@pytest.mark.parametrize("name", list(workloads()))
def test_ten_minutes_pass_without_a_failure(name: str, policy: str) -> None:
    chosen = workload(name)
    result, cycles = run(replace(chosen, trace=chosen.trace.first(600.0)), policy)

    assert result.seconds == 600.0
    assert len(cycles) == 10
    assert not {cycle.decision.reason.code for cycle in cycles} & FAILURES
    assert 0.0 < result.processed_ratio <= 1.0


@pytest.mark.parametrize("name", list(workloads()))
def test_what_went_in_came_out_waits_or_was_counted_as_lost(name: str) -> None:
    chosen = workload(name)
    cluster = SimulatedCluster(chosen.job, chosen.trace.first(600.0), chosen.slo)
    cluster.advance(300.0)
    cluster.apply(chosen.job.largest_plan)
    cluster.advance(300.0)

    total, state = cluster.total, cluster.state
    assert (total.received == total.processed + state.queue.sum(axis=1) + total.dropped).all()
    assert total.offered.sum() + total.replayed[0] == total.taken.sum() + state.backlog.sum()
    assert total.offered.sum() > 0


@pytest.mark.parametrize("name", list(workloads()))
def test_the_over_provisioned_plan_keeps_up_with_the_usual_load(name: str) -> None:
    chosen = workload(name)
    result, _ = run(chosen, "static", chosen.job.largest_plan.parallelism)

    assert result.processed_ratio > 0.999
    assert result.lost_records == 0
