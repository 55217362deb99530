from __future__ import annotations

from penstock import Slo
from penstock.model import Cycle, Decision, Mode, OperatorSample, Reason, ReasonCode, Sample
from penstock.spark.application.report import ApplicationReport
from penstock.spark.executors.core_seconds import ExecutorBill
from penstock.spark.executors.shared_slots import Share
from penstock.spark.measure.query_monitor import JOB
from penstock.spark.report import Account

SHARE = Share(slots_each=2, least=1, most=5)


def cycle(t: float, before: int, decided: int) -> Cycle:
    sample = Sample(t=t, seconds=10, operators={JOB: OperatorSample(1)}, backlog=0.0, input_rate=1.0)
    decision = Decision(plan=SHARE.plan(decided), reason=Reason(ReasonCode.SCALE_DOWN, "it is idle"))
    return Cycle(t=t, mode=Mode.ACTIVE, before=SHARE.plan(before), decision=decision, samples=(sample,), applied=True)


def test_the_executors_are_those_of_the_application_and_each_query_has_its_decision() -> None:
    bill = ExecutorBill(lambda until: 6 * until, cores_each=2, most=5)
    total = Account(Slo(), Mode.ACTIVE, lambda plan: plan[JOB], bill)
    one, two = (Account(Slo(), Mode.ACTIVE, lambda plan: plan[JOB], None) for _ in range(2))
    for t, account, decided in ((0.0, one, 3), (5.0, two, 3), (10.0, one, 2), (20.0, two, 2)):
        for each in (total, account):
            each.add(cycle(t, before=3, decided=decided))
    queries = {"clicks": one.report(["its lag is not known"]), "views": two.report()}
    report = ApplicationReport(total=total.report(), queries=queries, notes=("a query is left out",))
    assert (report.mode, report.changes, report.total.taken, report.saved) == (Mode.ACTIVE, 2, 120, 1 - 120 / 200)
    lines = str(report).splitlines()
    assert lines[0] == "steered for 20 s in active mode, 2 changes made"
    assert lines[2] == "note: a query is left out"
    clicks, views = lines.index("clicks:"), lines.index("views:")
    assert "  in force: job 6; 3 executors; decided: job 4; 2 executors, because it is idle" in lines[clicks:views]
    assert "  note: its lag is not known" in lines[clicks:views]
    assert "  0.0 % of the measured time was outside the target" in lines[views:]


def test_before_the_first_decision_there_is_nothing_to_report() -> None:
    account = Account(Slo(), Mode.MONITOR, lambda plan: plan[JOB], None)
    report = ApplicationReport(total=account.report(), queries={"clicks": account.report()})
    assert str(report) == "steered for 0 s in monitor mode, 0 changes made\nclicks:\n  nothing was decided yet"
