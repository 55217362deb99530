"""Table VII on Spark: what the experiment makes of runs that are written by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.papers.psps.spark import table7
from penstock.papers.spark.trial import Run
from penstock.report.judging import Judgement
from spark_trials import figure, story, windows


def tweeted(name: str, each: int, latency_ms: float, throughput: float = 100.0) -> Run:
    """A tenth of the events fails at the spout."""
    trial, plan = table7.trial(name), (1, *(each,) * 4)
    samples = windows(trial, plan, 0.0, *[throughput] * 4, rate=100.0, latency_ms=latency_ms)
    failing = [
        replace(s, operators={**s.operators, "spout": replace(s.operators["spout"], records_out=180.0)})
        for s in samples
    ]
    return replace(story(trial, (plan, failing)), cpu_seconds=4.0)


def test_failed_events_are_not_processed_and_the_spout_is_no_replica() -> None:
    runs = [tweeted("shuffle", 4, 900.0, 90.0), tweeted("load balancing", 2, 400.0)]
    item = table7.item(runs)
    assert [claim.judgement for claim in item.claims] == [Judgement.HOLDS] * 3
    assert figure(item, "load balancing: processed events").spark == pytest.approx(0.9)
    assert figure(item, "load balancing: saved resources").spark == pytest.approx(1 - 8 / 32)
    assert figure(item, "shuffle: CPU in use").spark == pytest.approx(0.5)
    assert [claim.judgement for claim in table7.item(runs[::-1]).claims] == [Judgement.HOLDS] * 3  # by name, not place
    worse = [tweeted("shuffle", 2, 400.0), tweeted("load balancing", 4, 900.0, 90.0)]
    assert [claim.judgement for claim in table7.item(worse).claims] == [Judgement.FAILS] * 3


def test_the_job_is_keyed_by_replicas_only_where_it_is_grouped() -> None:
    grouped, spread = (table7.trial(name).job.pipeline(None, None) for name in ("load balancing", "shuffle"))  # type: ignore[arg-type]
    assert [step.key for step in grouped.steps.values()] == [(), *((f"to_{name}",) for name in list(grouped.steps)[1:])]
    assert all(not step.key for step in spread.steps.values())
    assert grouped.topology()["spout"].max == 1


def test_a_replica_that_joins_is_sent_every_event_of_its_first_interval() -> None:
    """The cause that the table prints where load balancing does not pay."""
    trial, one, two = table7.trial("load balancing"), (1, 1, 1, 1, 1), (1, 2, 2, 2, 2)
    alone = story(trial, (one, windows(trial, one, 0.0, 100.0, 100.0)))
    joined = story(trial, (one, windows(trial, one, 0.0, 100.0)), (two, windows(trial, two, 2.0, 100.0)))
    assert table7.TWITTER.busiest(alone) == 1.0
    assert table7.TWITTER.busiest(joined) == pytest.approx(2.0)
