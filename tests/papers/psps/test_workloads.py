"""The workloads show the figures of PSPS that they were made for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from penstock.cli.workloads import workload
from workload_runs import every_operator, run


def test_fixed_replicas_of_the_twitter_application_do_as_in_table_eight() -> None:
    """The paper's rows: one replica each processes 0.3319; eight process all, at 153.51 ms."""
    one, _ = run(workload("twitter"), "static", every_operator("twitter", 1))
    eight, _ = run(workload("twitter"), "static", every_operator("twitter", 8))

    assert one.processed_ratio == pytest.approx(0.3319, abs=0.02)
    assert one.saved_resources == 0.875
    assert eight.processed_ratio == 1.0
    assert eight.saved_resources == 0.0
    assert eight.processing_latency_ms.mean == pytest.approx(153.51, rel=0.1)


def test_one_replica_that_waits_for_no_time_out_is_as_late_as_a_full_queue_is_long() -> None:
    """The paper's row: 196,963 ms, far beyond the time-out of PSPS."""
    twitter = workload("twitter")
    patient = replace(twitter, job=replace(twitter.job, engine=replace(twitter.job.engine, timeout_seconds=None)))
    one, _ = run(patient, "static", every_operator("twitter", 1))

    assert one.processing_latency_ms.mean == pytest.approx(196_962.95, rel=0.15)


def test_raw_tweets_follow_the_smoothed_ones_and_jump_from_one_interval_to_the_next() -> None:
    raw, smooth = workload("twitter_raw").trace, workload("twitter").trace
    moments = np.arange(0.0, 1100.0, 10.0)
    ratio = raw.at(moments) / smooth.at(moments)

    assert ratio.mean() == pytest.approx(1.0, abs=0.15)
    assert np.abs(np.diff(raw.at(moments))).mean() > 3 * np.abs(np.diff(smooth.at(moments))).mean()


def test_five_replicas_of_the_complex_application_never_wait() -> None:
    """The paper's row: all processed, at 31.99 ms."""
    five, _ = run(workload("twitter_complex"), "static", every_operator("twitter_complex", 5))

    assert workload("twitter_complex").job.largest_plan.total == 40
    assert five.processed_ratio > 0.9999
    assert five.processing_latency_ms.mean == pytest.approx(31.99, rel=0.25)


def test_one_replica_nearly_carries_the_dns_stream() -> None:
    """The paper's row: 0.9759 processed."""
    one, _ = run(workload("dns"), "static", every_operator("dns", 1))

    assert workload("dns").job.largest_plan.total == 12
    assert one.processed_ratio == pytest.approx(0.9759, abs=0.01)
