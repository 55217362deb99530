"""An experiment on real Spark: DS2 takes WordCount from all ones to what its load needs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pyspark.sql import SparkSession

from penstock.load.curves import constant
from penstock.papers.autrascale.spark.fig5 import trial
from penstock.papers.autrascale.spark.wordcount import RATE
from penstock.papers.spark.runner import TrialRunner
from penstock.papers.spark.trial import Cycles
from penstock.testbed.broker import Broker
from penstock.testbed.place import LocalPlace

pytestmark = pytest.mark.spark


def seen_after_a_change(cycles: Cycles) -> bool:
    """A plan was changed, and a later window shows the job settled with another one."""
    return any(cycle.changed for cycle in cycles) and not cycles[-1].changed and not cycles[-1].samples[-1].warm_up


def test_ds2_walks_from_all_ones_on_spark(spark: SparkSession, broker: Broker) -> None:
    said: list[str] = []
    runner = TrialRunner(LocalPlace("realtime", spark, broker), said.append)
    quick = replace(trial("ds2"), batch_seconds=1.0, interval="1 s")
    run = runner.run(replace(quick, trace=constant(RATE, 600.0), enough=seen_after_a_change))
    assert said == ["wordcount: warming up", "wordcount: ds2, 600 s at most"]
    assert run.plans[0] == (1, 1, 1, 1)
    _, _, count, sink = run.plans[-1]
    assert count > 1  # the slow ones get more; how many depends on how busy the machine is
    assert sink > 1
    first = next(sample for sample in run.samples if not sample.warm_up)
    assert (first.throughput or 0.0) < 0.8 * first.offered_rate  # one instance of count carries 90 records a second
