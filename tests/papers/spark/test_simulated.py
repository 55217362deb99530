"""Trials in the simulator: the twin of a job that ran on Spark."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.model import OperatorSample
from penstock.papers.autrascale.spark import fig5
from penstock.papers.spark.simulated import NothingMeasuredError, simulated, twin_of
from spark_trials import story, window, windows

ONES, GROWN = (1, 1, 1, 1), (1, 2, 6, 5)


def test_a_twin_takes_the_service_times_of_calm_windows_and_the_same_trials() -> None:
    """In the window with a backlog operators look slow and records wait long: the twin must not learn from them."""
    trial = fig5.trial("ds2")
    calm = windows(trial, GROWN, 10, 200)
    slow = {name: OperatorSample(1, 180, 180, 9.0) for name in trial.job.service_ms}
    busy = [replace(window(t, trial, ONES, 90, backlog=2000, latency_ms=8e3), operators=slow) for t in (4, 6)]
    run = story(trial, (ONES, busy), (GROWN, calm))
    job = twin_of([run])
    assert {name: b.service_ms for name, b in job.behaviours.items()} == trial.job.service_ms
    (same,) = simulated([run])
    assert same.trial is trial
    assert same.plans[0] == ONES
    assert fig5.has_arrived(same.cycles)


def test_a_twin_of_a_job_of_which_nothing_was_measured_is_refused() -> None:
    trial = fig5.trial("ds2")
    silent = window(4, trial, ONES, 0.0, latency_ms=None)
    with pytest.raises(NothingMeasuredError, match="no window of wordcount on Spark"):
        twin_of([story(trial, (ONES, [silent]))])
