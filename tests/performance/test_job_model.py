"""A job that runs concurrently, learnt from its windows."""

import json
from dataclasses import replace

import pytest

from penstock.model import Latency, Operator, OperatorSample, Sample, Slo, Topology
from penstock.performance.job_model import JobModel
from penstock.performance.ladder import wait

JOB = Topology((Operator("split"), Operator("count")), (("split", "count"),))
SLO = Slo(event_latency="500 ms")
SERVICE = {"split": 0.001, "count": 0.002}
SELECTIVITY, FIXED, BURSTS = 0.5, 0.05, {"split": 20.0, "count": 60.0}


def sojourns(rate: float, plan: dict[str, int]) -> dict[str, float]:
    load = {"split": rate, "count": SELECTIVITY * rate}
    return {n: s + BURSTS[n] * wait(plan[n], load[n] * s / plan[n], s) for n, s in SERVICE.items()}


def window(t: float, rate: float, plan: dict[str, int], **more: object) -> Sample:
    stay = sojourns(rate, plan)
    records = {"split": 10 * rate, "count": 10 * SELECTIVITY * rate}
    operators = {
        name: OperatorSample(
            plan[name], records_in=records[name], records_out=records["count"],
            useful_seconds=records[name] * SERVICE[name], queue=0.0, latency_ms=1e3 * stay[name],
        )
        for name in SERVICE
    }  # fmt: skip
    latency = Latency(1e3 * (FIXED + sum(stay.values())))
    sample = Sample(
        t=t, seconds=10, operators=operators, input_rate=rate, throughput=rate, backlog=0,
        processing_latency_ms=latency, event_latency_ms=latency,
    )  # fmt: skip
    return replace(sample, **more)  # type: ignore[arg-type]


def taught(**more: object) -> JobModel:
    model = JobModel()
    for n in range(120):
        rate = 1000 + 800 * (n % 30) / 30
        model.learn(window(10.0 * n, rate, {"split": 3, "count": 3}, **more), JOB, SLO)
    return model


def test_it_predicts_rates_and_plans_that_it_has_not_seen() -> None:
    model = taught()
    for rate, plan in ((2200.0, {"split": 4, "count": 4}), (1500.0, {"split": 2, "count": 3})):
        measured = FIXED + sum(sojourns(rate, plan).values())
        assert model.latency(plan, rate, JOB, SLO) == pytest.approx(measured, rel=0.1)


def test_without_latencies_of_operators_the_burstiness_is_that_of_the_job() -> None:
    model = JobModel()
    for n in range(300):
        whole = window(10.0 * n, 1000 + 1200 * (n % 30) / 30, {"split": 3, "count": 3})
        blind = {name: replace(each, latency_ms=None) for name, each in whole.operators.items()}
        model.learn(replace(whole, operators=blind), JOB, SLO)
    measured = FIXED + sum(sojourns(2000.0, {"split": 3, "count": 3}).values())
    assert model.latency({"split": 3, "count": 3}, 2000.0, JOB, SLO) == pytest.approx(measured, rel=0.25)


def test_what_a_plan_carries_is_where_the_target_is_just_met() -> None:
    model = taught()
    plan = {"split": 4, "count": 3}
    rung = model.rung(plan, JOB, SLO)
    assert FIXED + sum(sojourns(rung.limit, plan).values()) == pytest.approx(0.5, rel=0.1)


def test_a_starved_operator_on_busy_cores_shows_what_it_can_do_by_what_it_did() -> None:
    """It seems to be busy for half the time, but 28,000 records wait in front of it: this is all that it can do."""
    model = taught()
    for n in range(60):
        calm = window(2000.0 + 10 * n, 1000, {"split": 3, "count": 3})
        starved = replace(calm.operators["count"], records_in=5000.0, useful_seconds=15.0, queue=28_000.0)
        late = Latency(9000.0)
        operators = {"split": calm.operators["split"], "count": starved}
        model.learn(
            replace(calm, operators=operators, processing_latency_ms=late, event_latency_ms=late, backlog=90_000),
            JOB, SLO,
        )  # fmt: skip
    assert model.rung({"split": 3, "count": 3}, JOB, SLO).capacity < 1.2 * 1000


def test_waiting_in_the_source_is_taken_off_the_target() -> None:
    late = Latency(300.0)
    assert taught(processing_latency_ms=Latency(100.0), event_latency_ms=late).outside == pytest.approx(0.2, rel=0.01)


@pytest.mark.parametrize(
    "figure", ["input_rate", "throughput", "backlog", "processing_latency_ms", "event_latency_ms", "dropped"]
)
def test_a_window_that_lacks_a_figure_is_no_trouble(figure: str) -> None:
    model = taught(**{figure: None})
    assert model.knows(JOB)
    assert model.rung({"split": 3, "count": 3}, JOB, SLO).capacity == pytest.approx(3 / 0.001, rel=0.01)


def test_a_backlog_that_drains_says_nothing_about_the_latency_of_a_plan() -> None:
    model = taught()
    before = model.latency({"split": 3, "count": 3}, 1500.0, JOB, SLO)
    for n in range(20):
        slow = Latency(20_000.0)
        model.learn(
            window(
                2000.0 + 10 * n, 1500, {"split": 3, "count": 3},
                throughput=1700.0, backlog=50_000, processing_latency_ms=slow, event_latency_ms=slow,
            ),
            JOB, SLO,
        )  # fmt: skip
    assert model.latency({"split": 3, "count": 3}, 1500.0, JOB, SLO) == pytest.approx(before, rel=0.05)


def test_it_goes_on_where_it_stopped() -> None:
    model = taught()
    again = JobModel.restored(json.loads(json.dumps(model.state())))
    for each in (model, again):
        each.learn(window(5000.0, 1700.0, {"split": 3, "count": 4}), JOB, SLO)
    assert again.state() == model.state()
    assert again.rung({"split": 3, "count": 4}, JOB, SLO) == model.rung({"split": 3, "count": 4}, JOB, SLO)


def test_of_instances_that_are_shared_and_held_each_operator_has_its_part() -> None:
    """Records wait in front of both: the instance worked all the time, three eighths of it for the first."""
    job = Topology.chain("split", Operator("count", chained=True))
    operators = {
        "split": OperatorSample(1, records_in=100.0, records_out=100.0, useful_seconds=3.0, queue=1_000.0),
        "count": OperatorSample(1, records_in=100.0, records_out=100.0, useful_seconds=5.0, queue=0.0),
    }
    model = JobModel()
    model.learn(Sample(t=0.0, seconds=10.0, operators=operators, input_rate=100.0, throughput=10.0), job, SLO)
    assert model.operators["split"].curve.at(1) == pytest.approx(0.0375)
    assert model.operators["count"].curve.at(1) == pytest.approx(0.05)


def test_burstiness_is_that_of_the_wait_in_front_of_a_chain() -> None:
    job = Topology.chain("split", Operator("count", chained=True))
    chain = wait(1, 0.5, 0.005)  # 100 records a second, 2 and 3 ms each
    operators = {
        "split": OperatorSample(
            1, records_in=1_000.0, records_out=1_000.0, useful_seconds=2.0, queue=0.0, latency_ms=1e3 * (0.002 + chain)
        ),
        "count": OperatorSample(
            1, records_in=1_000.0, records_out=1_000.0, useful_seconds=3.0, queue=0.0, latency_ms=3.0
        ),
    }
    model = JobModel()
    model.learn(
        Sample(t=0.0, seconds=10.0, operators=operators, input_rate=100.0, throughput=100.0, backlog=0), job, SLO
    )
    assert model.operators["split"].burstiness == pytest.approx(1.0)
    assert model.operators["count"].queueing == 0.0


def test_what_hops_take_is_known_once_plans_have_parted_a_chain() -> None:
    """A hop of 20 ms, which no queue explains."""
    job = Topology.chain("split", Operator("count", chained=True))
    model, known = JobModel(), []
    for count in (2, 3):
        chains = len(job.chains({"split": 2, "count": count}))
        operators = {
            "split": OperatorSample(2, records_in=100.0, records_out=100.0, useful_seconds=0.2, queue=0.0),
            "count": OperatorSample(count, records_in=100.0, records_out=100.0, useful_seconds=0.3, queue=0.0),
        }
        latency = Latency(*[5.0 + 20.0 * chains] * 4)
        for _ in range(20):
            model.learn(
                Sample(
                    t=0.0, seconds=10.0, operators=operators, input_rate=10.0, throughput=10.0, backlog=0,
                    processing_latency_ms=latency,
                ),
                job, SLO,
            )  # fmt: skip
        known.append(model.sooner({"split": 2, "count": 2}, job))
    assert known[0] is None
    assert known[1] == pytest.approx(0.020, abs=0.002)
    fused, apart = (model.latency({"split": 2, "count": k}, 10.0, job, SLO) for k in (2, 3))
    assert apart - fused == pytest.approx(0.020, abs=0.004)
    again = JobModel.restored(json.loads(json.dumps(model.state())))
    assert again.sooner({"split": 2, "count": 2}, job) == known[1]


def test_operators_that_read_themselves_are_held_by_what_waits_in_the_source() -> None:
    """They seem to work for a third of the time, and do 60 records/s, while thousands wait."""
    line = Topology.chain(Operator("split", readers=1), Operator("count", chained=True))
    known: dict[float, JobModel] = {}
    for backlog in (0.0, 5_000.0):
        operators = {
            "split": OperatorSample(1, records_in=600.0, records_out=600.0, useful_seconds=2.0, queue=0.0),
            "count": OperatorSample(1, records_in=600.0, records_out=600.0, useful_seconds=1.0, queue=0.0),
        }
        known[backlog] = JobModel()
        for n in range(20):
            window = Sample(
                t=10.0 * n, seconds=10.0, operators=operators, input_rate=60.0, throughput=60.0, backlog=backlog
            )
            known[backlog].learn(window, line, Slo(event_latency="2 s"))
    able = {waits: model.rung({"split": 1, "count": 1}, line, Slo()).capacity for waits, model in known.items()}
    assert able == pytest.approx({0.0: 200.0, 5_000.0: 60.0}, rel=0.05)
