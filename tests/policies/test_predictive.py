"""Our own policy, on jobs in the simulator and on windows by hand."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from penstock.control.think import think
from penstock.demo.clicks import CLICKS
from penstock.guards import chain
from penstock.load.trace import Trace
from penstock.model import (
    Actuation,
    Cycle,
    Execution,
    InvalidValueError,
    Observation,
    Operator,
    ReasonCode,
    Slo,
    Topology,
)
from penstock.performance.horizon import Option
from penstock.performance.rungs import Rung
from penstock.performance.state_price import StatePrice
from penstock.policies import POLICIES
from penstock.policies._ruled_out import drained_in_time, in_time
from penstock.policies.predictive import Predictive
from penstock.runs.result import Result
from penstock.runs.simulation import Simulation
from penstock.runs.workload import Workload
from penstock.simulator.job import Behaviour, Engine, Job

HOUR = 3600.0


def day(seconds: float = 3 * HOUR, peak: float = 50_000.0) -> Trace:
    """A smooth rise and fall, a point every minute."""
    times = [60.0 * n for n in range(int(seconds / 60) + 1)]
    rates = [peak * (0.55 - 0.45 * math.cos(2 * math.pi * t / seconds)) for t in times]
    return Trace("day", tuple(times), tuple(rates))


def constant(rate: float, seconds: float) -> Trace:
    return Trace("constant", (0.0, seconds), (rate, rate))


def run(policy: Predictive, workload: Workload, **more: object) -> tuple[Result, list[Cycle]]:
    cycles: list[Cycle] = []
    simulation = Simulation(workload, policy=policy, **more)  # type: ignore[arg-type]
    return simulation.run(cycles.append), cycles


def test_over_a_day_it_misses_less_and_pays_less_than_true_rates_with_headroom() -> None:
    workload = replace(CLICKS, trace=day())
    ours, _ = run(Predictive(), workload)
    ds2 = Simulation(workload, policy="ds2", policy_options={"utilisation": 0.6}).run()
    assert ours.violation_ratio < 0.01
    assert ours.violation_ratio <= ds2.violation_ratio
    assert ours.core_seconds < 0.9 * ds2.core_seconds
    assert ours.rescales < ds2.rescales


def test_at_a_constant_load_it_comes_to_rest_near_the_smallest_plan_that_holds() -> None:
    _, cycles = run(Predictive(), replace(CLICKS, trace=constant(20_000.0, 2 * HOUR)))
    plans = [cycle.decision.plan for cycle in cycles[-30:]]
    assert len(set(map(str, plans))) == 1
    assert 8 <= plans[-1].total <= 11  # nine are enough: 2, 3, 4, 1 would miss 500 ms at parse 1


def test_operators_that_may_share_their_instances_do_so_and_that_is_said() -> None:
    """The same job costs less, and misses no more."""
    operators = tuple(replace(each, chained=True) for each in CLICKS.job.topology.operators)
    job = replace(CLICKS.job, topology=replace(CLICKS.job.topology, operators=operators))
    apart, _ = run(Predictive(), replace(CLICKS, trace=day()))
    together, cycles = run(Predictive(), replace(CLICKS, job=job, trace=day()))
    assert together.core_seconds < 0.9 * apart.core_seconds
    assert together.violation_ratio <= apart.violation_ratio + 0.002
    assert any(" share " in cycle.decision.reason.text for cycle in cycles)


def test_a_micro_batch_job_is_sized_by_what_its_batches_cost() -> None:
    engine = replace(CLICKS.job.engine, execution=Execution.SEQUENTIAL, batch_seconds=1.0, batch_overhead_seconds=0.3)
    workload = replace(CLICKS, job=replace(CLICKS.job, engine=engine), slo=Slo(event_latency="5 s"), trace=day())
    ours, cycles = run(Predictive(), workload)
    ds2 = Simulation(workload, policy="ds2", policy_options={"utilisation": 0.8}).run()
    assert ours.violation_ratio < 0.02
    assert ours.core_seconds < ds2.core_seconds
    assert len(set(cycles[-1].decision.plan.parallelism.values())) == 1


def test_the_silence_of_a_change_is_measured_on_the_job() -> None:
    slow = replace(CLICKS.job, engine=replace(CLICKS.job.engine, downtime_seconds=12.0))
    policy = Predictive()
    run(policy, replace(CLICKS, job=slow, trace=day()))
    assert policy.change_cost.measured == pytest.approx(12.0, rel=0.3)


def test_a_dear_change_is_made_less_often() -> None:
    slow = replace(CLICKS.job, engine=replace(CLICKS.job.engine, downtime_seconds=20.0))
    quick, _ = run(Predictive(), replace(CLICKS, trace=day()))
    dear, _ = run(Predictive(), replace(CLICKS, job=slow, trace=day()))
    assert dear.rescales < quick.rescales


def test_the_price_of_a_change_that_moves_state_goes_by_the_bytes_of_that_state() -> None:
    policy = Predictive()
    _, cycles = run(policy, replace(CLICKS, trace=constant(20_000.0, HOUR)))
    seen = observation(cycles)
    operators = tuple(replace(each, actuation=Actuation.STATE_REPARTITION) for each in seen.topology.operators)
    seen = replace(seen, topology=replace(seen.topology, operators=operators))
    for n, state_bytes in enumerate((0.0, 1e9, 5e9), 1):
        keeping = {name: replace(each, state_bytes=0.0) for name, each in seen.latest.operators.items()}
        keeping["enrich"] = replace(keeping["enrich"], state_bytes=state_bytes)
        window = replace(seen.latest, t=seen.latest.t + 10 * n, operators=keeping)
        seen = replace(seen, samples=(*seen.samples, window))
        policy.learn(seen)
        assert policy.decide(seen).figures["silence_seconds"] == StatePrice().seconds(state_bytes)


def test_at_the_start_it_says_that_it_does_not_know_the_job() -> None:
    policy = Predictive()
    _, cycles = run(policy, replace(CLICKS, trace=constant(20_000.0, 60.0)), interval="10 s")
    assert cycles[0].decision.reason.text.startswith("the job is not known yet: by true rates")


def test_in_its_first_minute_it_does_not_shrink_but_grows() -> None:
    """A load that has just begun may be a fifth of what it is a moment later."""
    begins = Trace("begins", (0.0, 20.0, 21.0, 60.0), (2_000.0, 2_000.0, 25_000.0, 25_000.0))
    _, cycles = run(Predictive(), replace(CLICKS, trace=begins))
    plans = [cycle.decision.plan.total for cycle in cycles]
    assert plans == sorted(plans)
    assert plans[0] == cycles[0].before.total < plans[-1]


def proven_wrong(policy: Predictive, trace: Trace) -> Observation:
    """What it sees after an hour under a load, and three windows whose latency its model does not expect."""
    _, cycles = run(policy, replace(CLICKS, trace=trace))
    seen = observation(cycles)
    late = replace(seen.latest.processing_latency_ms, mean=5000.0)  # type: ignore[type-var]
    for n in range(1, 4):
        wrong = replace(seen.latest, t=seen.latest.t + 10 * n, processing_latency_ms=late, event_latency_ms=late)
        seen = replace(seen, samples=(*seen.samples, wrong))
        policy.learn(seen)
    return seen


def test_a_model_that_proves_wrong_is_not_relied_on_and_that_is_said() -> None:
    policy = Predictive()
    decision = policy.decide(proven_wrong(policy, constant(20_000.0, HOUR)))
    assert not policy.trust.relied_on
    assert decision.reason.text.startswith(("the model was wrong", "event latency missed"))


@pytest.mark.parametrize(("rates", "more"), [((20_000.0, 20_000.0), 1.0), ((10_000.0, 40_000.0), 1.05)])
def test_without_its_model_it_still_sizes_for_the_load_that_is_forecast(
    rates: tuple[float, float], more: float
) -> None:
    policy = Predictive()
    seen = proven_wrong(policy, Trace("straight", (0.0, HOUR), rates))
    figures = policy.decide(seen).figures
    assert figures["target_rate"]["parse"] >= more * seen.latest.offered_rate
    if more == 1.0:
        assert figures["target_rate"]["parse"] == pytest.approx(seen.latest.offered_rate, rel=0.02)


def test_a_missed_target_is_never_steady() -> None:
    """Latency of 9 s and 28,000 records queued at one operator that seems to be busy for half of the time."""
    policy = Predictive()
    _, cycles = run(policy, replace(CLICKS, trace=constant(20_000.0, HOUR)))
    seen = observation(cycles)
    for n in range(1, 7):
        stuck = replace(seen.latest.operators["enrich"], queue=28_000.0 + 1000 * n)
        late = replace(seen.latest.event_latency_ms, mean=9000.0)  # type: ignore[type-var]
        window = replace(
            seen.latest, t=seen.latest.end, event_latency_ms=late,
            operators={**seen.latest.operators, "enrich": stuck},
        )  # fmt: skip
        seen = replace(seen, samples=(*seen.samples, window), t=window.end)
        policy.learn(seen)
    decision = policy.decide(seen)
    assert decision.reason.code is not ReasonCode.STEADY
    assert decision.plan["enrich"] > seen.plan["enrich"]


def test_a_decision_says_what_it_rests_on() -> None:
    policy = Predictive()
    _, cycles = run(policy, replace(CLICKS, trace=constant(20_000.0, HOUR)))
    figures, text = cycles[-1].decision.figures, cycles[-1].decision.reason.text
    rates = figures["forecast"]["300"]
    assert rates["0.1"] <= rates["0.5"] <= rates["0.9"] <= rates["0.99"]
    assert rates["0.5"] == pytest.approx(20_000, rel=0.01)
    assert sum(figures["forecasters"].values()) == pytest.approx(1.0)
    chosen = [each for each in figures["alternatives"] if each["why"] == "chosen"]
    assert [each["parallelism"] for each in chosen] == [dict(cycles[-1].decision.plan.parallelism)]
    assert all(each["cost"] is None or each["cost"] >= chosen[0]["cost"] for each in figures["alternatives"])
    assert "within the targets" in text


def test_it_goes_on_exactly_where_it_stopped() -> None:
    policy = Predictive()
    _, cycles = run(policy, replace(CLICKS, trace=day(2 * HOUR)))
    restarted = Predictive()
    restarted.restore(json.loads(json.dumps(policy.state())))
    seen = observation(cycles)
    newest = replace(seen, samples=(*seen.samples, replace(seen.latest, t=seen.latest.end)))
    assert think(restarted, (), newest, fresh=1) == think(policy, (), newest, fresh=1)
    assert restarted.state() == policy.state()


def test_it_does_the_work_of_the_guards_that_wait_itself() -> None:
    names = [guard.name for guard in chain(None, None, Predictive.takes_care_of)]
    assert "patience" not in names
    assert "stabilisation" not in names
    assert "max_step" in names
    wished = chain({"patience": {"seconds": 60.0}}, None, Predictive.takes_care_of)
    assert "patience" in [guard.name for guard in wished]


@pytest.mark.parametrize(
    ("options", "field"),
    [({"headroom": 0}, "headroom"), ({"miss_price": 0}, "miss_price"), ({"missed_share": 1}, "missed_share")],
)
def test_options_that_cannot_be_are_refused(options: dict[str, float], field: str) -> None:
    with pytest.raises(InvalidValueError, match=f"^{field} must"):
        POLICIES.create("predictive", options)


def observation(cycles: list[Cycle]) -> Observation:
    """What the loop would see after these cycles."""
    samples = tuple(sample for cycle in cycles[-20:] for sample in cycle.samples if not sample.warm_up)
    last = cycles[-1]
    return Observation(
        t=last.t, topology=CLICKS.job.topology, slo=CLICKS.slo, plan=last.decision.plan, samples=samples,
        history=tuple(cycles[-20:]),
    )  # fmt: skip


def test_who_will_surely_be_too_small_does_not_wait_to_see_by_how_much() -> None:
    """By the horizon it is cheapest to stay, as later choices know what comes; but until then targets are missed."""
    options = [
        Option(Rung({"op": slots}, slots, 100.0 * slots, 120.0 * slots, 0.0, True), 600.0 * slots, 0.0, cost)
        for slots, cost in ((3, 90.0), (5, 80.0), (7, 95.0), (4, 70.0))
    ]  # the last is the one in force
    chosen = [min(in_time(options, rate), key=lambda each: each.cost).rung.slots for rate in (390.0, 450.0, 650.0)]
    assert chosen == [4, 5, 7]
    assert in_time(options, 900.0) == options  # no plan is large enough: they are weighed as they are


def behind(rate: float, backlog: int, drain: str | None = None, interval: str = "10 s") -> list[Cycle]:
    """A line of light operators over one partition that begins with records waiting, one instance of each."""
    service_ms = {"parse": 4.0, "enrich": 2.0, "write": 1.0}
    operators = [
        Operator(name, max=8, chained=name != "parse", readers=1 if name == "parse" else 0) for name in service_ms
    ]
    behaviours = {name: Behaviour(service_ms=ms, variability=0.5) for name, ms in service_ms.items()}
    job = Job("line", Topology.chain(*operators), behaviours, engine=Engine(queue_records=100))
    workload = Workload(job, Slo(event_latency="10 s", drain=drain), constant(rate, 600.0), "a line", "this test")
    return run(Predictive(), workload, interval=interval, step_seconds=0.5, backlog=backlog)[1]


def gone_after(cycles: list[Cycle]) -> float:
    """When no more waited than the target of ten seconds tolerates."""
    windows = [window for cycle in cycles for window in cycle.samples]
    return next(each.end for each in windows if each.waiting <= 10.0 * each.offered_rate)


def test_what_waits_is_worked_off_faster_where_nothing_comes_any_more() -> None:
    """One instance of all does 143 records/s: by itself it would take ten minutes."""
    cycles = behind(rate=0.0, backlog=80_000)
    assert max(cycle.decision.plan.total for cycle in cycles) > 3
    assert gone_after(cycles) < 300.0
    assert any(" wait: " in cycle.decision.reason.text for cycle in cycles)


@pytest.mark.parametrize("rate", [0.0, 60.0])
def test_what_waits_has_gone_within_the_limit_of_the_slo(rate: float) -> None:
    """Without a limit it is not worth that many slots."""
    assert gone_after(behind(rate, backlog=20_000)) > 50.0
    assert gone_after(behind(rate, backlog=20_000, drain="45 s")) <= 45.0


def test_who_knows_the_job_and_hardly_minds_missed_seconds_still_keeps_the_limit_of_the_slo() -> None:
    policy = Predictive(miss_price=0.01)
    _, cycles = run(policy, replace(CLICKS, trace=constant(20_000.0, HOUR)))
    seen = observation(cycles)
    window = replace(seen.latest, t=seen.latest.end, backlog=1_200_000.0)  # a minute of input
    seen = replace(seen, samples=(*seen.samples, window), t=window.end)
    policy.learn(seen)
    some_time = policy.decide(seen).plan
    in_a_minute = policy.decide(replace(seen, slo=replace(seen.slo, drain="1 min"))).plan
    assert some_time.total <= seen.plan.total
    assert in_a_minute.total >= 1.5 * seen.plan.total  # twice the present rate, and it was not all busy


def test_what_grew_for_a_backlog_may_shrink_when_that_has_gone() -> None:
    cycles = behind(rate=20.0, backlog=60_000)
    largest = max(cycle.decision.plan.total for cycle in cycles)
    assert largest > cycles[-1].decision.plan.total == 3


def test_where_no_plan_drains_in_time_those_that_are_nearly_as_fast_as_any_are_weighed() -> None:
    options = [
        Option(Rung({"op": slots}, slots, 0.9 * rate, rate, 0.0, True), 600.0 * slots, 0.0, cost)
        for slots, rate, cost in ((3, 300.0, 90.0), (5, 480.0, 95.0), (9, 500.0, 99.0), (4, 400.0, 70.0))
    ]
    kept = [drained_in_time(options, rate) for rate in (0.0, 400.0, 450.0, 900.0)]
    chosen = [min(each, key=lambda option: option.cost).rung.slots for each in kept]
    assert chosen == [4, 4, 5, 5]


def test_what_is_ruled_out_for_two_reasons_leaves_a_plan() -> None:
    """The fastest plan is not one that is large enough for what will surely come: it stays all the same."""
    options = [
        Option(Rung({"op": slots}, slots, limit, capacity, 0.0, True), 600.0 * slots, 0.0, cost)
        for slots, limit, capacity, cost in ((3, 300.0, 310.0, 90.0), (5, 350.0, 900.0, 95.0), (4, 400.0, 500.0, 99.0))
    ]
    left = in_time(drained_in_time([*options, options[0]], 800.0), 380.0)
    assert min(left, key=lambda each: each.cost).rung.slots == 5
