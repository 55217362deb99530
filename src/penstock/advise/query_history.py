"""What a log tells of one streaming query: its load, its batches, its latency, and what they cost.

Where the figures come from is said in `spark/measure/query_monitor`: they are those of a query that is watched live.
Nothing here grows with the log: sums, series of a fixed size, and the batches that `performance/batch_memory` keeps.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from penstock.advise.knowledge import Learner
from penstock.advise.series import Series
from penstock.model import Batch
from penstock.performance.learnt_cost import LearntCost
from penstock.spark.measure.progress import BatchProgress
from penstock.spark.measure.stages import Stage

WARM_UP = 2
"""Batches that say nothing of the others: the first loads classes and takes what had waited before it, and the second
takes what came meanwhile. The history of a query begins with the start of the last of them."""

WAITED = 0.9
"""A batch that fills less than this part of the time to the next one waited for its trigger, or for records."""

REMEMBERED = 1000
LEARNT_TOGETHER = 20
"""Batches after which the cost is fitted anew: for every single one it would take longer than to read the log."""

BINS_PER_E_FOLD = 20
SLICES = 5


@dataclass(frozen=True, slots=True)
class Cluster:
    """What an application has at a moment, and what it has had until then.

    cores, slots, executors  that there are
    core_seconds             since the application began
    """

    cores: int
    slots: int
    executors: int
    core_seconds: float


@dataclass
class Distribution:
    """Values by their size, each bin 5 % wide, weighted."""

    _bins: defaultdict[int, float] = field(default_factory=lambda: defaultdict(float))
    _sum: float = 0.0

    def add(self, value: float, weight: float) -> None:
        self._bins[round(BINS_PER_E_FOLD * math.log(max(value, 1e-3)))] += weight
        self._sum += value * weight

    @property
    def mean(self) -> float | None:
        total = sum(self._bins.values())
        return self._sum / total if total else None

    def at(self, share: float) -> float | None:
        """The value that this share of the weight does not exceed."""
        reached, total = 0.0, sum(self._bins.values())
        for place in sorted(self._bins):
            reached += self._bins[place]
            if reached >= share * total:
                return math.exp(place / BINS_PER_E_FOLD)
        return None


class QueryHistory:
    """The figures of one query as its batches come, oldest first."""

    def __init__(self, id: str, name: str | None, target_seconds: float, learner: Learner | None = None) -> None:
        """`learner` is told of every batch as well."""
        self.id, self.name, self.learner = id, name or id[:8], learner
        self.key = name or id  # under which a store keeps what is learnt of it
        self.batches = 0
        self.records = 0.0
        self.task_seconds = 0.0
        self.batch_seconds = 0.0
        self.outside_seconds = 0.0
        self.highest_lag: float | None = None
        self.longest_seconds = 0.0
        self.real_time = False
        self.sources_without_lag: tuple[str, ...] = ()
        self.core_seconds = 0.0  # of the whole application while the query ran
        self.latency = Distribution()
        self.cost = LearntCost()
        self.tasks: defaultdict[int, float] = defaultdict(
            float
        )  # held seconds by the number of tasks of the dearest stage
        self._target = target_seconds
        self._cores_before = 0.0
        self._intervals: deque[float] = deque(maxlen=REMEMBERED)
        self._waited: deque[bool] = deque(maxlen=REMEMBERED)
        self._stretch = [0.0, 0.0]  # seconds of stages times slots that shared them, and held seconds
        self._unlearnt: list[Batch] = []
        self._warm_up = 0  # batches
        self.begin = 0.0  # Unix seconds
        self._last: BatchProgress | None = None
        self._looked = (0.0, 0.0)  # when a batch last looked at its source, and the lag that it left there
        self.arrived: Series | None = None
        self.latency_seconds: Series | None = None  # event latency times the seconds that it was shown for

    # Read ------------------------------------------------------------------------------------------------------------

    def add(self, progress: BatchProgress, stages: Sequence[Stage], cluster: Cluster) -> None:
        """Take in a batch that has ended, with what the application has then."""
        batch = batch_of(progress, stages) if stages else None
        if self.learner is not None:
            self.learner.add(progress, batch, cluster.slots, cluster.executors)
        if self._warm_up < WARM_UP or self._last is None:
            self._begin(progress, cluster)
            return
        self.core_seconds = cluster.core_seconds - self._cores_before
        self.task_seconds += sum(stage.held_seconds for stage in stages)
        self.batches += 1
        self.records += progress.records
        self.batch_seconds += progress.seconds
        self.longest_seconds = max(self.longest_seconds, progress.seconds)
        self._load(progress)
        self._pace(progress, self._last)
        if batch is not None and progress.records > 0:
            self._learn(progress, batch, stages, cluster.slots)
        self._last = progress
        self.sources_without_lag = progress.sources_without_lag

    def idle(self, t: float) -> None:
        """Nothing came until then."""
        if self.arrived is not None and t > self._looked[0]:
            self._arrive(t, 0.0)
            self._looked = (t, 0.0)

    def close(self) -> None:
        """There are no more batches in the log."""
        if self._unlearnt and self._last is not None:
            self.cost.learn(self._unlearnt, self._last.end)
            self._unlearnt = []

    def _begin(self, batch: BatchProgress, cluster: Cluster) -> None:
        """Begin with the start of a batch: what came before it is not counted, and neither is the batch itself."""
        self._warm_up += 1
        self._last = batch
        self.begin = batch.start
        self._cores_before = cluster.core_seconds - cluster.cores * batch.seconds
        self._looked = (batch.start, batch.lag or 0.0)
        self.sources_without_lag = batch.sources_without_lag
        self.arrived, self.latency_seconds = Series(batch.start), Series(batch.start)

    def _load(self, progress: BatchProgress) -> None:
        assert self._last is not None
        assert self.latency_seconds is not None
        looked_at, lag = self._looked
        between = max(progress.start - looked_at, 1e-3)
        gained = max(0.0, progress.records + (progress.lag or 0.0) - lag)
        self._arrive(progress.start, gained)
        self._looked = (progress.start, progress.lag or 0.0)
        if progress.lag is not None:
            self.highest_lag = max(self.highest_lag or 0.0, progress.lag)
        throughput = progress.records / between
        served = lag / throughput if throughput else 0.0
        since, seconds = self._last.end, max(0.0, progress.end - self._last.end)
        if progress.records > 0:
            latency = between / 2 + served + progress.seconds
            for part in range(SLICES):  # records came evenly between two looks
                age = between * (part + 0.5) / SLICES + served + progress.seconds
                self.latency.add(age, progress.records / SLICES)
            self.latency_seconds.add(since, progress.end, latency * seconds)
            self.outside_seconds += seconds if latency > self._target else 0.0

    def _arrive(self, t: float, records: float) -> None:
        assert self.arrived is not None
        self.arrived.add(self._looked[0], t, records)

    def _pace(self, progress: BatchProgress, before: BatchProgress) -> None:
        between = progress.start - before.start
        waited = before.seconds < WAITED * between
        self._waited.append(waited)
        if waited:
            self._intervals.append(between)

    def _learn(self, progress: BatchProgress, batch: Batch, stages: Sequence[Stage], slots: int) -> None:
        dearest = max(stages, key=lambda stage: stage.held_seconds)
        self.tasks[dearest.tasks] += dearest.held_seconds
        self._stretch[0] += batch.stage_seconds * sharing(dearest.tasks, slots)
        self._stretch[1] += batch.useful_seconds
        self._unlearnt.append(batch)
        if len(self._unlearnt) >= LEARNT_TOGETHER:
            self.cost.learn(self._unlearnt, progress.end)
            self._unlearnt = []

    # What it came to -------------------------------------------------------------------------------------------------

    @property
    def end(self) -> float:
        """Unix seconds at which its last batch ended."""
        return 0.0 if self._last is None else self._last.end

    @property
    def seconds(self) -> float:
        """From where it begins to the end of its last batch."""
        return self.end - self.begin if self.batches else 0.0

    @property
    def trigger_seconds(self) -> float:
        """From the start of a batch to that of the next, where batches wait for it; 0 where each follows the last."""
        often = sum(self._waited) > len(self._waited) / 10
        return round(median(self._intervals), 2) if often and self._intervals else 0.0

    @property
    def stretch(self) -> float:
        """What stages took, as a multiple of what they would if their tasks were alike and never waited."""
        lasted, held = self._stretch
        return max(1.0, lasted / held) if held else 1.0

    @property
    def usual_tasks(self) -> int | None:
        """The number of tasks of the stages in which most time is spent."""
        return max(self.tasks, key=lambda tasks: self.tasks[tasks]) if self.tasks else None


def sharing(tasks: int, slots: int) -> float:
    """How many slots share the work of a stage: in the last of several rounds of tasks some have none.

    >>> sharing(tasks=8, slots=5), sharing(tasks=8, slots=16)
    (4.0, 8.0)
    """
    return tasks / math.ceil(tasks / max(1, slots))


def batch_of(progress: BatchProgress, stages: Sequence[Stage]) -> Batch:
    held = sum(stage.held_seconds for stage in stages)
    return Batch(progress.records, progress.seconds, held, min(union_seconds(stages), progress.seconds))


def union_seconds(stages: Sequence[Stage]) -> float:
    """Seconds in which at least one of the stages ran."""
    total, reached = 0.0, -math.inf
    for stage in sorted(stages, key=lambda each: each.submitted):
        total += max(0.0, stage.completed - max(stage.submitted, reached))
        reached = max(reached, stage.completed)
    return total
