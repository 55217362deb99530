"""The demo's job is one job: what runs on Spark has the graph of what is simulated. Nothing here starts Spark."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.demo.clicks import CLICKS
from penstock.demo.clicks_on_spark import CLICKS as ON_SPARK
from penstock.demo.graph import GRAPH, visits
from penstock.model import Topology
from penstock.runs.live import NOWHERE
from penstock.runs.workload import RunsOn
from spark_answers import records_of


def shape(topology: Topology) -> object:
    return topology.names, topology.edges, [operator.stateful for operator in topology.operators]


def test_the_simulator_and_spark_run_the_same_graph() -> None:
    simulated, on_spark = CLICKS.job.topology, ON_SPARK.pipeline(NOWHERE, NOWHERE).topology()

    assert shape(simulated) == shape(on_spark)
    assert simulated.names == ("parse", "enrich", "sessions", "publish")
    assert [operator.name for operator in simulated.operators if operator.stateful] == ["sessions"]
    assert (CLICKS.name, {*CLICKS.runs_on}) == (ON_SPARK.name, {*RunsOn} - {RunsOn.NATIVE})


def test_selectivities_are_those_of_the_graph_on_both() -> None:
    assert {name: b.selectivity for name, b in CLICKS.job.behaviours.items()} == {n.name: n.selectivity for n in GRAPH}
    assert ON_SPARK.visits == visits() == {"parse": 1.0, "enrich": 0.9, "sessions": 0.9, "publish": 0.45}


def test_the_slow_operators_relate_to_each_other_as_the_simulated_ones_do() -> None:
    simulated = CLICKS.job.behaviours

    ratio = simulated["sessions"].service_ms / simulated["enrich"].service_ms
    assert ON_SPARK.service_ms["sessions"] / ON_SPARK.service_ms["enrich"] == pytest.approx(ratio, rel=0.05)


def test_one_click_in_ten_is_a_robots_and_half_of_the_others_open_a_session() -> None:
    """In every twenty clicks, so that a short load has the selectivities too."""
    clicks = [record.split(",") for record in records_of(ON_SPARK, 20)]

    assert [robot for *_, robot, _ in clicks].count("1") == 2
    assert [opens for *_, robot, opens in clicks if robot == "0"].count("1") == 9
    assert [*ON_SPARK.values(np.arange(20))] == [*ON_SPARK.values(np.arange(7)), *ON_SPARK.values(np.arange(7, 20))]
