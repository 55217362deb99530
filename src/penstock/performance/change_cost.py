"""What a change costs this job: the silence after it, as the latency of the records that waited shows it, and how long
a larger plan waits for its executors.

A job that is silent for h seconds at r records per second, and then does C, has r h records waiting, which go at
C - r. Together its records wait

    A = r h² C / 2 (C - r)  record-seconds,  so  h = sqrt(2 A (C - r) / (r C))

and A is what they exceed the usual latency by, all together. Only changes of a job that met its targets are looked at:
what waited before a change waits after it as well. Until there was one, whole windows in which nothing came out after a
change are the silence.

Where state moves with a change, its silence is a line in the bytes of that state (`state_price`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any, Protocol

from penstock.model import Actuation, Cycle, Observation, Plan, Sample, Slo, Topology
from penstock.performance.rungs import Rung
from penstock.performance.state_price import StatePrice

NOMINAL_SECONDS = {Actuation.LIVE: 0.0, Actuation.RESTART: 1.5, Actuation.STATE_REPARTITION: 3.0}
"""Before a change was measured: a little more than a small job on Spark showed for each kind. How much state there is
was not measured where the last of them counts."""

NOMINAL_ARRIVAL = 10.0
"""Seconds until an executor serves, before one was waited for: a little more than a JVM takes to start beside others on
a small machine, and less than many clusters take to find a place for it."""

PACE = 0.4
"""How much of a newly measured silence is believed."""

WORKED_OFF_WITHIN = 900.0
"""Seconds after a change by which what it made wait has gone; what waits longer has another cause as well."""

AS_USUAL = 1.2
"""A latency up to this many times the usual one is as usual."""


class Model(Protocol):
    """What must be known of the job."""

    def rung(self, parallelism: Mapping[str, int], topology: Topology, slo: Slo) -> Rung: ...

    def latency(self, parallelism: Mapping[str, int], rate: float, topology: Topology, slo: Slo) -> float: ...


class ChangeCost:
    """The silence of changes, learnt from one after the other."""

    def __init__(self) -> None:
        self.measured: float | None = None
        self.waited: float | None = None  # seconds from the decision for a larger plan until it was in force
        self.changes = 0
        self.judged = -1.0  # when the newest change was made that has been looked at
        self.timed = -1.0  # the same for its arrival
        self.state_price = StatePrice()
        self.state_bytes: float | None = None  # that move with a change

    def silence(self, topology: Topology) -> float:
        """Seconds without a record after a change: as measured, or nominal before that."""
        if self.state_bytes is not None:
            return self.state_price.seconds(self.state_bytes)
        if self.measured is not None:
            return self.measured
        return max(NOMINAL_SECONDS[operator.actuation] for operator in topology.operators)

    def arrival(self, plan: Plan) -> float:
        """Seconds from the decision for a larger plan until it is in force, as measured, or nominal before that where
        there are executors to wait for."""
        if self.waited is not None:
            return self.waited
        return 0.0 if plan.executors is None else NOMINAL_ARRIVAL

    def learn(self, observation: Observation, model: Model) -> None:
        """Look at the newest change, once the latency after it is as usual again: all that waited has gone then."""
        self.state_bytes = moving_bytes(observation.samples, observation.topology, self.state_bytes)
        change, history, slo = observation.last_change, observation.history, observation.slo
        if change is None or change.t <= self.judged or history[-1].t <= change.t:
            return
        if change.t > self.timed:
            self.timed = change.t
            self._learn_arrival(change, observation.topology)
        before = [window for window in change.samples if not window.warm_up]
        after = [window for cycle in history if cycle.t > change.t for window in cycle.samples if window.t >= change.t]
        rate = after[-1].job_input_rate if after else None
        if not before or any(slo.violations(window) for window in before) or not rate:
            self.judged = change.t
            whole = sum(window.seconds for window in takewhile(is_silent, after))
            if self.measured is None and whole:
                self._believe(whole, change, observation.topology)
            return
        plan = change.decision.plan.parallelism
        rung = model.rung(plan, observation.topology, slo)
        usual = 1e3 * model.latency(plan, min(rate, 0.95 * rung.capacity), observation.topology, slo)
        taken = until_as_usual(after, usual)
        if not is_usual(taken[-1], usual) and observation.t - change.t < WORKED_OFF_WITHIN:
            return
        self.judged = change.t
        silence = silence_of(taken, usual, rung.capacity)
        if silence is not None:
            self.changes += 1
            self._believe(silence, change, observation.topology)

    def _believe(self, silence: float, change: Cycle, topology: Topology) -> None:
        self.measured = silence if self.measured is None else self.measured + PACE * (silence - self.measured)
        moved = moving_bytes(change.samples, topology, self.state_bytes)
        if moved is not None and change.decision.plan.parallelism != change.before.parallelism:
            self.state_price.learn(moved, silence)

    def _learn_arrival(self, change: Cycle, topology: Topology) -> None:
        """A job without executors, or one in the simulator, is changed within the moment: that shows nothing.

        While its state moves a query is silent: that part of the time is not spent under the old plan.
        """
        larger = change.decision.plan.total > change.before.total
        if larger and change.change_seconds:
            moving = 0.0 if self.state_bytes is None else self.silence(topology)
            waited = max(0.0, change.change_seconds - moving)
            self.waited = waited if self.waited is None else self.waited + PACE * (waited - self.waited)

    def state(self) -> dict[str, Any]:
        return {
            "measured": self.measured, "arrival": self.waited, "changes": self.changes, "judged": self.judged,
            "timed": self.timed, "state_price": self.state_price.state(), "state_bytes": self.state_bytes,
        }  # fmt: skip

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> ChangeCost:
        cost = cls()
        cost.measured, cost.changes, cost.judged = state["measured"], state["changes"], state["judged"]
        cost.waited, cost.timed = state["arrival"] or None, state["timed"]  # older stores have 0.0 for not measured
        if "state_price" in state:  # older stores have none
            cost.state_price, cost.state_bytes = StatePrice.restored(state["state_price"]), state["state_bytes"]
        return cost


def moving_bytes(windows: Sequence[Sample], topology: Topology, otherwise: float | None) -> float | None:
    """The bytes of state that a change would move, by the newest window that says; `otherwise` if none does.

    What has not been written to disk yet is in memory only: all of it, in a young state. Later the files count: memory
    has parts of them again, and every version of a key since they were written.

    >>> from penstock.model import Operator, OperatorSample
    >>> query = Topology((Operator("state", actuation=Actuation.STATE_REPARTITION),))
    >>> state = OperatorSample(2, state_bytes=5e6, state_memory_bytes=9e6)
    >>> window = Sample(t=0, seconds=10, operators={"state": state})
    >>> moving_bytes([window], query, None), moving_bytes([window], Topology((Operator("state"),)), None)
    (5000000.0, None)
    """
    moved = [each.name for each in topology.operators if each.actuation is Actuation.STATE_REPARTITION]
    for window in reversed(windows):
        operators = [window.operators[name] for name in moved if name in window.operators]
        known = [b or each.state_memory_bytes or 0.0 for each in operators if (b := each.state_bytes) is not None]
        if known:
            return sum(known)
    return otherwise


def missed_by(silence: float, rate: float, capacity: float, tolerated: float) -> float:
    """Seconds outside the targets that a change costs: its silence, and until what waited then is worked off.

    >>> missed_by(silence=2.0, rate=100, capacity=150, tolerated=0.5)
    4.5
    """
    beyond = max(0.0, silence - tolerated)
    return beyond + beyond * rate / max(capacity - rate, 0.02 * capacity) if beyond else 0.0


def until_as_usual(windows: Sequence[Sample], usual_ms: float) -> list[Sample]:
    """The windows up to the first one with a usual latency."""
    taken = []
    for window in windows:
        taken.append(window)
        if is_usual(window, usual_ms):
            break
    return taken


def is_silent(window: Sample) -> bool:
    """Whether nothing came out although something was offered."""
    return window.throughput == 0.0 and bool(window.job_input_rate)


def is_usual(window: Sample, usual_ms: float) -> bool:
    """Whether records took no longer than usual; not so if that was not measured."""
    latency = window.event_latency_ms or window.processing_latency_ms
    return latency is not None and latency.mean is not None and latency.mean < AS_USUAL * usual_ms


def silence_of(windows: Sequence[Sample], usual_ms: float, capacity: float) -> float | None:
    """The silence that these windows show; None where a figure that is needed was not measured.

    >>> from penstock.model import Latency
    >>> late = Sample(t=0, seconds=10, operators={}, input_rate=100, throughput=100, event_latency_ms=Latency(300))
    >>> silence_of([late], usual_ms=100, capacity=200)
    1.4142135623730951
    """
    waited = offered = seconds = 0.0
    for window in windows:
        latency = window.event_latency_ms or window.processing_latency_ms
        if window.throughput is None or window.job_input_rate is None:
            return None
        seconds += window.seconds
        offered += window.job_input_rate * window.seconds
        done = window.throughput * window.seconds
        if latency is not None and latency.mean is not None:
            waited += done * max(0.0, latency.mean - usual_ms) / 1e3
        elif done > 0:
            return None
    rate = offered / seconds if seconds else 0.0
    if rate <= 0:
        return None
    spare = max(capacity - rate, 0.02 * capacity)
    return math.sqrt(2.0 * waited * spare / (rate * max(capacity, rate)))
