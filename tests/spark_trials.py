"""Runs of trials on Spark, written by hand: what their experiments make of them is tested without Spark."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.model import Actuation, Cycle, Decision, Latency, Mode, OperatorSample, Plan, Reason, ReasonCode, Sample
from penstock.papers.spark.simulated import simulate
from penstock.papers.spark.trial import Run, Trial, plan_of
from penstock.report.item import Item, Row
from penstock.report.judging import Judgement
from penstock.simulator.job import Behaviour, Change, Engine, Job

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


def simulated_run(trial: Trial, **behaviours: Behaviour) -> Run:
    """A trial in the simulator, on a job whose operators take what they are to take on Spark, or behave as given."""
    topology = trial.job.pipeline(None, None).topology(Actuation.RESTART)  # type: ignore[arg-type]
    usual = {name: Behaviour(service_ms=max(ms, 0.05), hop_ms=18.0) for name, ms in trial.job.service_ms.items()}
    engine = Engine(change=Change.RESTART, downtime_seconds=1.0, queue_records=20)
    return simulate(trial, topology, Job(trial.job.name, topology, usual | behaviours, engine, start=trial.start))
