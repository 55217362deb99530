"""Visits: how often a record from outside reaches each operator."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model import MissingFigureError, Operator, OperatorSample, Sample, Topology
from penstock.performance.visits import edge_shares, visits

DIAMOND = Topology(
    tuple(map(Operator, ("o1", "o2", "o3", "o4"))), (("o1", "o2"), ("o1", "o3"), ("o2", "o4"), ("o3", "o4"))
)


def window(**operators: OperatorSample) -> Sample:
    return Sample(t=0, seconds=10, operators=operators)


def test_a_fan_in_adds_what_its_parents_send_as_in_figure_5() -> None:
    sample = window(
        o1=OperatorSample(1, records_in=1000, records_out=1200),
        o2=OperatorSample(1, records_in=500, records_out=450, records_from={"o1": 700}),
        o3=OperatorSample(1, records_in=300, records_out=300, records_from={"o1": 300}),
        o4=OperatorSample(1, records_in=480, records_from={"o2": 200, "o3": 300}),
    )
    theta = visits(DIAMOND, edge_shares(DIAMOND, (sample,)))
    assert {name: reached["o1"] for name, reached in theta.items()} == pytest.approx(
        {"o1": 1, "o2": 0.7, "o3": 0.3, "o4": 0.58}
    )


def test_a_child_that_does_not_say_what_it_received_got_all_its_parent_emitted() -> None:
    topology = Topology((Operator("split"), Operator("count")), (("split", "count"),))
    sample = window(split=OperatorSample(1, records_in=100, records_out=500), count=OperatorSample(1, records_in=90))
    assert edge_shares(topology, (sample,)) == {"split": {}, "count": {"split": 5.0}}


def test_the_share_of_an_idle_parent_is_that_of_its_last_busy_window() -> None:
    topology = Topology((Operator("split"), Operator("count")), (("split", "count"),))
    busy = window(split=OperatorSample(1, records_in=100, records_out=300), count=OperatorSample(1))
    idle = window(split=OperatorSample(1, records_in=0, records_out=0), count=OperatorSample(1))
    assert edge_shares(topology, (busy, idle))["count"] == {"split": 3.0}


@pytest.mark.parametrize(
    ("split", "missing"),
    [
        (OperatorSample(1), "records_in"),
        (OperatorSample(1, records_in=0, records_out=0), "records_in"),
        (OperatorSample(1, records_in=5), "records_out"),
    ],
)
def test_a_share_that_nobody_measured_is_not_made_up(split: OperatorSample, missing: str) -> None:
    topology = Topology((Operator("split"), Operator("count")), (("split", "count"),))
    with pytest.raises(MissingFigureError, match=f"{missing} of split"):
        edge_shares(topology, (window(split=split, count=OperatorSample(1)),))


def test_each_root_has_visits_of_its_own() -> None:
    topology = Topology(
        tuple(map(Operator, ("clicks", "views", "join", "store"))),
        (("clicks", "join"), ("views", "join"), ("join", "store"), ("views", "store")),
    )
    shares = {"join": {"clicks": 1.0, "views": 0.5}, "store": {"join": 0.1, "views": 2.0}}
    theta = visits(topology, shares)
    assert theta["join"] == {"clicks": 1.0, "views": 0.5}
    assert theta["store"] == pytest.approx({"clicks": 0.1, "views": 2.05})


@given(st.lists(st.floats(0, 5), min_size=1, max_size=8))
def test_along_a_chain_visits_are_the_product_of_the_shares(factors: list[float]) -> None:
    names = tuple(f"o{i}" for i in range(len(factors) + 1))
    topology = Topology(tuple(map(Operator, names)), tuple(pairwise(names)))
    theta = visits(topology, {names[i + 1]: {names[i]: factor} for i, factor in enumerate(factors)})
    product = 1.0
    for factor in factors:
        product *= factor
    assert theta[names[-1]]["o0"] == pytest.approx(product)
