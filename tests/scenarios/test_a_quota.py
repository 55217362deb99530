"""A job that may not have all the slots that its load would need: its policy knows, and plans with what there is."""

from __future__ import annotations

from dataclasses import replace

from penstock.cli.workloads import workload
from penstock.load.curves import surge
from penstock.model import Cycle
from penstock.runs.simulation import Simulation

SLOTS = 24


def test_a_policy_that_knows_its_quota_asks_for_no_more() -> None:
    """A plan that is cut is one that nobody has weighed."""
    job, cycles = workload("clicks"), list[Cycle]()
    job = replace(job, trace=surge(0.3, 1.0, 14_400.0).scaled(job.trace.peak))
    Simulation(job, policy="predictive", guards={"quota": {"slots": SLOTS}}).run(cycles.append)
    assert max(cycle.before.total for cycle in cycles) == SLOTS
    assert not [each for each in cycles if "quota" in {verdict.guard for verdict in each.decision.verdicts}]
