"""What is learnt from a log is kept, and `predictive` begins with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from made_up_log import MadeUpJob, daily
from penstock.advise.ask import Ask, advise_log
from penstock.advise.knowledge import POLICY, Learner
from penstock.advise.log_files import EventLog
from penstock.control.assembly import Steering, assemble
from penstock.model import Execution, Operator, Slo, Topology
from penstock.performance.batch_model import BatchModel
from penstock.policies.predictive import Predictive
from penstock.spark.measure.query_monitor import JOB
from penstock.stores import open_store

SLO = Slo(event_latency="30 s")
JOB_TOPOLOGY = Topology((Operator(JOB, max=64),))
ASK = Ask(SLO, (("static", "static", {}),), oracle=False, learns=True)


def begun(store: str, name: str) -> Predictive:
    """The policy of a loop that begins beside the query of that name."""
    policy, idle = Predictive(), Learner(SLO)
    loop = assemble(
        Steering(mode="monitor"), topology=JOB_TOPOLOGY, slo=SLO, monitor=idle, actuator=idle, clock=idle,
        store=open_store(store, name), execution=Execution.SEQUENTIAL, policy=policy,
    )  # fmt: skip
    loop.resume()
    return policy


def test_predictive_begins_with_what_a_log_taught_it(tmp_path: Path) -> None:
    job = MadeUpJob(rate=daily(4000), seconds=2 * 3600)
    (advice,) = advise_log(ASK, EventLog(job.write(tmp_path / "log"))).queries
    assert advice.knowledge is not None
    assert advice.knowledge.job == "clicks"
    windows = [window for cycle in advice.knowledge.cycles for window in cycle.samples]
    assert [window.waiting for window in windows] == [window.backlog for window in windows]  # nothing counts twice
    url = f"sqlite:///{tmp_path / 'learnt.db'}"
    advice.knowledge.keep(url)
    policy = begun(url, "clicks")
    assert isinstance(policy.model, BatchModel)
    assert policy.model.knows(JOB_TOPOLOGY)
    assert policy.model.cost is not None
    assert policy.model.cost.best.per_record == pytest.approx(0.001, rel=0.05)
    assert policy.model.windows > 100
    assert policy.forecast.learnt_until is not None
    assert begun(url, "another").model is None


def test_what_is_kept_again_takes_the_place_of_what_was(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'learnt.db'}"
    for per_record in (0.001, 0.002):
        job = replace(MadeUpJob(rate=daily(4000), seconds=3600), per_record=per_record)
        (advice,) = advise_log(ASK, EventLog(job.write(tmp_path / "log"))).queries
        assert advice.knowledge is not None
        advice.knowledge.keep(url)
    policy = begun(url, "clicks")
    assert isinstance(policy.model, BatchModel)
    assert policy.model.cost is not None
    assert policy.model.cost.best.per_record == pytest.approx(0.002, rel=0.05)


def test_a_log_of_seconds_teaches_nothing(tmp_path: Path) -> None:
    (advice,) = advise_log(ASK, EventLog(MadeUpJob(seconds=25).write(tmp_path / "log"))).queries
    assert advice.knowledge is None


def test_the_policy_that_learns_is_ours() -> None:
    assert Predictive.name == POLICY
