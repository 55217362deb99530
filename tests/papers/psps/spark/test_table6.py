"""Table VI on Spark: what the experiment makes of runs that are written by hand, and what a full queue drops."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.papers.psps.spark import table6, table7
from penstock.papers.psps.spark.spout import SPOUT
from penstock.papers.spark.trial import Run
from penstock.report.judging import Judgement
from spark_trials import cycle, figure, story, window, windows


def tweeted(size: int, each: int, latency_ms: float, dropped: float) -> Run:
    """So many of the 200 events of a window are dropped at the spout."""
    trial, plan = table6.trial(size), (1, *(each,) * 4)
    samples = windows(trial, plan, 0.0, *[100.0] * 4, rate=100.0, latency_ms=latency_ms)
    spouts = (replace(s.operators[SPOUT], records_out=200.0 - dropped) for s in samples)
    losing = [replace(s, operators={**s.operators, SPOUT: spout}) for s, spout in zip(samples, spouts, strict=True)]
    return replace(story(trial, (plan, losing)), cpu_seconds=4.0)


def test_a_small_queue_loses_events_and_saves_replicas_and_time() -> None:
    small, large = tweeted(100, 2, 300.0, dropped=60.0), tweeted(100_000, 4, 2_000.0, dropped=0.0)
    item = table6.item([small, large])
    assert [claim.judgement for claim in item.claims] == [Judgement.HOLDS] * 3
    assert figure(item, "q_size = 100: processed events").spark == pytest.approx(0.7)
    assert figure(item, "q_size = 100,000: saved resources").spark == pytest.approx(0.5)
    assert figure(item, "q_size = 100: CPU in use").spark == pytest.approx(0.5)
    other_way_round = [tweeted(100, 4, 2_000.0, dropped=0.0), tweeted(100_000, 2, 300.0, dropped=60.0)]
    assert [claim.judgement for claim in table6.item(other_way_round).claims] == [Judgement.FAILS] * 3


@pytest.mark.spark
def test_the_spout_admits_as_many_events_as_the_queues_of_all_replicas_hold(spark: SparkSession) -> None:
    """The plan that was decided on last says how many replicas there are; one event has waited for too long."""
    trial = table7.TWITTER.trial("small", queue=10)
    spout = trial.job.pipeline(None, None).steps[SPOUT].function  # type: ignore[arg-type]
    now = datetime(2026, 1, 1, tzinfo=UTC)
    stamp = F.struct(F.lit(now).alias("taken"), F.col("created"))
    events = spark.range(100, numPartitions=1).select(F.col("id").cast("string").alias("value"), "id")
    late = F.when(F.col("id") == 3, F.lit(now) - F.expr("INTERVAL 1 HOUR")).otherwise(F.lit(now))
    batch = events.withColumn("created", late).select("value", stamp.alias("stamp"))

    def admitted() -> list[int]:
        return sorted(int(row["value"]) for row in spout(batch).select("value").collect())

    assert admitted() == [n for n in range(11) if n != 3]
    three = trial.start.changed(parse=3)
    trial.on_cycle(cycle(trial.start, three, window(0.0, trial, tuple(trial.start.parallelism.values()), 50.0)))
    assert admitted() == [n for n in range(31) if n != 3]
