"""How fast a backlog must be drained to get back below an event latency in time.

Glossary (AuTraScale+, equations 9 to 12):

    lambda     input rate
    l_wait     (9)  how long a record may wait in the source: target event latency - processing latency
    R_steady   (10) lambda * l_wait: what may wait there in a steady state (Little's law)
    R_target   (11) backlog - R_steady: what must go
    V          (12) lambda + R_target / T_limit: the throughput at which it goes within T_limit seconds
    d          how long the change to the plan that drains stops the job; the paper's (12) knows none

Nothing goes in those d seconds, and lambda * d records come: V = lambda + (R_target + lambda * d) / (T_limit - d).
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from penstock.model import MissingFigureError, Observation, Sample, Slo

WORKED_OFF = 1e-3
"""Share of the input by which throughput must exceed it to count as catching up; less may be rounding."""


@dataclass(frozen=True, slots=True)
class BacklogModel:
    """The four equations, from what was measured.

    >>> model = BacklogModel(
    ...     input_rate=40_000, backlog=6e6, processing_latency_ms=100, event_latency_ms=250, limit_seconds=360
    ... )
    >>> model.steady_backlog, model.target_backlog, round(model.target_throughput)
    (6000.0, 5994000.0, 56650)
    >>> round(BacklogModel(40_000, 6e6, 100, 250, 360, downtime_seconds=20).target_throughput)
    59982
    """

    input_rate: float
    backlog: float
    processing_latency_ms: float
    event_latency_ms: float  # the target
    limit_seconds: float
    downtime_seconds: float = 0.0

    @property
    def waiting_seconds(self) -> float:
        """l_wait; 0 where processing alone already takes longer than the target."""
        return max(0.0, self.event_latency_ms - self.processing_latency_ms) / 1e3

    @property
    def steady_backlog(self) -> float:
        return self.input_rate * self.waiting_seconds

    @property
    def target_backlog(self) -> float:
        """R_target; 0 where no more waits than may."""
        return max(0.0, self.backlog - self.steady_backlog)

    @property
    def target_throughput(self) -> float:
        return self.input_rate + (self.target_backlog + self.own_backlog) / self.draining_seconds

    @property
    def own_backlog(self) -> float:
        """What comes while the change stops the job."""
        return self.input_rate * self.downtime_seconds

    @property
    def draining_seconds(self) -> float:
        """T_limit without the downtime; a tenth of the limit at least, so that a hopeless target stays finite."""
        return max(self.limit_seconds - self.downtime_seconds, 0.1 * self.limit_seconds)

    def figures(self) -> dict[str, float]:
        return {
            "l_wait_ms": 1e3 * self.waiting_seconds,
            "R_steady": self.steady_backlog,
            "R_target": self.target_backlog,
            "T_limit": self.limit_seconds,
            "downtime": self.downtime_seconds,
            "target_throughput": self.target_throughput,
        }

    def to_json(self) -> list[float]:
        return [getattr(self, each.name) for each in fields(self)]


def backlog_model(
    sample: Sample,
    slo: Slo,
    limit_seconds: float,
    processing_latency_ms: float | None = None,
    downtime_seconds: float = 0.0,
) -> BacklogModel | None:
    """The model of a window, or None where no event latency is asked for or the one asked for is met.

    `processing_latency_ms` is the one of the steady state where that is known; else the window's own.
    """
    if slo.event_latency_ms is None or met(sample, slo):
        return None
    if sample.input_rate is None:
        raise MissingFigureError("input_rate")
    if sample.backlog is None:
        raise MissingFigureError("backlog")
    if processing_latency_ms is None:
        processing = sample.processing_latency_ms
        processing_latency_ms = None if processing is None else processing.at(slo.statistic)
        if processing_latency_ms is None:
            raise MissingFigureError("processing_latency_ms")
    model = BacklogModel(
        sample.offered_rate, sample.backlog, processing_latency_ms, slo.event_latency_ms, limit_seconds,
        downtime_seconds,
    )  # fmt: skip
    return model if model.target_backlog > 0 else None


def met(sample: Sample, slo: Slo) -> bool:
    """Whether the window's event latency was within its target; False where it was not measured."""
    measured = None if sample.event_latency_ms is None else sample.event_latency_ms.at(slo.statistic)
    return measured is not None and slo.event_latency_ms is not None and measured <= slo.event_latency_ms


def backlog_to_drain(observation: Observation, default_limit: float) -> BacklogModel | None:
    """The newest window's model, for policies that remember nothing; None when nothing must be drained.

    The limit runs from the window in which the backlog was largest, among those since the target was last met.
    """
    latest, slo = observation.latest, observation.slo
    limit = default_limit if slo.drain_seconds is None else slo.drain_seconds
    return backlog_model(latest, slo, time_left(_since_the_largest(observation), limit, latest.seconds))


def draining_rate(observation: Observation, waiting: float, rate: float, tolerated: float, silence: float) -> float:
    """Records per second that a plan must do so that what waits has gone within the limit of the SLO, as in (12).

    0 where the SLO names no limit, and where no more waits than is tolerated, in seconds of input.
    """
    limit, over = observation.slo.drain_seconds, waiting - rate * tolerated
    if limit is None or over <= 0:
        return 0.0
    left = time_left(_since_the_largest(observation), limit, observation.latest.seconds)
    return rate + (over + rate * silence) / max(left - silence, 0.1 * left)


def _since_the_largest(observation: Observation) -> float:
    """Seconds since the window in which the backlog was largest, among those since the target was last met."""
    latest, slo = observation.latest, observation.slo
    largest = latest
    for sample in reversed(observation.samples):
        if sample.backlog is None or met(sample, slo):
            break
        if sample.backlog >= (largest.backlog or 0.0):
            largest = sample
    return latest.end - largest.end


def time_left(elapsed: float, limit_seconds: float, least: float) -> float:
    """Seconds left of a limit that begins anew whenever it has passed.

    Never fewer than `least`, the length of a window: nothing that is decided takes effect sooner.

    >>> time_left(60, 360, least=10), time_left(355, 360, least=10), time_left(361, 360, least=10)
    (300, 10, 359)
    """
    return max(limit_seconds - elapsed % limit_seconds, min(least, limit_seconds))


def saturated(sample: Sample, slo: Slo) -> bool:
    """Whether the job always had records to process in this window, so that its throughput is all its plan can do.

    At the window's end more waited than the targets tolerate: the backlog grew for lack of capacity, or it drains
    as fast as the plan allows.
    """
    return sample.throughput is not None and "keep_up" in slo.violations(sample)


def works_off(sample: Sample, slo: Slo) -> bool:
    """Whether a backlog kept the job's buffers full for part of this window, so that its latency is not its plan's.

    What is left of it at the end may be little: a job that completes more than comes in had something waiting.

    >>> drained = Sample(t=0, seconds=60, operators={}, input_rate=100, throughput=105, backlog=0)
    >>> works_off(drained, Slo()), saturated(drained, Slo())
    (True, False)
    """
    if sample.throughput is None or sample.input_rate is None:
        return False
    return saturated(sample, slo) or catching_up(sample)


def catching_up(sample: Sample) -> bool:
    """Whether more left the job in this window than came in."""
    if sample.throughput is None or sample.input_rate is None:
        return False
    return sample.throughput > sample.offered_rate * (1.0 + WORKED_OFF)
