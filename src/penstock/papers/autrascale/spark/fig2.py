"""Fig. 2 of AuTraScale on Spark: operators that compute, so that instances get in each other's way.

The other jobs wait where a cluster would compute, so that few cores carry many instances. Here each word is hashed over
and over, which takes a core for milliseconds: from as many instances on as there are cores, one more takes its time
from the others.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from math import ceil
from statistics import median

import pyspark.sql.functions as F  # noqa: N812
from pyspark.sql import DataFrame

from penstock.load.curves import constant
from penstock.model import Plan, Slo
from penstock.papers.autrascale.case_studies import PAPER_THROUGHPUT
from penstock.papers.autrascale.spark.wordcount import lines
from penstock.papers.autrascale.spark.yahoo_walk import has_ended
from penstock.papers.spark.runner import TrialRunner
from penstock.papers.spark.trial import KEEP_UP, Cycles, Run, Trial, plan_of
from penstock.report.item import Chart, Item, Row
from penstock.report.judging import Judged, Verdict, cannot_be_judged, theirs, unless
from penstock.runs.spark_workload import SparkWorkload
from penstock.spark import Pipeline
from penstock.spark.io.endpoints import Sink, Source

TIMES = 300_000
"""A word is hashed so many times in a row: some two megabytes, which takes about five milliseconds of a core."""
SERVICE_MS = {"source": 0, "flat_map": 0, "count": 5, "sink": 0}
RATE, SECONDS, WALK_SECONDS, MOST = 500.0, 30.0, 70.0, 6
PARALLELISM = (1, 2, 3, 4)
WINDOWS = 4
SILENT = cannot_be_judged("nothing came through in the windows of its last plan")
"""Such windows say nothing about a plan, nor about the policy that ended with it."""
POLICY = "autrascale"
OPTIONS = {"keep_up_tolerance": KEEP_UP, "policy_running_time": 4.0, "throughput_noise": 0.1}


def pipeline(source: Source, sink: Sink, most: int = MOST) -> Pipeline:
    """Only counting computes: the four of the paper's job would have two cores busy with one instance each."""
    job = Pipeline("wordcount_computing", source=source)
    read = job.operator("source", read_line, max=1)
    split = job.operator("flat_map", words, after=read, max=1)
    counted = job.operator("count", count, after=split, key="word", max=most)
    job.operator("sink", lambda frame: frame, after=counted, max=1)
    job.sink(sink, after="sink")
    return job


def read_line(frame: DataFrame) -> DataFrame:
    return frame.select(F.col("value").cast("string").alias("line"), "stamp")


def words(frame: DataFrame) -> DataFrame:
    return frame.select(F.explode(F.split(F.lower("line"), r"\s+")).alias("word"), "stamp")


def count(frame: DataFrame) -> DataFrame:
    digest = F.sha2(F.repeat("word", TIMES), 512)
    return frame.select("word", F.lit(1).alias("increment"), digest.alias("digest"), "stamp")


JOB = SparkWorkload(
    "wordcount_computing",
    pipeline,
    lines,
    SERVICE_MS,
    constant(RATE, SECONDS),
    Slo(),
    Plan(dict.fromkeys(SERVICE_MS, 1)),
)


def trial(parallelism: int) -> Trial:
    plan = plan_of(JOB, (1, 1, parallelism, 1))
    return Trial(f"p = {parallelism}", JOB, JOB.trace, JOB.slo, plan, policy="static", enough=is_seen)


def is_seen(cycles: Cycles) -> bool:
    return len(_throughputs(cycles)) >= WINDOWS


def walk() -> Trial:
    load = constant(RATE, WALK_SECONDS)
    return Trial(POLICY, JOB, load, JOB.slo, JOB.start, policy=POLICY, policy_options=OPTIONS, enough=has_ended)


def fig_2(runner: TrialRunner) -> Item:
    return item([runner.run(trial(p)) for p in PARALLELISM], runner.run(walk()), os.cpu_count() or 1)


def item(fixed: Sequence[Run], own: Run, cores: int) -> Item:
    done = {p: _carried(run) for p, run in zip(PARALLELISM, fixed, strict=True)}
    instances = own.plans[-1][2]
    return Item.of(
        title="AuTraScale, Fig. 2, on Spark",
        setting=f"wordcount whose count hashes two megabytes for each word, on the real-time engine at {RATE:.0f} "
        f"records/s, more than {cores} cores can do; p instances of the count, one of the others, {WINDOWS} windows "
        f"each; then autrascale from one of each, at most {MOST}, policy running time 4 s, without a latency target. "
        "Other programs may have run on the same cores. Nothing is simulated beside it",
        rows=(
            *(
                Row(f"throughput, p = {p}", PAPER_THROUGHPUT[p], None, "records/s", spark=rate)
                for p, rate in done.items()
            ),
            Row(f"{POLICY}: instances of the count", None, None, spark=instances),
            Row(f"{POLICY}: plans run", "at most 4", None, spark=len(own.plans)),
            Row(f"{POLICY}: throughput of its plan", None, None, "records/s", spark=_carried(own)),
        ),
        claims={
            "a second instance brings more": _more(done, 1, 2, None),
            "a fourth brings less than a second did": _more(done, 3, 4, (1, 2)),
            "AuTraScale ends though no plan keeps up": (
                (has_ended(own.cycles), " -> ".join(map(str, own.plans))) if _carried(own) != 0.0 else SILENT
            ),
            "and does not keep all instances there may be": (
                SILENT
                if _carried(own) == 0.0
                else unless((instances < MOST, f"{instances} of {MOST}"), theirs(_sized_for_its_parents(own)))
                if has_ended(own.cycles)
                else cannot_be_judged("it had not ended")
            ),
        },
        charts=(Chart("Fig. 2 on Spark", "s", "records/s", tuple(run.throughput for run in (*fixed, own))),),
    )


def _sized_for_its_parents(own: Run) -> str:
    """What the first decision of the walk knew of the count and of the operator in front of it."""
    known = (cycle.decision.figures.get("true_processing_rate") for cycle in own.cycles if cycle.changed)
    rates = next((each for each in known if each), None)
    figures = (
        f": one flat map {rates['flat_map']:,.0f} records/s. For the {RATE:.0f} that come, "
        f"{ceil(RATE / rates['count'])} would be asked for"
        if rates
        else ""
    )
    return f"equation 3 sizes the count for all that its parents can send, not for what comes to them{figures}"


def _throughputs(cycles: Cycles) -> list[float]:
    """Of the windows in which the job has settled."""
    samples = (sample for cycle in cycles for sample in cycle.samples if not sample.warm_up)
    return [sample.throughput for sample in samples if sample.throughput is not None]


def _carried(run: Run) -> float | None:
    settled = [sample.throughput for sample in run.settled if sample.throughput is not None]
    return median(settled) if settled else None


def _more(done: dict[int, float | None], few: int, many: int, than: tuple[int, int] | None) -> Judged | Verdict:
    """Whether `many` instances bring more than `few`; with `than`, whether that is less than those two differ by."""
    rates = [done[p] for p in (few, many, *(than or ()))]
    known = [rate for rate in rates if rate is not None]
    if len(known) < len(rates):
        return cannot_be_judged("not measured at each of them")
    gain = known[1] - known[0]
    if than is None:
        return gain > 0, f"{known[0]:,.0f} and {known[1]:,.0f} records/s"
    return gain < known[3] - known[2], f"{gain:+,.0f} against {known[3] - known[2]:+,.0f} records/s"
