"""WordCount, AUTOSCALE's line and PSPS' Twitter application: the simulated graphs, scaled down."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from penstock.cli.workloads import spark_workload as job
from penstock.cli.workloads import workload
from penstock.papers.autoscale.spark.linear import items
from penstock.papers.autrascale.spark.wordcount import lines
from penstock.papers.psps.spark.twitter import texts

NAMES = ("wordcount", "linear", "twitter")
NOWHERE: Any = None


@pytest.mark.parametrize("name", NAMES)
def test_the_graph_is_that_of_the_simulated_job(name: str) -> None:
    mine, simulated = job(name).pipeline(NOWHERE, NOWHERE).topology(), workload(name).job.topology
    assert (mine.names, mine.edges) == (simulated.names, simulated.edges)
    assert [operator.stateful for operator in mine.operators] == [o.stateful for o in simulated.operators]


@pytest.mark.parametrize("name", NAMES)
def test_service_times_relate_to_each_other_as_the_simulated_ones_do(name: str) -> None:
    """To the millisecond: Spark waits for whole ones. What takes less than half of one does not wait at all."""
    behaviours, mine = workload(name).job.behaviours, job(name).service_ms
    slowest = max(mine, key=lambda operator: mine[operator])
    scale = mine[slowest] / behaviours[slowest].service_ms
    assert mine == {name: round(scale * behaviour.service_ms) for name, behaviour in behaviours.items()}


@pytest.mark.parametrize("name", NAMES)
def test_the_load_keeps_a_laptop_busy_and_no_more(name: str) -> None:
    one = job(name)
    assert 3 < one.trace.peak * sum(one.service_ms.values()) / 1e3 < 12


@pytest.mark.parametrize("values", [lines, items, texts])
def test_a_record_depends_on_its_number_alone(values: Any) -> None:
    assert values(np.arange(100))[40:60] == values(np.arange(40, 60))


def test_words_and_moods_are_spread_evenly() -> None:
    words = Counter(lines(np.arange(20_000)))
    assert len(words) == 10_000
    assert set(words.values()) == {2}
    tweets = [text.decode().split(",") for text in texts(np.arange(6_000))]
    assert Counter(int(followers) > 10_000 for _, _, followers, _ in tweets)[True] == pytest.approx(600, rel=0.1)
