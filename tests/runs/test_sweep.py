"""Runs spread over a real Spark: the same results as in one process, and every run accounted for."""

from __future__ import annotations

import os
import threading
from dataclasses import asdict, replace
from typing import Any

from pyspark.sql import SparkSession

from penstock.cli.workloads import workload
from penstock.model import Decision, Observation
from penstock.policies import POLICIES, Policy
from penstock.runs.contest import Contest, Entrant, Standings
from penstock.runs.simulation import Simulation
from penstock.runs.sweep import spread
from penstock.testbed.session import local_session


def open_spark() -> SparkSession:
    return local_session("local[2]", name="penstock sweep")


def entrant(policy: str) -> Entrant:
    clicks = workload("clicks")
    short = replace(clicks, trace=clicks.trace.first(2400))
    return Entrant(policy, Simulation(short, policy=policy, interval="30 s"))


def without_wall_clock(standings: Standings) -> list[dict[str, Any]]:
    return [{**asdict(result), "decision_ms": None} for results in standings.results for result in results]


def test_a_contest_ends_the_same_on_spark_and_in_one_process() -> None:
    contest = Contest([entrant("ds2"), entrant("autrascale_plus")], seeds=range(2))

    on_spark, here = contest.run(open_spark), contest.run(None)

    assert [len(results) for results in on_spark.results] == [2, 2]
    assert without_wall_clock(on_spark) == without_wall_clock(here)
    assert not on_spark.failures
    assert not on_spark.stopped_early


def test_on_spark_a_run_that_fails_and_one_that_kills_its_process_are_told_from_the_others() -> None:
    def work(number: int) -> int:
        if number == 3:
            os._exit(1)
        return 12 // number

    found = spread(work, range(6), open_spark=open_spark)

    assert found[0].failure == "ZeroDivisionError: integer division or modulo by zero"
    assert "worker exited unexpectedly" in str(found[3].failure)
    assert {number: found[number].result for number in (1, 2, 4, 5)} == {1: 12, 2: 6, 4: 3, 5: 2}


def test_a_sweep_that_is_stopped_on_spark_returns_what_is_there() -> None:
    def work(number: int) -> int:
        if number > 0:
            threading.Event().wait()  # for ever
        return number

    done: list[int] = []
    found = spread(
        work, range(4), open_spark=open_spark, on_progress=done.append, stopped=lambda: max(done, default=0) > 0
    )

    assert {number: outcome.result for number, outcome in found.items()} == {0: 0}


def test_a_sweep_that_is_stopped_in_this_process_returns_what_is_there() -> None:
    done: list[int] = []
    found = spread(str, range(5), open_spark=None, on_progress=done.append, stopped=lambda: len(done) == 2)

    assert [outcome.result for outcome in found.values()] == ["0", "1"]


class Broken(Policy):
    """Fails at its second decision."""

    name, times = "broken", 0

    def decide(self, observation: Observation) -> Decision:
        self.times += 1
        if self.times == 2:
            raise RuntimeError("no idea")
        return POLICIES.create("static").decide(observation)


def test_a_policy_that_breaks_during_a_run_is_a_failure_not_a_result() -> None:
    broken = Entrant("broken", replace(entrant("static").simulation, policy=Broken()))

    standings = Contest([entrant("static"), broken], seeds=(7, 8)).run(None)

    assert [len(results) for results in standings.results] == [2, 0]
    assert [str(failure) for failure in standings.failures] == [
        f"broken on clicks, evening, seed {seed}: BrokenRunError: after 60 s: broken failed: RuntimeError: no idea"
        for seed in (7, 8)
    ]


def test_every_seed_begins_with_a_policy_that_has_learnt_nothing() -> None:
    learner = entrant("autrascale")
    twice, once = Contest([learner], (0, 1)).run(None), Contest([learner], (1,)).run(None)

    assert without_wall_clock(twice)[1:] == without_wall_clock(once)
