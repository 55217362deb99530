"""The expected effect of a plan, compared with what was measured under the plan in force."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model import Expected, Forecast, Latency, Operator, Plan, Topology
from penstock.performance.expectation import expect, sojourn_ms
from penstock.performance.jackson import Station
from penstock.performance.true_rates import true_rates
from strategies import LinearJob, linear_jobs, plans

ONE = Topology((Operator("all"),))
TWO_ROOTS = Topology((Operator("left"), Operator("right")))


def job(input_rate: float, topology: Topology = ONE) -> LinearJob:
    """Instances of 10 records per second each."""
    return LinearJob(
        topology, dict.fromkeys(topology.names, 10.0), dict.fromkeys(topology.names, 1.0), input_rate, seconds=10
    )


@given(linear_jobs(), st.data())
def test_a_linear_job_does_what_is_expected_of_it(job: LinearJob, data: st.DataObject) -> None:
    now, then = data.draw(plans(job.topology)), data.draw(plans(job.topology))
    expected = expect(job.observe(now, [job.respond(now)]), then)
    assert expected is not None
    assert expected.throughput == pytest.approx(job.respond(then).throughput)


def test_a_plan_that_cannot_keep_up_has_no_latency() -> None:
    observation = job(95).observe(Plan({"all": 10}), [job(95).respond(Plan({"all": 10}))])
    assert expect(observation, Plan({"all": 9})) == Expected(throughput=90)


def test_instances_that_are_shared_do_the_work_of_all() -> None:
    """Ten records a second each, one after the other in the same instances."""
    topology = Topology.chain("read", Operator("count", chained=True))
    apart = Plan({"read": 10, "count": 11})
    observation = job(95, topology).observe(apart, [job(95, topology).respond(apart)])
    expected = expect(observation, Plan({"read": 10, "count": 10}))
    assert expected is not None
    assert expected.throughput == pytest.approx(50)


def test_the_plan_in_force_keeps_its_measured_latency() -> None:
    plan = Plan({"all": 10})
    sample = replace(job(95).respond(plan), processing_latency_ms=Latency(mean=321.0))
    expected = expect(job(95).observe(plan, [sample]), plan)
    assert expected is not None
    assert (expected.processing_latency_ms, expected.event_latency_ms) == (321, 321)


def test_what_queueing_does_not_explain_stays_as_it_is() -> None:
    plan, other = Plan({"all": 10}), Plan({"all": 12})
    theory = {p["all"]: 1e3 * Station.of(p["all"], 95, 10).sojourn for p in (plan, other)}
    sample = replace(job(95).respond(plan), processing_latency_ms=Latency(mean=theory[10] + 50))
    expected = expect(job(95).observe(plan, [sample]), other)
    assert expected is not None
    assert expected.processing_latency_ms == pytest.approx(theory[12] + 50)
    # A latency below theory leaves nothing unexplained, rather than a negative time.
    sample = replace(sample, processing_latency_ms=Latency(mean=1.0))
    expected = expect(job(95).observe(plan, [sample]), other)
    assert expected is not None
    assert expected.processing_latency_ms == pytest.approx(theory[12])


def test_a_backlog_waits_until_the_plan_has_taken_it() -> None:
    plan = Plan({"all": 10})
    sample = replace(job(50).respond(plan), processing_latency_ms=Latency(mean=100.0), backlog=200.0)
    expected = expect(job(50).observe(plan, [sample]), plan)
    assert expected is not None
    assert expected.event_latency_ms == pytest.approx(100 + 1e3 * 200 / 100)


def test_a_backlog_nobody_measured_leaves_the_event_latency_open() -> None:
    plan = Plan({"all": 10})
    expected = expect(job(50).observe(plan, [replace(job(50).respond(plan), backlog=None)]), plan)
    assert expected is not None
    assert expected.processing_latency_ms is not None
    assert expected.event_latency_ms is None


def test_without_true_rates_nothing_is_expected() -> None:
    plan = Plan({"all": 1})
    sample = job(5).respond(plan)
    poor = replace(sample, operators={"all": replace(sample.operators["all"], useful_seconds=None)})
    assert expect(job(5).observe(plan, [poor]), plan) is None
    assert expect(job(5).observe(plan, [replace(sample, input_rate=None)]), plan) is None


def test_a_forecast_is_what_the_plan_must_carry() -> None:
    plan = Plan({"all": 10})
    observation = replace(job(50).observe(plan, [job(50).respond(plan)]), forecast=Forecast("last", 120.0))
    assert expect(observation, plan) == Expected(throughput=100)
    expected = expect(observation, Plan({"all": 13}))
    assert expected is not None
    assert expected.throughput == 120


def test_one_rate_for_two_roots_is_counted_once_with_a_forecast_and_without() -> None:
    plan = Plan({"left": 10, "right": 10})
    observation = job(50, TWO_ROOTS).observe(plan, [job(50, TWO_ROOTS).respond(plan)])
    for forecast in (None, Forecast("last", 50.0)):
        expected = expect(replace(observation, forecast=forecast), plan)
        assert expected is not None
        assert expected.throughput == 50


@pytest.mark.parametrize(("backlog", "event_latency_ms"), [(0.0, 100.0), (30.0, None), (None, None)])
def test_a_job_that_went_idle_expects_nothing_strange(backlog: float | None, event_latency_ms: float | None) -> None:
    plan = Plan({"all": 10})
    worked = job(50).respond(plan)
    idle = replace(job(0).respond(plan, worked), processing_latency_ms=Latency(mean=100.0), backlog=backlog)
    expected = expect(job(0).observe(plan, [worked, idle]), plan)
    assert expected == Expected(throughput=0, processing_latency_ms=100, event_latency_ms=event_latency_ms)


def test_the_sojourn_is_that_of_the_slowest_path() -> None:
    diamond = Topology(
        tuple(map(Operator, ("read", "left", "right", "join"))),
        (("read", "left"), ("read", "right"), ("left", "join"), ("right", "join")),
    )
    speed = {"read": 100.0, "left": 20.0, "right": 50.0, "join": 50.0}
    work = LinearJob(diamond, speed, dict.fromkeys(diamond.names, 1.0), 10.0)
    plan = Plan.smallest(diamond)
    rates = true_rates(work.observe(plan, [work.respond(plan)]))
    path = 1 / (100 - 10) + 1 / (20 - 10) + 1 / (50 - 20)  # each a queue M/M/1; left and right both feed join
    assert sojourn_ms(diamond, plan, rates, work.load) == pytest.approx(1e3 * path)
