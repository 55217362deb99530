"""Table XII on Spark: what the experiment makes of runs that are written by hand."""

from __future__ import annotations

import pytest

from penstock.papers.psps.spark import table12
from penstock.papers.spark.trial import Run
from penstock.report.judging import Judgement
from spark_trials import figure, story, windows


def asked(name: str, each: int, throughput: float, latency_ms: float) -> Run:
    trial, plan = table12.trial(name), (1, *(each,) * 4)
    return story(trial, (plan, windows(trial, plan, 0.0, *[throughput] * 4, rate=30.0, latency_ms=latency_ms)))


def test_psps_is_compared_with_single_replicas() -> None:
    runs = [asked("PSPS", 2, 29.0, 400.0), asked("r = 1", 1, 25.0, 900.0)]
    item = table12.item(runs)
    assert [claim.judgement for claim in item.claims] == [Judgement.HOLDS] * 3 + [Judgement.FAILS]
    assert figure(item, "PSPS: saved resources").spark == pytest.approx(1 - 8 / (4 * table12.MOST))
    assert figure(item, "r = 1: processed events").spark == pytest.approx(25 / 30)
    turned = [asked("PSPS", 2, 25.0, 900.0), asked("r = 1", 1, 29.0, 400.0)]
    assert [claim.judgement for claim in table12.item(turned).claims] == [Judgement.FAILS] * 4
