"""The controller dies in the middle of a run; a new process takes up its store and decides as if nothing had happened.

This file is also the program of that process: `python test_restart.py STORE` prints what it decides as JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from penstock.control.loop import Loop, Settings
from penstock.control.ports import Store
from penstock.model import Cycle, Slo
from penstock.policies import POLICIES
from penstock.simulator.cluster import SimulatedCluster
from penstock.simulator.trace import Trace
from penstock.stores import open_store
from penstock.stores.memory import MemoryStore
from penstock.workloads import workload

JOB = workload("nexmark_q5").job
SLO = Slo(processing_latency="500 ms", event_latency="2 s", drain="3 min")
RATES = Trace("step", (0.0, 2700.0, 2700.0, 3600.0), (20e3, 20e3, 30e3, 30e3))
EVERY = 60.0


def running_job() -> SimulatedCluster:
    return SimulatedCluster(JOB, RATES, SLO, seed=7, measure_seconds=EVERY)


def controller(cluster: SimulatedCluster, store: Store) -> Loop:
    return Loop(
        topology=JOB.topology,
        slo=SLO,
        policy=POLICIES.create("autrascale_plus", {"policy_running_time": 60.0}),
        monitor=cluster,
        actuator=cluster,
        store=store,
        clock=cluster,
        settings=Settings(interval_seconds=EVERY, policy_limit_seconds=None),
    )


def steer(cluster: SimulatedCluster, loop: Loop, until: float = RATES.seconds) -> list[Any]:
    decisions = []
    while cluster.now() < until:
        cluster.advance(EVERY)
        decisions.append(told(loop.run_once()))
    return decisions


def told(cycle: Cycle) -> Any:
    """All that a decision says, as JSON: every figure to its last digit."""
    decision = cycle.decision
    return json.loads(json.dumps([
        cycle.t, dict(decision.plan.parallelism), decision.reason.code, decision.reason.text, dict(decision.figures),
    ]))  # fmt: skip


def carry_on(store: Store) -> list[Any]:
    """The job went on while its controller was dead: bring an equal one to where it is, and steer it from there."""
    cluster = running_job()
    for cycle in store.recent(10_000):
        cluster.advance(EVERY)
        assert cluster.now() == cycle.t
        cluster.read()
        if cycle.changed:
            cluster.apply(cycle.decision.plan)
    loop = controller(cluster, store)
    assert loop.resume() == cluster.plan()
    return steer(cluster, loop)


@cache
def never_interrupted() -> list[Any]:
    cluster = running_job()
    return steer(cluster, controller(cluster, MemoryStore()))


def test_the_run_has_all_that_a_learner_can_forget() -> None:
    phases = {figures.get("phase") for *_, figures in never_interrupted()}
    assert {"bootstrap", "bayesian optimisation", "transfer", "steady"} <= phases


@pytest.mark.parametrize("minute", [9, 52], ids=["while it samples", "while it transfers"])
def test_a_new_process_decides_exactly_as_the_old_one_would_have(minute: int, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'run.db'}"
    cluster, store = running_job(), open_store(url, job="restart")
    before = steer(cluster, controller(cluster, store), until=60.0 * minute)
    store.close()

    process = subprocess.run([sys.executable, __file__, url], capture_output=True, text=True, check=False)

    assert process.returncode == 0, process.stderr
    after = json.loads(process.stdout)
    assert before + after == never_interrupted()
    assert before[-1][4].get("phase") in {"bootstrap", "transfer"}


def test_without_its_memory_it_would_have_decided_otherwise(tmp_path: Path) -> None:
    """Otherwise the test above would prove nothing."""
    cluster, store = running_job(), open_store(f"sqlite:///{tmp_path / 'run.db'}", job="restart")
    before = steer(cluster, controller(cluster, store), until=52 * 60.0)
    store.close()
    forgetful = steer(cluster, controller(cluster, MemoryStore()))

    assert before + forgetful != never_interrupted()


if __name__ == "__main__":
    print(json.dumps(carry_on(open_store(sys.argv[1], job="restart"))))
