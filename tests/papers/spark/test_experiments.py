"""What the experiments on Spark make of what was seen: stories told by hand, without Spark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from penstock.model import (
    Cycle,
    Decision,
    InvalidValueError,
    Latency,
    Mode,
    OperatorSample,
    Plan,
    Reason,
    ReasonCode,
    Sample,
)
from penstock.papers.autoscale.spark import fig9
from penstock.papers.autrascale.spark import fig5
from penstock.papers.autrascale_plus.spark import fig11, table4
from penstock.papers.catalogue import items_on_spark, papers_on_spark
from penstock.papers.psps.spark import table8
from penstock.papers.spark.simulated import NothingMeasuredError, simulated, twin_of
from penstock.papers.spark.trial import Run, Trial, plan_of
from penstock.report.item import Item, Judgement, Row
from penstock.report.side_by_side import for_page

Configuration = tuple[int, ...]


def window(
    t: float, trial: Trial, plan: Configuration, throughput: float, rate: float = 200.0, backlog: float = 0.0,
    latency_ms: float | None = 100.0, warm_up: bool = False,
) -> Sample:  # fmt: skip
    """Two seconds of a job."""
    records = 2.0 * throughput
    operators = {
        name: OperatorSample(k, records, records, records * trial.job.service_ms[name] / 1e3, latency_ms=10.0)
        for name, k in plan_of(trial.job, plan).parallelism.items()
    }
    latency = None if latency_ms is None else Latency(latency_ms, latency_ms, latency_ms, latency_ms)
    return Sample(
        t=t, seconds=2.0, operators=operators, input_rate=rate, throughput=throughput, backlog=backlog,
        processing_latency_ms=latency, event_latency_ms=latency, warm_up=warm_up,
    )  # fmt: skip


def cycle(before: Plan, after: Plan, *samples: Sample) -> Cycle:
    """A decision that was carried out, upon some windows."""
    code = ReasonCode.STEADY if before == after else ReasonCode.SCALE_UP
    return Cycle(
        t=samples[-1].end, mode=Mode.ACTIVE, before=before, decision=Decision(plan=after, reason=Reason(code, "")),
        samples=samples, applied=True,
    )  # fmt: skip


def story(trial: Trial, *chapters: tuple[Configuration, Sequence[Sample]]) -> Run:
    """One cycle for each window; the plan of a chapter is asked for in the last cycle of the one before."""
    cycles = []
    plans = [plan_of(trial.job, configuration) for configuration, _ in chapters]
    for number, (_, samples) in enumerate(chapters):
        for sample in samples:
            last = sample is samples[-1] and number + 1 < len(chapters)
            cycles.append(cycle(plans[number], plans[number + 1] if last else plans[number], sample))
    topology = trial.job.pipeline(None, None).topology()  # type: ignore[arg-type]
    return Run(trial, topology, tuple(cycles))


def windows(trial: Trial, plan: Configuration, start: float, *throughputs: float, **figures: float) -> list[Sample]:
    return [window(start + 2 * n, trial, plan, one, **figures) for n, one in enumerate(throughputs)]  # type: ignore[arg-type]


def judgement(item: Item, words: str) -> Judgement:
    (found,) = [claim.judgement for claim in item.claims if words in claim.text]
    return found


def figure(item: Item, label: str) -> Row:
    (found,) = [row for row in item.rows if row.label == label]
    return found


# By name -------------------------------------------------------------------------------------------------------------


def test_what_runs_on_spark_is_asked_for_by_paper_and_item() -> None:
    assert papers_on_spark() == ["autoscale", "autrascale", "autrascale_plus", "psps"]
    assert list(items_on_spark("autrascale_plus")) == ["table4", "fig11"]
    assert list(items_on_spark("psps", "table8")) == ["table8"]
    with pytest.raises(InvalidValueError, match="did you mean 'fig11'"):
        items_on_spark("autrascale_plus", "fig1")
    with pytest.raises(InvalidValueError, match="paper on Spark 'dp_stream' is not known"):
        items_on_spark("dp_stream")


# Throughput optimisation ---------------------------------------------------------------------------------------------

ONES, GROWN, LEAST = (1, 1, 1, 1), (1, 2, 6, 5), (1, 1, 3, 2)


def walk(policy: str, end: Configuration, reached: float) -> Run:
    trial = fig5.trial(policy)
    first, second = windows(trial, ONES, 4, 90, 90), windows(trial, end, 12, reached, reached)
    return story(trial, (ONES, first), (end, second))


def test_a_walk_that_ends_where_the_job_keeps_up_is_as_in_the_paper() -> None:
    runs = [walk("ds2", LEAST, 199), walk("autrascale", GROWN, 260)]
    item = fig5.item(runs, runs)
    assert [claim.judgement for claim in item.claims] == [Judgement.HOLDS] * 6
    plan = figure(item, "autrascale: plan")
    assert (plan.paper, plan.ours, plan.spark) == ("(3, 4, 12, 10)", "(1, 2, 6, 5)", "(1, 2, 6, 5)")
    assert figure(item, "ds2: throughput").spark == 199
    assert figure(item, "autrascale: plans run").spark == 2


def test_a_walk_that_never_keeps_up_does_not_hold() -> None:
    runs = [walk("ds2", LEAST, 120), walk("autrascale", (2, 2, 2, 2), 120)]
    item = fig5.item(runs, runs)
    assert judgement(item, "keeps up") is Judgement.FAILS
    assert judgement(item, "above the input") is Judgement.FAILS
    assert judgement(item, "shape of the paper's") is Judgement.FAILS
    assert judgement(item, "DS2 reaches") is Judgement.FAILS
    assert judgement(item, "at most 4 plans") is Judgement.HOLDS


def test_a_walk_has_not_arrived_while_it_warms_up_or_still_changes() -> None:
    trial = fig5.trial("ds2")
    ones, grown = plan_of(trial.job, ONES), plan_of(trial.job, GROWN)
    good = [cycle(grown, grown, sample) for sample in windows(trial, GROWN, 4, 200, 191)]
    assert fig5.has_arrived(good)
    assert not fig5.has_arrived(good[:1])
    assert not fig5.has_arrived([good[0], cycle(ones, grown, window(6, trial, ONES, 200))])
    assert not fig5.has_arrived([good[0], cycle(grown, grown, window(6, trial, GROWN, 200, warm_up=True))])
    assert not fig5.has_arrived([good[0], cycle(grown, grown, window(6, trial, GROWN, 189))])


# Scale up and down ---------------------------------------------------------------------------------------------------


def scaled(kind: str, method: str, end: Configuration, latency_ms: float) -> Run:
    trial, start = table4.trial(kind, method), table4.STARTS[kind]
    after = [window(10 + 2 * n, trial, end, 200, latency_ms=latency_ms) for n in range(3)]
    return story(trial, (start, windows(trial, start, 4, 100)), (end, after))


def test_who_meets_the_target_with_fewer_instances_wins() -> None:
    plans = {"DRS observed": (7, 7, 7, 7), "DRS true": (1, 1, 3, 2), "AuTraScale+": GROWN}
    latency = {"DRS observed": 200.0, "DRS true": 2000.0, "AuTraScale+": 300.0}
    runs = [scaled(kind, method, plans[method], latency[method]) for kind in table4.STARTS for method in plans]
    item = table4.item(runs, runs)
    assert [claim.judgement for claim in item.claims] == [Judgement.HOLDS] * 6
    assert figure(item, "saved against DRS, scale up").spark == pytest.approx(1 - 14 / 17.5)
    assert figure(item, "down, DRS true: meets QoS").spark == "no"
    assert figure(item, "up, AuTraScale+: latency").spark == 300.0
    assert figure(item, "up, AuTraScale+: iterations").spark == 1
    assert figure(item, "up, AuTraScale+: plan").paper == "(7, 8, 12, 38)"


def test_a_plan_that_was_never_changed_has_not_settled() -> None:
    trial = table4.trial("down", "AuTraScale+")
    plan = plan_of(trial.job, table4.STARTS["down"])
    calm = [cycle(plan, plan, window(2.0 * n, trial, table4.STARTS["down"], 200)) for n in range(5)]
    assert not table4.has_settled(calm)


def test_a_window_whose_latency_nobody_measured_meets_nothing() -> None:
    trial = table4.trial("up", "DRS true")
    assert table4.meets(window(0, trial, GROWN, 200, latency_ms=499))
    assert not table4.meets(window(0, trial, GROWN, 200, latency_ms=501))
    assert not table4.meets(window(0, trial, GROWN, 200, latency_ms=None))


# A backlog -----------------------------------------------------------------------------------------------------------


FEW, MANY = (2, 2, 6, 5), (7, 7, 7, 7)
PLANS = {"autrascale_plus": FEW, "exponent": (2, 4, 7, 7), "proportion": (2, 3, 7, 6), "max": MANY}


def drain(method: str, plan: Configuration, late: int) -> Run:
    """The first window tells no latency, then it is missed in so many, and met in the last one."""
    trial = fig11.trial(method, plan_of(fig11.JOB, plan), 4_000)
    silent = window(0, trial, plan, 300, backlog=3000, latency_ms=None)
    missed = [window(2 + 2 * n, trial, plan, 400, backlog=1000, latency_ms=5e3) for n in range(late)]
    return story(trial, (plan, [silent, *missed, window(2 + 2 * late, trial, plan, 300)]))


def test_the_time_to_drain_ends_when_the_latency_is_met_again() -> None:
    found = fig11.drained(drain("max", MANY, late=5))
    assert (found.seconds, found.instances, found.core_seconds) == (14.0, 28, 14 * 28)
    assert found.in_time
    assert not fig11.drained(drain("max", MANY, late=15)).in_time


def test_a_latency_that_is_met_before_the_backlog_shows_ends_nothing() -> None:
    whole = drain("max", MANY, late=1)
    early = cycle(whole.trial.start, whole.trial.start, window(0, whole.trial, MANY, 300))
    assert fig11.drained(replace(whole, cycles=(early, *whole.cycles))).seconds == 6.0


def test_a_backlog_that_is_still_there_at_the_end_has_no_time() -> None:
    whole = drain("exponent", PLANS["exponent"], late=5)
    assert fig11.is_over(whole.cycles)
    assert not fig11.is_over(whole.cycles[:-1])
    found = fig11.drained(replace(whole, cycles=whole.cycles[:-1]))
    assert (found.seconds, found.in_time) == (None, False)


def test_fewer_instances_in_time_are_what_autrascale_plus_claims() -> None:
    runs = [drain(method, plan, late=5) for method, plan in PLANS.items()]
    item = fig11.item(runs, runs, 100.0)
    assert [claim.judgement for claim in item.claims] == [Judgement.HOLDS] * 6
    assert figure(item, "saved against max").spark == pytest.approx(1 - 15 / 28)
    slow = [drain("autrascale_plus", FEW, late=30), *runs[1:]]
    assert judgement(fig11.item(slow, runs, 100.0), "AuTraScale+ keeps the limit") is Judgement.FAILS


def test_each_method_finds_its_plan_from_the_window_in_which_the_backlog_has_come() -> None:
    """4,526 records wait, 200 a second come, and the plan does 300: at 338 a second they are gone within 30 s."""
    calm = story(fig11.CALM, (fig11.STEADY, windows(fig11.CALM, fig11.STEADY, 4, 200, 200)))
    late = window(20, fig11.BURDENED, fig11.STEADY, 300, backlog=4_526, latency_ms=9e3)
    burdened = story(fig11.BURDENED, (fig11.STEADY, [late]))
    found = fig11.trials(calm, burdened)
    assert {one.label: tuple(one.start.parallelism.values()) for one in found} == PLANS
    assert {one.backlog for one in found} == {4_526}


# The 3-step stream ---------------------------------------------------------------------------------------------------


def streamed(name: str, *plans: Configuration, waiting: float = 1.0) -> Run:
    """Two seconds of each plan at 100 items a second; so many wait at the end."""
    trial = fig9.trial(name)
    return story(trial, *(
        (plan, [window(2.0 * n, trial, plan, 100, rate=100.0, backlog=waiting)]) for n, plan in enumerate(plans)
    ))  # fmt: skip


def test_the_line_on_spark_tells_the_story_of_the_figure() -> None:
    runs = [
        streamed("Storm, minimal", *[(1, 1, 1)] * 4, waiting=600),
        streamed("AUTOSCALE", (1, 1, 1), (1, 1, 6), (1, 1, 3), (1, 1, 1)),
        streamed("Storm, expert", *[(1, 1, 8)] * 4),
    ]
    item = fig9.item(runs, runs)
    assert [claim.judgement for claim in item.claims] == [Judgement.HOLDS] * 5
    expert = fig9.seen(runs[2])
    assert (expert.cores, expert.memory_mb) == pytest.approx((6.8, 4608.0))  # as Table III has it
    assert figure(item, "less CPU than expert degrees").spark == pytest.approx(100 * (1 - 2.6 / 6.8))
    assert figure(item, "Storm, minimal").spark == "congested"
    assert figure(item, "Storm, minimal: processed").spark == pytest.approx(25.0)  # 800 came
    assert figure(item, "AUTOSCALE: degree of the sink, highest").spark == 6


def test_a_line_whose_last_items_wait_no_longer_than_storm_has_patience_is_not_congested() -> None:
    """At 100 items a second, 150 come within its time-out on this scale."""
    assert fig9.seen(streamed("Storm, minimal", (1, 1, 1), waiting=151)).congested
    runs = [streamed(name, *[(1, 1, 2)] * 2, waiting=149) for name in fig9.TRIALS]
    runs[1] = streamed("AUTOSCALE", *[(1, 1, 2)] * 2)
    item = fig9.item(runs, runs)
    assert judgement(item, "AUTOSCALE grows") is Judgement.FAILS  # nothing waits, but two sinks are no growth
    assert judgement(item, "with minimal degrees") is Judgement.FAILS
    assert judgement(item, "it shrinks again") is Judgement.FAILS
    assert judgement(item, "37.5 %") is Judgement.FAILS


# Tweets --------------------------------------------------------------------------------------------------------------


def tweeted(name: str, plan: Configuration, throughput: float, latency_ms: float) -> Run:
    trial = table8.trial(name)
    start = plan_of(trial.job, plan)
    samples = [window(2.0 * n, trial, plan, throughput, rate=100.0, latency_ms=latency_ms) for n in range(4)]
    run = story(trial, (plan, samples))
    return replace(run, trial=replace(trial, start=start))


def test_psps_processes_nearly_all_with_fewer_replicas() -> None:
    runs = [
        tweeted("PSPS", (4,) * 4, 98, 2500),
        tweeted("r = 1", (1,) * 4, 40, 9e3),
        tweeted("r = 8", (8,) * 4, 100, 900),
    ]
    item = table8.item(runs, runs)
    assert [claim.judgement for claim in item.claims] == [Judgement.HOLDS] * 5
    assert figure(item, "PSPS: saved resources").spark == pytest.approx(0.5)
    assert figure(item, "r = 1: processed events").spark == pytest.approx(0.4)
    assert figure(item, "r = 8: throughput degradation").spark == pytest.approx(0.0)
    assert judgement(table8.item([runs[2], runs[1], runs[0]], runs), "about half of the replicas") is Judgement.FAILS


# Simulator and Spark side by side ------------------------------------------------------------------------------------


def test_a_twin_takes_the_service_times_of_calm_windows_and_the_same_trials() -> None:
    """In the window with a backlog operators look slow and records wait long: the twin must not learn from them."""
    trial = fig5.trial("ds2")
    calm = windows(trial, GROWN, 10, 200)
    slow = {name: OperatorSample(1, 180, 180, 9.0) for name in trial.job.service_ms}
    busy = [replace(window(t, trial, ONES, 90, backlog=2000, latency_ms=8e3), operators=slow) for t in (4, 6)]
    run = story(trial, (ONES, busy), (GROWN, calm))
    job = twin_of([run])
    assert {name: b.service_ms for name, b in job.behaviours.items()} == trial.job.service_ms
    (same,) = simulated([run])
    assert same.trial is trial
    assert same.plans[0] == ONES
    assert fig5.has_arrived(same.cycles)


def test_a_twin_of_a_job_that_told_nothing_is_refused() -> None:
    trial = fig5.trial("ds2")
    silent = window(4, trial, ONES, 0.0, latency_ms=None)
    with pytest.raises(NothingMeasuredError, match="no window of wordcount on Spark"):
        twin_of([story(trial, (ONES, [silent]))])


def test_a_page_sets_spark_beside_the_simulator() -> None:
    rows = (Row("rate", 350e3, 200.0, "records/s", spark=190.0), Row("plan", "(3, 4)", "(1, 2)", spark="(1, 2)"))
    page = for_page(Item("Table I", "one job", rows, ()), [])
    assert "| | paper | simulator | Spark | Spark / simulator | unit |" in page
    assert "| rate | 350,000 | 200 | 190 | 0.95 | records/s |" in page
    assert "| plan | (3, 4) | (1, 2) | (1, 2) |  |  |" in page
