"""Values show themselves in notebooks, and what people wrote is escaped."""

from __future__ import annotations

from penstock.model import Cycle, Decision, Expected, Latency, Mode, Plan, ReasonCode, Slo
from penstock.runs.result import Result
from penstock.spark.application.report import ApplicationReport
from penstock.spark.report import Account

NASTY = "<script>"


def test_a_decision_shows_plan_reason_guards_and_expectation() -> None:
    small, large = Plan({NASTY: 1}), Plan({NASTY: 4})
    decision = Decision.move(small, large, f"{NASTY} is busy", policy="ds2")
    decision = decision.vetted("max_step", ReasonCode.MAX_STEP, "too far", Plan({NASTY: 2}))
    shown = decision._repr_html_()
    assert "<b>ds2: scale_up</b>" in shown
    for text in ("&lt;script&gt; 2", "&lt;script&gt; is busy", "asked for", "&lt;script&gt; 4", "max_step", "too far"):
        assert text in shown
    assert NASTY not in shown
    expected = Decision.hold(small, ReasonCode.STEADY, "", expected=Expected(throughput=1234.5))
    assert "1,234" in expected._repr_html_()


def test_a_result_shows_its_figures() -> None:
    result = Result(
        policy="ds2", workload="clicks", trace=NASTY, seed=3, seconds=7200, violation_ratio=0.012, core_seconds=1234,
        mean_parallelism=3.5, rescales=7, processed_ratio=1.0, throughput_degradation=0.0, saved_resources=0.4,
        lost_records=0, processing_latency_ms=Latency(mean=12, p95=30), event_latency_ms=Latency(),
        decision_ms=Latency(),
    )  # fmt: skip
    shown = result._repr_html_()
    for text in ("ds2 on clicks, trace &lt;script&gt;, seed 3", "1.20 % of the time", "1,234", "mean 12 ms, p95 30 ms"):
        assert text in shown
    assert "event latency" not in shown  # it was not measured


def test_reports_of_jobs_and_applications_show_their_lines() -> None:
    account, plan = Account(Slo(), Mode.ACTIVE, lambda plan: plan.total, None), Plan({"parse": 2})
    hold = Decision.hold(plan, ReasonCode.STEADY, f"{NASTY} is idle")
    for t in (10.0, 20.0):
        account.add(Cycle(t=t, mode=Mode.ACTIVE, before=plan, decision=hold, applied=True))
    report = account.report(["a note"])
    for shown in (report._repr_html_(), ApplicationReport(total=report, queries={"q": report})._repr_html_()):
        for text in ("steered for 10 s in active mode", "&lt;script&gt; is idle", "20 slot-seconds", "a note"):
            assert text in shown
        assert NASTY not in shown
