"""The controller dies in the middle of a run; a new process takes up its store and decides as if nothing had happened.

This file is also the program of that process: `python test_restart.py RUN STORE` prints what it decides as JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from penstock.cli.workloads import workload
from penstock.control.loop import Loop, Settings
from penstock.control.ports import Store
from penstock.load.curves import constant
from penstock.load.trace import Trace
from penstock.model import Cycle, Slo
from penstock.policies import POLICIES
from penstock.simulator.cluster import SimulatedCluster
from penstock.stores import open_store
from penstock.stores.memory import MemoryStore


@dataclass(frozen=True)
class Run:
    """A job that AuTraScale+ steers every `every` seconds, once it has been left alone for `asleep` of them."""

    workload: str
    trace: Trace
    slo: Slo
    every: float
    asleep: float = 0.0
    policy_running_time: float = 0.0

    def job(self) -> SimulatedCluster:
        cluster = SimulatedCluster(
            workload(self.workload).job, self.trace, self.slo, seed=7, measure_seconds=self.every
        )  # fmt: skip
        cluster.advance(self.asleep)
        return cluster

    def controller(self, cluster: SimulatedCluster, store: Store) -> Loop:
        return Loop(
            topology=cluster.job.topology,
            slo=self.slo,
            policy=POLICIES.create("autrascale_plus", {"policy_running_time": self.policy_running_time}),
            monitor=cluster,
            actuator=cluster,
            store=store,
            clock=cluster,
            settings=Settings(interval_seconds=self.every, policy_limit_seconds=None),
        )

    def steer(self, cluster: SimulatedCluster, loop: Loop, until: float | None = None) -> list[Any]:
        decisions = []
        while cluster.now() < (self.trace.seconds if until is None else until):
            cluster.advance(self.every)
            decisions.append(as_json(loop.run_once()))
        return decisions

    def carry_on(self, store: Store) -> list[Any]:
        """The job went on while its controller was dead: bring an equal one to where it is, and steer it from there."""
        cluster = self.job()
        for cycle in store.recent(10_000):
            cluster.advance(self.every)
            assert cluster.now() == cycle.t
            cluster.read()
            if cycle.changed:
                cluster.apply(cycle.decision.plan)
        loop = self.controller(cluster, store)
        assert loop.resume() == cluster.plan()
        return self.steer(cluster, loop)


RUNS = {
    "search": Run(
        "nexmark_q5",
        Trace("step", (0.0, 2700.0, 2700.0, 3600.0), (20e3, 20e3, 30e3, 30e3)),
        Slo(processing_latency="500 ms"),
        every=60.0,
        policy_running_time=60.0,
    ),
    "drain": Run(
        "wordcount",
        constant(160e3, 900.0),
        Slo(processing_latency="700 ms", event_latency="1 s", drain="4 min"),
        every=30.0,
        asleep=300.0,
    ),
}


def as_json(cycle: Cycle) -> Any:
    """All that a decision says, as JSON: every figure to its last digit."""
    decision = cycle.decision
    return json.loads(json.dumps([
        cycle.t, dict(decision.plan.parallelism), decision.reason.code, decision.reason.text, dict(decision.figures),
    ]))  # fmt: skip


def phase(decision: Any) -> str | None:
    *_, figures = decision
    return None if figures.get("phase") is None else str(figures["phase"])


@cache
def never_interrupted(run: str) -> list[Any]:
    cluster = RUNS[run].job()
    return RUNS[run].steer(cluster, RUNS[run].controller(cluster, MemoryStore()))


@pytest.mark.parametrize(
    ("run", "dies_at", "doing"),
    [
        ("search", 540.0, "bootstrap"),
        ("search", 3120.0, "transfer"),
        ("drain", 450.0, "event latency optimisation"),
    ],
)
def test_a_new_process_decides_exactly_as_the_old_one_would_have(
    run: str, dies_at: float, doing: str, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 'run.db'}"
    cluster, store = RUNS[run].job(), open_store(url, job=run)
    before = RUNS[run].steer(cluster, RUNS[run].controller(cluster, store), until=dies_at)
    store.close()
    assert phase(before[-1]) == doing

    process = subprocess.run([sys.executable, __file__, run, url], capture_output=True, text=True, check=False)

    assert process.returncode == 0, process.stderr
    assert before + json.loads(process.stdout) == never_interrupted(run)


@pytest.mark.parametrize(("run", "dies_at"), [("search", 3120.0), ("drain", 450.0)])
def test_without_its_memory_it_would_have_decided_otherwise(run: str, dies_at: float) -> None:
    """Otherwise the test above would prove nothing."""
    cluster = RUNS[run].job()
    before = RUNS[run].steer(cluster, RUNS[run].controller(cluster, MemoryStore()), until=dies_at)
    forgetful = RUNS[run].steer(cluster, RUNS[run].controller(cluster, MemoryStore()))

    assert before + forgetful != never_interrupted(run)


if __name__ == "__main__":
    print(json.dumps(RUNS[sys.argv[1]].carry_on(open_store(sys.argv[2], job=sys.argv[1]))))
