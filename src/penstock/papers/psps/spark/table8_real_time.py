"""Table VIII of PSPS on Spark's real-time engine, where operators run at once as in Storm, and what they cost in CPU.

A replica takes sixteen times as long for an event as in micro-batches, and half as many events come, so that eight of
each carry the peak and one does not, as in the paper. A change is handed over where there are slots for the old and the
new plan: nothing stops for it, as when a replica of PSPS' pool is woken up.
"""

from __future__ import annotations

from functools import partial

from penstock.model import Plan
from penstock.papers.psps.spark import twitter
from penstock.papers.psps.spark.table8 import claims_of_table_8, metrics, rows_of_table_8
from penstock.papers.spark import simulated
from penstock.papers.spark.runner import TrialRunner
from penstock.papers.spark.trial import HANDOVER, Run, Trial, plan_of
from penstock.report.item import Chart, Item
from penstock.runs.spark_workload import SparkWorkload

PEAK, EACH_MS, MOST = 210.0, 32, 10
"""Events a second at most, milliseconds of an event at each operator, and the replicas of an operator in the pool."""
SERVICE_MS = dict.fromkeys(twitter.SERVICE_MS, EACH_MS)
JOB = SparkWorkload(
    "twitter", partial(twitter.in_a_line, twitter.taking(SERVICE_MS), most=MOST), twitter.texts, SERVICE_MS,
    twitter.JOBS[0].trace.scaled(PEAK), twitter.JOBS[0].slo, Plan(dict.fromkeys(SERVICE_MS, 1)),
)  # fmt: skip
TD = 30.0 / twitter.COMPRESSED
OPTIONS = {"window_seconds": TD, "execution_ms": {name: float(ms) for name, ms in SERVICE_MS.items()}}
TRIALS = {"PSPS": ("psps", 1, OPTIONS), **{f"r = {r}": ("static", r, {}) for r in (1, 4, 8)}}


def trial(name: str) -> Trial:
    policy, replicas, options = TRIALS[name]
    return Trial(
        name, JOB, JOB.trace, JOB.slo, plan_of(JOB, (replicas,) * 4), policy=policy, policy_options=options,
        interval=f"{TD:g} s", change=HANDOVER,
    )  # fmt: skip


def table_8(runner: TrialRunner) -> Item:
    spark = [runner.run(trial(name)) for name in TRIALS]
    return item(spark, simulated.simulated(spark))


def item(spark: list[Run], twins: list[Run]) -> Item:
    cpu = {run.trial.label: run.cores_in_use for run in spark}
    return Item.of(
        title="PSPS, Table VIII, on Spark in real time",
        setting=f"twitter on the real-time engine, the first of three surges, up to {PEAK:.0f} events/s, "
        f"{twitter.COMPRESSED:.0f} times as fast; {EACH_MS} ms for an event at each operator; psps every {TD:.0f} s, "
        "whose changes are handed over without an interruption where there are slots for both plans, against 1, 4 and "
        "8 replicas of each operator; nothing times out or is dropped, and replicas get records in turn; CPU is what "
        "Spark counts for the tasks of all batches that have ended, the readers and what polls for records among them; "
        f"{simulated.SETTING}",
        rows=rows_of_table_8(spark, twins),
        claims={
            **claims_of_table_8({run.trial.label: metrics(run) for run in spark}),
            "fewer replicas mean less CPU (theirs, of the complex application: 8.41 % against 14.66 %)": _less_cpu(cpu),
        },
        charts=(
            Chart(
                "Table VIII in real time: replicas", "s", "replicas",
                tuple(run.line(lambda s: float(sum(o.parallelism for o in s.operators.values()))) for run in spark),
            ),
            Chart("Table VIII in real time: throughput", "s", "events/s", tuple(run.throughput for run in spark)),
        ),
    )  # fmt: skip


def _less_cpu(cpu: dict[str, float | None]) -> tuple[bool | None, str]:
    own, most = cpu["PSPS"], cpu["r = 8"]
    if own is None or most is None:
        return None, "Spark has forgotten some of the stages"
    return own < most, f"{own:.3f} against {most:.3f} cores"
