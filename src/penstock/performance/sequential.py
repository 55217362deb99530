"""What operators that run sequentially would show if they ran concurrently.

In micro-batches the operators of a batch follow each other on the same slots. Policies are written for operators that
run concurrently, each on slots of its own. They come to the right plan for a sequential job as well if every operator
shows the time that all of them take together: an instance then has the rate that it reaches over the whole window. What
the driver takes to plan and commit a batch counts too, and what every batch costs whatever its size: see `batch_cost`.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace

from penstock.model import Batch, Execution, FrozenMap, Observation, Sample, Slo
from penstock.performance.batch_cost import batch_seconds, fit

REMEMBERED_BATCHES = 100
"""Enough batches to separate the cost of records from that of batches, few enough to follow a change of the job."""


def as_if_concurrent(observation: Observation) -> Observation:
    """The observation as policies see it: as it is, unless its operators run sequentially."""
    if observation.execution is not Execution.SEQUENTIAL:
        return observation
    view = ConcurrentView(observation.slo)
    return replace(observation, samples=tuple(view.of(sample) for sample in observation.samples))


class ConcurrentView:
    """Shows samples of a sequential job as if its operators ran concurrently. It remembers what batches cost."""

    def __init__(self, slo: Slo, trigger_seconds: float = 0.0) -> None:
        """A new batch begins every `trigger_seconds`; with 0, as soon as the one before it has ended."""
        self._batch_seconds = batch_seconds(slo, trigger_seconds)
        self._batches: deque[Batch] = deque(maxlen=REMEMBERED_BATCHES)

    def of(self, sample: Sample) -> Sample:
        """The sample with the useful seconds that each operator would show. Call it once for each, oldest first."""
        self._batches.extend(sample.batches or ())
        useful = self._useful_seconds(sample)
        operators = {name: replace(each, useful_seconds=useful) for name, each in sample.operators.items()}
        return replace(sample, operators=FrozenMap(operators))

    def _useful_seconds(self, sample: Sample) -> float | None:
        measured = [operator.useful_seconds for operator in sample.operators.values()]
        if not self._batches or not sample.throughput:
            return None if None in measured else sum(seconds for seconds in measured if seconds is not None)
        slots = fit(self._batches).slots(sample.throughput, self._batch_seconds)
        return sample.seconds * slots
