"""Table VIII of PSPS on Spark: its Twitter application in micro-batches, under PSPS and with fixed replicas."""

from __future__ import annotations

from penstock.model import Execution
from penstock.papers.psps.runs import PSPS, Metrics, degradation, rows
from penstock.papers.psps.spark.trials import BATCH, after_a_calm, execution_ms
from penstock.papers.psps.spark.twitter import COMPRESSED, JOBS, OVER_PROVISIONED, PEAK
from penstock.papers.psps.table8 import TABLE_8
from penstock.papers.spark import simulated
from penstock.papers.spark.runner import TrialRunner
from penstock.papers.spark.trial import Run, Trial, plan_of
from penstock.report.bands import SHARE
from penstock.report.item import Chart, Item, Row, Series
from penstock.report.judging import Judged, Verdict, agrees

(JOB,) = JOBS
TD = 30.0 / COMPRESSED
TRIALS = {
    "PSPS": ("psps", 1, {"window_seconds": TD, "execution_ms": execution_ms(JOB)}),
    "r = 1": ("static", 1, {}),
    "r = 4": ("static", 4, {}),
    "r = 8": ("static", 8, {}),
}
PAPER = {"PSPS": PSPS, **{f"r = {r}": found for r, found in TABLE_8.items()}}
STREAM = after_a_calm(JOB.trace)


def trial(name: str) -> Trial:
    policy, replicas, options = TRIALS[name]
    return Trial(
        name, JOB, STREAM, JOB.slo, plan_of(JOB, (replicas,) * 4), policy=policy, policy_options=options,
        execution=Execution.SEQUENTIAL, interval=f"{TD:g} s", batch_seconds=BATCH,
    )  # fmt: skip


def metrics(run: Run) -> Metrics:
    """The paper's metrics. Latency is the event latency, since no event of the paper waits outside of Storm."""
    result = run.result
    return Metrics(
        saved=1.0 - result.mean_parallelism / (4 * OVER_PROVISIONED),
        degradation=degradation([cycle for cycle in run.cycles if cycle.samples]),
        processed=result.processed_ratio,
        latency_ms=result.event_latency_ms.mean or 0.0,
    )


def table_8(runner: TrialRunner) -> Item:
    spark = [runner.run(trial(name)) for name in TRIALS]
    return item(spark, simulated.simulated(spark))


def item(spark: list[Run], twins: list[Run]) -> Item:
    here = {run.trial.label: metrics(run) for run in spark}
    own, one, four, _ = here.values()
    return Item.of(
        title="PSPS, Table VIII, on Spark",
        setting=f"twitter in micro-batches of {BATCH:g} s, the first of three surges, up to {PEAK:.0f} events/s, "
        f"{COMPRESSED:.0f} times as fast; psps every {TD:.0f} s against 1, 4 and 8 replicas of each operator; the "
        "operators of a batch take turns on the same slots, and nothing times out or is dropped: what one replica "
        f"cannot do waits; saved resources are against 8 of each; CPU is that of Spark's tasks, most of which wait; "
        f"{simulated.SETTING}",
        rows=rows_of_table_8(spark, twins),
        claims={
            **claims_of_table_8(here),
            "four process nearly as many": agrees(four.processed, own.processed, SHARE, ".3f"),
            "PSPS' throughput follows its input better than that of one replica": (
                own.degradation < one.degradation,
                f"degradation {own.degradation:.3f} against {one.degradation:.3f}",
            ),
        },
        charts=(
            Chart("Table VIII on Spark: replicas", "s", "replicas", tuple(_replicas(run) for run in spark)),
            Chart("Table VIII on Spark: throughput", "s", "events/s", tuple(run.throughput for run in spark)),
        ),
    )


def rows_of_table_8(spark: list[Run], twins: list[Run]) -> tuple[Row, ...]:
    """The paper's metrics of each run and its twin, and the CPU time of the run."""
    pairs = [(run.trial.label, run, twin) for run, twin in zip(spark, twins, strict=True)]
    return (
        *(row for name, run, twin in pairs for row in rows(name, PAPER[name], metrics(twin), metrics(run))),
        *(Row(f"{run.trial.label}: CPU in use", None, None, "cores", spark=run.cores_in_use) for run in spark),
    )


def claims_of_table_8(here: dict[str, Metrics]) -> dict[str, Judged | Verdict]:
    """What the table says on either engine."""
    own, one, eight = (here[name] for name in ("PSPS", "r = 1", "r = 8"))
    return {
        "one replica each is overloaded: the fewest events processed, at the highest latency of all": (
            one.processed < min(own.processed, eight.processed)
            and one.latency_ms > max(own.latency_ms, eight.latency_ms),
            f"{one.processed:.3f}, {one.latency_ms:,.0f} ms",
        ),
        "PSPS processes 0.9987 of all events; here what is missing still waited when the stream ended": agrees(
            own.processed, PSPS.processed, SHARE, ".3f"
        ),
        "and saves 0.5617 of r_over": agrees(own.saved, PSPS.saved, SHARE, ".3f"),
        "eight have a lower latency than PSPS, and save nothing": (
            eight.latency_ms < own.latency_ms and eight.saved == 0.0,
            f"{eight.latency_ms:,.0f} against {own.latency_ms:,.0f} ms",
        ),
    }


def _replicas(run: Run) -> Series:
    cycles = run.cycles
    return Series(run.trial.label, tuple(c.t for c in cycles), tuple(float(c.before.total) for c in cycles))
