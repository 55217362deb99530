"""Runs trials in the simulator, on a twin of the job with the service times that Spark has just shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from threadpoolctl import threadpool_limits

from penstock.model import Cycle, PenstockError, Sample, Topology
from penstock.papers.spark.trial import Run, Trial
from penstock.runs.simulation import Simulation
from penstock.runs.twin import twin
from penstock.runs.workload import Workload
from penstock.simulator.job import Change, Job

STEP_SECONDS = 0.25
CALM_SECONDS = 0.5
QUEUE_RECORDS = 20
SETTING = "the simulator's column is the same job, load and policy with the service times measured on Spark"


class NothingMeasuredError(PenstockError):
    """No window of a job on Spark shows all that its twin needs."""


def simulated(runs: Sequence[Run]) -> list[Run]:
    """The same trials, in the same order."""
    job = twin_of(runs)
    return [simulate(run.trial, run.topology, job) for run in runs]


def twin_of(runs: Iterable[Run]) -> Job:
    """The job of all these runs, as the simulator sees it."""
    runs = list(runs)
    trial, topology = runs[0].trial, runs[0].topology
    samples = [sample for run in runs for sample in run.samples]
    samples = [sample for sample in samples if _is_calm(sample)] or samples
    job = twin(trial.job.name, topology, samples, trial.execution, trial.batch_seconds)
    if job is None:
        raise NothingMeasuredError(f"no window of {trial.job.name} on Spark showed how long its operators take")
    # On Spark all that has not come out counts as waiting in the source, wherever it is.
    return replace(job, engine=replace(job.engine, queue_records=QUEUE_RECORDS))


def _is_calm(sample: Sample) -> bool:
    """Whether little waits. Where much does, latency is that of the queues, and a twin has queues of its own."""
    return (sample.backlog or 0.0) <= CALM_SECONDS * sample.offered_rate


def simulate(trial: Trial, topology: Topology, job: Job) -> Run:
    """A trial of a job in the simulator. A change that is handed over costs nothing there: the 50 ms of silence that it
    takes on Spark are less than a step."""
    cycles: list[Cycle] = []
    engine = replace(job.engine, change=Change.LIVE, downtime_seconds=0.0) if trial.hands_over else job.engine
    simulation = Simulation(
        Workload(replace(job, start=trial.start, engine=engine), trial.slo, trial.trace, summary="", source=""),
        **trial.keywords(),
        step_seconds=STEP_SECONDS,
        backlog=trial.backlog,
    )
    with threadpool_limits(1):  # the matrices of a decision are small: threads cost more than they bring
        simulation.run(cycles.append, lambda: trial.enough(cycles))
    return Run(trial, topology, tuple(cycles))
