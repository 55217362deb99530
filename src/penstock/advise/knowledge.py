"""What a policy learns from a log, so that it need not begin with nothing when it steers the job.

The loop that would watch the query runs over what was recorded: in monitor mode, window by window, on the clock of the
log. What it remembers at the end is what it would have remembered beside the job, and a store keeps it the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.control.assembly import Steering, assemble
from penstock.model import (
    JOB,
    Batch,
    Cycle,
    Execution,
    Latency,
    Mode,
    Operator,
    OperatorSample,
    Plan,
    Sample,
    Slo,
    Topology,
)
from penstock.policies import State
from penstock.spark.measure.progress import BatchProgress
from penstock.stores import open_store
from penstock.stores.memory import MemoryStore

POLICY = "predictive"
INTERVAL_SECONDS = 30.0
"""A window is at least that long, as where a query is watched."""

KEPT_CYCLES = 120
MOST_SLOTS = 100_000


@dataclass(frozen=True)
class Knowledge:
    """What was learnt of one query: the newest cycles, and what the policy knows after them."""

    job: str
    cycles: tuple[Cycle, ...]
    state: State

    def keep(self, store: str) -> None:
        """Write it to the store at a URL, in place of what the policy knew there."""
        opened = open_store(store, self.job)
        try:
            for cycle in self.cycles:
                opened.record(cycle, POLICY, self.state if cycle is self.cycles[-1] else None)
        finally:
            opened.close()


class Learner:
    """Learns from the batches of a query as they come: monitor, actuator and clock of a loop in one."""

    def __init__(self, slo: Slo) -> None:
        self._store = MemoryStore(KEPT_CYCLES)
        self._batches: list[tuple[BatchProgress, Batch | None]] = []
        self._window: list[Sample] = []
        self._slots = 1
        self._executors = 0
        self._t = 0.0
        self._end: float | None = None  # of the newest window
        self._looked = (0.0, 0.0)
        self._loop = assemble(
            Steering(policy=POLICY, mode=Mode.MONITOR, interval=f"{INTERVAL_SECONDS:g} s"),
            topology=Topology((Operator(JOB, max=MOST_SLOTS),)),
            slo=slo,
            monitor=self,
            actuator=self,
            clock=self,
            store=self._store,
            execution=Execution.SEQUENTIAL,
            policy_limit_seconds=None,
        )

    def add(self, progress: BatchProgress, batch: Batch | None, slots: int, executors: int) -> None:
        """Take in a batch that has ended, what it cost where that is known, and what the application has."""
        self._slots, self._executors = max(1, slots), executors
        if self._end is None:
            self._end, self._looked = progress.end, (progress.start, progress.lag or 0.0)
            return
        self._batches.append((progress, batch))
        if progress.end - self._end >= INTERVAL_SECONDS:
            self._window.append(self._sample(self._end))
            self._end, self._looked = progress.end, (progress.start, progress.lag or 0.0)
            self._batches = []
            self._t = progress.end
            self._loop.run_once()

    def knowledge(self, job: str) -> Knowledge | None:
        """What was learnt; None if there was not a whole window."""
        cycles, state = tuple(self._store.recent(KEPT_CYCLES)), self._store.state(POLICY)
        return None if not cycles or state is None else Knowledge(job, cycles, state)

    def _sample(self, began: float) -> Sample:
        """The window as `QueryMonitor` would have measured it."""
        all_ = [progress for progress, _ in self._batches]
        measured = tuple(batch for _, batch in self._batches if batch is not None)
        last, (looked_at, lag) = all_[-1], self._looked
        seconds, records = max(last.end - began, 1e-3), sum(each.records for each in all_)
        rate = max(0.0, records + (last.lag or 0.0) - lag) / max(last.start - looked_at, 1e-3)
        processing = 1e3 * sum(each.seconds for each in all_) / len(all_)
        lags = [lag, *(each.lag or 0.0 for each in all_[:-1])]
        served = sum(lags) / len(lags) / (records / seconds) if records else 0.0
        waiting = 1e3 * ((last.start - looked_at) / len(all_) / 2 + served)
        known = last.lag is not None
        operator = OperatorSample(
            parallelism=self._slots, records_in=records, records_out=records,
            useful_seconds=sum(each.useful_seconds for each in measured) if len(measured) == len(all_) else None,
            latency_ms=processing,
        )  # fmt: skip
        return Sample(
            t=began,
            seconds=seconds,
            operators={JOB: operator},
            input_rate=rate,
            throughput=records / seconds,
            backlog=(last.lag or 0.0) + rate * last.seconds if known else None,
            processing_latency_ms=Latency(mean=processing),
            event_latency_ms=Latency(mean=waiting + processing) if known else None,
            executors=self._executors,
            batches=measured,
        )

    # The ports -------------------------------------------------------------------------------------------------------

    def now(self) -> float:
        return self._t

    def read(self) -> Sequence[Sample]:
        window, self._window = self._window, []
        return window

    def plan(self) -> Plan:
        return Plan({JOB: self._slots})

    def apply(self, plan: Plan) -> None:
        """Nothing is changed: the job ran as it ran."""
