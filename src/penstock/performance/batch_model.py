"""A model of a job whose operators run sequentially, in micro-batches: what a batch costs, and the latency from that.

Glossary, at r records per second on K slots; f, u and o are those of `batch_cost`:

    g   trigger interval: a new batch begins no sooner; learnt from batches that ended earlier
    e   what the stages of a batch really take, as a multiple of their slot-seconds / K: tasks are not all alike, and
        slots may be in each other's way (a curve over K, `service_curve`)
    d   seconds of a batch that takes in I seconds of input: o + e (f + u r I) / K
    I   seconds from one batch to the next: g if d <= g, else d itself, that is (o + e f / K) / (1 - e u r / K)
    x   d + I / 2 for the event latency: a record waits half an interval and stays for a batch; d for processing
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from penstock.model import Sample, Slo, Topology
from penstock.performance.batch_cost import CAUTION, BatchCost, CostEstimate
from penstock.performance.latency_fit import LatencyFit, latency_ms
from penstock.performance.learnt_cost import LearntCost
from penstock.performance.rungs import Rung, tied
from penstock.performance.service_curve import ServiceCurve

BUSIEST = 0.97
HALVINGS = 12
WAITS = 0.9
"""A batch that fills less than this part of its interval waited for its trigger."""

PACE = 0.2

LEAST = 0.05
"""A limit that may be lower than this part of the best estimate is not known at all."""


class BatchModel:
    """What batches cost, and what the latency is."""

    def __init__(self) -> None:
        self.stretch = ServiceCurve()
        self.latency_fit = LatencyFit()
        self.trigger = 0.0
        self.windows = 0
        self._learnt = LearntCost()

    @property
    def cost(self) -> CostEstimate | None:
        """What batches cost; None until one was measured."""
        return self._learnt.estimate

    # Learn -----------------------------------------------------------------------------------------------------------

    def learn(self, sample: Sample, topology: Topology, slo: Slo) -> None:
        """Take in the batches of a window."""
        self.windows += 1
        batches = [batch for batch in sample.batches or () if batch.records > 0]
        if not batches:
            return
        self._learnt.learn(batches, sample.end)
        slots = max((each.parallelism for each in sample.operators.values()), default=0)
        newest, rate = batches[-1], sample.throughput or sample.job_input_rate
        even = all(each.parallelism == topology.clamp(name, slots) for name, each in sample.operators.items())
        if not slots or not even or not rate or self.cost is None:
            return
        cost = self.cost.best.of(newest.records)
        if cost > 0 and newest.stage_seconds > 0:
            self.stretch.learn(slots, newest.stage_seconds * slots / cost)
        interval = newest.records / rate
        if newest.seconds < WAITS * interval:
            self.trigger += PACE * (interval - self.trigger) if self.trigger else interval
        elif self.trigger > newest.seconds:
            self.trigger += PACE * (newest.seconds - self.trigger)
        self._learn_latency(sample, slots, slo)

    def _learn_latency(self, sample: Sample, slots: int, slo: Slo) -> None:
        processing, event = latency_ms(sample, slo)
        measured = processing if slo.event_latency_ms is None else event
        behind = "keep_up" in slo.violations(sample)
        if measured is None or behind or not sample.job_input_rate:
            return
        x = self._time_inside(slots, sample.job_input_rate, slo)
        if math.isfinite(x):
            self.latency_fit.learn(x, measured / 1e3)

    def waiting(self, sample: Sample) -> float:
        """Records that wait longer than for the next batch."""
        return max(0.0, (sample.backlog or 0.0) - self.trigger * (sample.job_input_rate or 0.0))

    # Predict ---------------------------------------------------------------------------------------------------------

    def knows(self, topology: Topology) -> bool:
        """Whether a batch with records was measured."""
        return self.cost is not None and bool(self.stretch)

    def latency(self, parallelism: Mapping[str, int], rate: float, topology: Topology, slo: Slo) -> float:
        """Seconds by the statistic of the slo; infinite where batches become ever longer."""
        return self.latency_fit.at(self._time_inside(max(parallelism.values()), rate, slo))

    def noise(self, topology: Topology) -> float:
        return self.stretch.noise

    def _time_inside(self, slots: int, rate: float, slo: Slo, cost: BatchCost | None = None) -> float:
        """Seconds at a rate, with what batches cost by the best estimate or another one."""
        assert self.cost is not None
        cost, e = cost or self.cost.best, self.stretch.at(slots)
        per_second = e * cost.per_record * rate / slots
        if per_second >= 1.0:
            return math.inf
        fixed = cost.overhead + e * cost.fixed / slots
        duration = fixed + per_second * self.trigger
        if duration > self.trigger:
            duration = fixed / (1.0 - per_second)
        return duration if slo.event_latency_ms is None else duration + max(duration, self.trigger) / 2

    def _capacity(self, slots: int, cost: BatchCost) -> float:
        return min(1e15, slots / max(self.stretch.at(slots) * cost.per_record, 1e-15))

    def _limit(self, slots: int, budget: float, slo: Slo, cost: BatchCost) -> float:
        """The highest rate at which records take no longer than the budget."""
        capacity, low, high = self._capacity(slots, cost), 0.0, BUSIEST
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            fits = self._time_inside(slots, middle * capacity, slo, cost) <= budget
            low, high = (middle, high) if fits else (low, middle)
        return low * capacity

    def rung(self, parallelism: Mapping[str, int], topology: Topology, slo: Slo) -> Rung:
        """What a plan can carry: the slots are those of its widest operator."""
        assert self.cost is not None
        slots = max(parallelism.values())
        target = slo.processing_latency_ms if slo.event_latency_ms is None else slo.event_latency_ms
        budget = self.latency_fit.budget(slo.tolerated_lag_seconds if target is None else target / 1e3)
        limit = self._limit(slots, budget, slo, self.cost.best)
        # Where batches do not tell a record's cost from a batch's, the limit may be far lower than the best estimate.
        lowest = min(self._limit(slots, budget, slo, cost) for cost in (self.cost.cheap, self.cost.dear))
        off = max(0.0, math.log(max(limit, 1e-9) / max(lowest, LEAST * limit, 1e-9)))
        error = math.hypot(self.stretch.error(slots), off / CAUTION)
        return Rung(parallelism, slots, limit, self._capacity(slots, self.cost.best), error, self.stretch.knows(slots))

    def ladder(self, rates: Sequence[float], topology: Topology, slo: Slo) -> list[Rung]:
        """The fewest slots for each of these rising rates, the same for all operators as far as they may have them."""
        slots, most = 1, max(topology.ceiling(name) for name in topology.names)
        rungs: list[Rung] = []
        for rate in rates:
            if rungs and rungs[-1].limit >= rate:
                continue
            rung = self._wide(slots, topology, slo)
            while rung.limit < rate and slots < most:
                slots += 1
                rung = self._wide(slots, topology, slo)
            if not rungs or rung.parallelism != rungs[-1].parallelism:
                rungs.append(rung)
        return rungs

    def _wide(self, slots: int, topology: Topology, slo: Slo) -> Rung:
        plan = tied({name: topology.clamp(name, slots) for name in topology.names}, topology)
        return self.rung(plan, topology, slo)

    # Remember --------------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        return {
            "cost": self._learnt.state(), "stretch": self.stretch.state(),
            "latency_fit": self.latency_fit.state(), "trigger": self.trigger, "windows": self.windows,
        }  # fmt: skip

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> BatchModel:
        model = cls()
        model._learnt = LearntCost.restored(state["cost"])
        model.stretch = ServiceCurve.restored(state["stretch"])
        model.latency_fit = LatencyFit.restored(state["latency_fit"])
        model.trigger, model.windows = state["trigger"], state["windows"]
        return model
