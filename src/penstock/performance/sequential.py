"""What operators that run sequentially would show if they ran concurrently.

In micro-batches the operators of a batch follow each other on the same slots. Policies are written for operators that
run concurrently, each on slots of its own. They come to the right plan for a sequential job as well if every operator
shows the time that all of them take together: an instance then has the rate that it reaches over the whole window. What
the driver takes to plan and commit a batch counts too, and what every batch costs whatever its size: see `batch_cost`.

What a batch costs is learnt from batches that are remembered (`learnt_cost`). Where their costs change, the earlier
ones are forgotten with the third that shows it, if they cost half as much again or more. Batches that take longer than
they may are believed immediately: the load is never shown as less than they need at the least. A window of a batch that
still runs has no throughput: its records cost what earlier ones say, at the rate at which they come.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from penstock.model import Batch, Execution, FrozenMap, Observation, OperatorSample, Sample, Slo
from penstock.performance.batch_cost import CostEstimate, Load, batch_seconds, least_load
from penstock.performance.learnt_cost import LearntCost


def as_if_concurrent(observation: Observation, utilisation: float = 1.0) -> Observation:
    """The observation as policies see it: as it is, unless its operators run sequentially."""
    if observation.execution is not Execution.SEQUENTIAL:
        return observation
    view = ConcurrentView(observation.slo, utilisation=utilisation)
    return replace(observation, samples=tuple(view.of(sample) for sample in observation.samples))


class ConcurrentView:
    """Shows samples of a sequential job as if its operators ran concurrently. It remembers what batches cost.

    cost  what batches cost, as far as they tell; None until one was measured
    load  what the newest window with records needs in slots, and how sure that is; None until there was one
    """

    def __init__(self, slo: Slo, trigger_seconds: float = 0.0, utilisation: float = 1.0) -> None:
        """
        trigger_seconds  a new batch begins every so often; 0: as soon as the one before it has ended
        utilisation      how busy the policy lets slots be: the rest is its reserve
        """
        self.load: Load | None = None
        self.rate = 0.0  # of that load, in records per second
        self._batch_seconds = batch_seconds(slo, trigger_seconds)
        self._utilisation = utilisation
        self._learnt = LearntCost()

    @property
    def cost(self) -> CostEstimate | None:
        return self._learnt.estimate

    def of(self, sample: Sample) -> Sample:
        """The sample with the useful seconds that each operator would show. Call it once for each, oldest first."""
        batches = sample.batches or ()
        # Tasks on executors that have just come are slow, which says nothing about later ones.
        if batches and not (sample.warm_up and self.cost is not None):
            self._learnt.learn(batches, sample.end)
        if (rate := self._rate_of_running(sample)) is not None:
            sample = _with_records(sample, rate)
            useful: float | None = sample.seconds * self._slots(rate)
        else:
            useful = self._useful_seconds(sample, batches)
        operators = {name: _showing(each, useful) for name, each in sample.operators.items()}
        return replace(sample, operators=FrozenMap(operators))

    def _useful_seconds(self, sample: Sample, batches: Sequence[Batch]) -> float | None:
        measured = [operator.useful_seconds for operator in sample.operators.values()]
        if self.cost is None or not self.cost.typical or not sample.throughput:
            return None if None in measured else sum(seconds for seconds in measured if seconds is not None)
        slots = self._slots(sample.throughput)
        if batches and fmean([batch.seconds for batch in batches]) > self._batch_seconds:
            slots = max(slots, least_load(batches, sample.throughput, self._batch_seconds))
        return sample.seconds * slots

    def _slots(self, rate: float) -> float:
        """The slots that batches need at a rate, as far as is known what they cost."""
        assert self.cost is not None
        self.load, self.rate = self.cost.load(rate, self._batch_seconds), rate
        return self.load.to_plan_for(self._utilisation)

    def _rate_of_running(self, sample: Sample) -> float | None:
        """The input rate in a window of a batch that still runs and has not shown what its records cost."""
        shown = sample.throughput is not None or any(each.records_in is not None for each in sample.operators.values())
        if shown or self.cost is None or not self.cost.typical:
            return None
        return sample.job_input_rate or None


def _showing(operator: OperatorSample, useful: float | None) -> OperatorSample:
    """The operator with other useful seconds. Its instances differ from each other as they did."""
    own, rates = operator.useful_seconds, operator.instance_rates or ()
    shown = tuple(rate * own / useful for rate in rates) if own and useful else ()
    return replace(operator, useful_seconds=useful, instance_rates=shown or None)


def _with_records(sample: Sample, rate: float) -> Sample:
    operators = {name: replace(each, records_in=rate * sample.seconds) for name, each in sample.operators.items()}
    return replace(sample, operators=FrozenMap(operators))
