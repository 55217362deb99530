"""Fig. 5 (b) on Spark: the walk of a job that its store caps, run in the simulator."""

from __future__ import annotations

import pytest

from penstock.papers.autrascale.spark import yahoo_walk
from penstock.papers.autrascale.spark.yahoo import VIEWS
from penstock.papers.spark.trial import Run
from penstock.report.judging import Judgement
from penstock.simulator.job import Behaviour
from spark_trials import judgement, simulated_run

FILTER = Behaviour(service_ms=2.0, selectivity=VIEWS)


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    join = Behaviour(service_ms=36.0, rate_cap=VIEWS * yahoo_walk.CAP)
    return [simulated_run(yahoo_walk.trial(policy), filter=FILTER, join=join) for policy in yahoo_walk.OPTIONS]


def test_a_capped_job_ends_and_looks_back_while_ds2_takes_all_there_is(runs: list[Run]) -> None:
    item = yahoo_walk.item(runs)
    assert judgement(item, "than the store answers") is Judgement.HOLDS
    assert judgement(item, "ends all the same") is Judgement.HOLDS
    assert judgement(item, "it looks back") is Judgement.HOLDS
    assert judgement(item, "DS2 has more instances") is Judgement.HOLDS
    assert runs[1].plans[-1] < runs[0].plans[-1] == (1, 1, 1, 1, 12)


def test_a_job_that_nothing_caps_reaches_its_input() -> None:
    free = [simulated_run(yahoo_walk.trial(policy), filter=FILTER) for policy in yahoo_walk.OPTIONS]
    assert judgement(yahoo_walk.item(free), "no plan gets more through") is Judgement.FAILS
