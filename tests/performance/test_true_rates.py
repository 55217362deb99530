"""True rates come from useful time; the load follows the graph."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model import (
    Forecast,
    MissingFigureError,
    Observation,
    Operator,
    OperatorSample,
    Plan,
    Sample,
    Slo,
    Topology,
)
from penstock.performance.true_rates import arriving, input_rates, true_rates
from strategies import LinearJob, linear_jobs, plans

CHAIN = Topology((Operator("split"), Operator("count")), (("split", "count"),))
SPLIT = OperatorSample(2, records_in=1000, records_out=5000, useful_seconds=8)
COUNT = OperatorSample(3, records_in=4000, useful_seconds=20)


def observe(*operators: dict[str, OperatorSample], topology: Topology = CHAIN, **figures: Any) -> Observation:
    """One window of ten seconds for each argument."""
    samples = tuple(
        Sample(t=10.0 * i, seconds=10, operators=each, **{"input_rate": 100, **figures})
        for i, each in enumerate(operators)
    )
    plan = Plan(dict.fromkeys(topology.names, 1))
    return Observation(t=10.0 * len(samples), topology=topology, slo=Slo(), plan=plan, samples=samples)


def test_a_rate_is_records_per_second_of_useful_time() -> None:
    rates = true_rates(observe({"split": SPLIT, "count": COUNT}))
    assert (rates["split"].processing, rates["split"].output, rates["split"].selectivity) == (125, 625, 5)
    assert (rates["count"].processing, rates["count"].output) == (200, 0)  # a leaf need not emit anything


@given(linear_jobs(), st.data())
def test_waiting_does_not_change_what_an_instance_can_do(job: LinearJob, data: st.DataObject) -> None:
    plan = data.draw(plans(job.topology))
    rates = true_rates(job.observe(plan, [job.respond(plan)]))
    for name, rate in rates.items():
        assert rate.processing == pytest.approx(job.true_rate[name])
        assert rate.selectivity == pytest.approx(job.selectivity[name])


@given(linear_jobs(), st.data())
def test_the_load_is_that_of_a_job_that_keeps_up(job: LinearJob, data: st.DataObject) -> None:
    plan = data.draw(plans(job.topology))
    observation = job.observe(plan, [job.respond(plan)])
    load = arriving(job.topology, true_rates(observation), input_rates(observation))
    assert load == pytest.approx(job.load)


def test_an_idle_operator_is_judged_by_the_last_time_it_worked() -> None:
    idle = replace(COUNT, records_in=0, useful_seconds=0)
    busy = {"split": SPLIT, "count": COUNT}
    assert true_rates(observe(busy, {"split": SPLIT, "count": idle}))["count"].processing == 200


@pytest.mark.parametrize("figure", ["useful_seconds", "records_in", "records_out"])
def test_a_figure_nobody_measured_is_named(figure: str) -> None:
    nothing: dict[str, Any] = {figure: None}
    with pytest.raises(MissingFigureError) as missing:
        true_rates(observe({"split": replace(SPLIT, **nothing), "count": COUNT}))
    assert str(missing.value) == f"{figure} of split was not measured"


def test_an_operator_in_no_sample_is_named() -> None:
    with pytest.raises(MissingFigureError, match=r"^useful_seconds of count was not measured$"):
        true_rates(observe({"split": SPLIT}))


def test_an_operator_that_never_worked_has_no_true_rate() -> None:
    idle = replace(COUNT, records_in=0, useful_seconds=0)
    with pytest.raises(MissingFigureError, match=r"^true rate of count was not measured$"):
        true_rates(observe({"split": SPLIT, "count": idle}))


def test_a_figure_missing_for_a_moment_is_looked_up_further_back() -> None:
    gap = {"split": replace(SPLIT, useful_seconds=None), "count": COUNT}
    assert true_rates(observe({"split": SPLIT, "count": COUNT}, gap))["split"].processing == 125


def test_a_child_gets_all_unless_told_what_it_received() -> None:
    partly = replace(COUNT, records_from={"split": 1250})
    assert true_rates(observe({"split": SPLIT, "count": COUNT}))["count"].shares == {"split": 1}
    assert true_rates(observe({"split": SPLIT, "count": partly}))["count"].shares == {"split": 0.25}
    observation = observe({"split": SPLIT, "count": partly})
    assert arriving(CHAIN, true_rates(observation), input_rates(observation)) == {"split": 100, "count": 125}


def test_what_an_operator_passes_on_can_be_limited() -> None:
    observation = observe({"split": SPLIT, "count": COUNT})
    load = arriving(CHAIN, true_rates(observation), input_rates(observation), lambda name, load: min(load, 60) * 5)
    assert load == {"split": 100, "count": 300}


TWO_ROOTS = Topology((Operator("left"), Operator("right"), Operator("join")), (("left", "join"), ("right", "join")))


def test_every_root_gets_the_one_rate_in_full_or_its_own() -> None:
    assert input_rates(observe({}, topology=TWO_ROOTS)) == {"left": 100, "right": 100}
    own = {"left": 30.0, "right": 70.0}
    assert input_rates(observe({}, topology=TWO_ROOTS, input_rate=own)) == own


def test_a_root_without_a_rate_is_named() -> None:
    with pytest.raises(MissingFigureError, match=r"^input_rate of right was not measured$"):
        input_rates(observe({}, topology=TWO_ROOTS, input_rate={"left": 30.0}))
    with pytest.raises(MissingFigureError, match=r"^input_rate of left was not measured$"):
        input_rates(observe({}, topology=TWO_ROOTS, input_rate=None))


def test_a_forecast_of_the_job_is_shared_out_as_the_measured_rates_are() -> None:
    observation = observe({}, topology=TWO_ROOTS, input_rate={"left": 30.0, "right": 70.0})
    growing = replace(observation, forecast=Forecast("last", 200.0))
    assert input_rates(growing) == {"left": 60, "right": 140}


def test_a_forecast_for_an_idle_job_has_nothing_to_be_shared_out_by() -> None:
    idle = replace(observe({}, topology=TWO_ROOTS, input_rate=0), forecast=Forecast("last", 200.0))
    assert input_rates(idle) == {"left": 0, "right": 0}


def test_by_instance_a_rate_is_the_mean_of_the_instances_own() -> None:
    """100 records in 1 s and 100 in 4 s: 40 records/s by sums (AuTraScale), 62.5 by instances (AuTraScale+)."""
    split = OperatorSample(2, records_in=200, records_out=600, useful_seconds=5, instance_rates=(100.0, 25.0))
    seen = observe({"split": split, "count": COUNT})
    assert true_rates(seen)["split"].processing == pytest.approx(40.0)
    by_instance = true_rates(seen, by_instance=True)
    assert by_instance["split"].processing == pytest.approx(62.5)
    assert by_instance["split"].selectivity == pytest.approx(3.0)
    assert by_instance["count"] == true_rates(seen)["count"]  # whose instances were not measured one by one
