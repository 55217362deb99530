"""A trial that broke is run once more with a policy that has learnt nothing, and is never a data point."""

from __future__ import annotations

from typing import cast

import pytest

from penstock.papers.autrascale_plus.spark import fig11
from penstock.papers.spark.runner import BrokenTrialError, TrialRunner
from penstock.papers.spark.trial import Run, Trial
from penstock.policies.autrascale_plus import AuTraScalePlus
from penstock.spark.failure import JobFailedError
from penstock.testbed.place import LocalPlace


class Scripted(TrialRunner):
    """Does what is written instead of starting Spark; a policy learns something in each run."""

    def __init__(self, *outcomes: Exception | None) -> None:
        self.said: list[str] = []
        super().__init__(cast("LocalPlace", None), self.said.append)
        self._warm.add((fig11.JOB.name, fig11.CALM.execution))
        self._outcomes = list(outcomes)
        self.downtimes: list[float] = []

    def _run(self, trial: Trial) -> Run:
        policy = trial.chosen_policy()
        assert isinstance(policy, AuTraScalePlus)
        self.downtimes.append(policy.downtime)
        policy.downtime = 9.0
        outcome = self._outcomes.pop(0)
        if outcome is not None:
            raise outcome
        return Run(trial, trial.job.pipeline(None, None).topology(), ())  # type: ignore[arg-type]


def test_a_trial_that_broke_is_run_again_by_a_policy_that_knows_nothing_of_it() -> None:
    runner = Scripted(BrokenTrialError("nothing was measured for 31 s"), None)
    runner.run(fig11.trial("autrascale_plus", 100.0))
    assert runner.downtimes == [0.0, 0.0]
    assert runner.said[1].endswith("; it broke before: nothing was measured for 31 s")


def test_one_that_breaks_again_breaks_its_experiment() -> None:
    runner = Scripted(JobFailedError("a task failed"), JobFailedError("a task failed"))
    with pytest.raises(BrokenTrialError, match=r"autrascale_plus broke 2 times; it broke before: a task failed"):
        runner.run(fig11.trial("autrascale_plus", 100.0))
