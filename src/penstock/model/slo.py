"""What the user asks of a job: its targets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta

from penstock.model.errors import InvalidValueError, check_choice
from penstock.model.keywords import knows_its_fields
from penstock.model.sample import STATISTICS, Latency, Sample

UNIT_SECONDS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
SECOND, MILLISECOND = timedelta(seconds=1), timedelta(milliseconds=1)
DEFAULT_LAG = timedelta(seconds=5)


def duration(field: str, value: str | timedelta) -> timedelta:
    """Read a length of time with its unit: "500 ms", "10 s", "6 min", "1 h", "90 d".

    >>> duration("drain", "6 min").total_seconds()
    360.0
    """
    if isinstance(value, timedelta):
        length = value
    else:
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|min|h|d)\s*", str(value))
        if match is None:
            raise InvalidValueError(field, f'must be a time with its unit, such as "500 ms", not {value!r}')
        try:
            length = timedelta(seconds=float(match[1]) * UNIT_SECONDS[match[2]])
        except OverflowError:
            raise InvalidValueError(field, f"must be shorter than a million years, not {value!r}") from None
    if length <= timedelta(0):
        raise InvalidValueError(field, f"must be positive, not {value!r}")
    return length


def check_slo(field: str, slo: object) -> Slo:
    """What a user gave as the target, refused if it is none: a bare "10 s" does not say which latency is meant.

    >>> check_slo("slo", "10 s")
    Traceback (most recent call last):
    penstock.model.errors.InvalidValueError: slo must be a Slo, such as Slo(event_latency="10 s"), not '10 s'
    """
    if not isinstance(slo, Slo):
        raise InvalidValueError(field, f'must be a Slo, such as Slo(event_latency="10 s"), not {slo!r}')
    return slo


@knows_its_fields("help(Slo)")
@dataclass(frozen=True, slots=True)
class Slo:
    """Keep up with the input, and stay below these latencies. What is None is not asked for.

    Processing is a part of a record's way from its creation to its leaving, so its target cannot be the larger one.
    `drain` is how long a backlog may take to go away; `statistic` says which figure of the latency counts.

    >>> slo = Slo(event_latency="500 ms", drain="6 min")
    >>> slo.event_latency_ms, slo.drain_seconds, slo.processing_latency_ms, slo.latency_ms
    (500.0, 360.0, None, 500.0)
    """

    processing_latency: str | timedelta | None = None
    event_latency: str | timedelta | None = None
    drain: str | timedelta | None = None
    statistic: str = "mean"

    def __post_init__(self) -> None:
        for field in ("processing_latency", "event_latency", "drain"):
            value = getattr(self, field)
            if value is not None:
                object.__setattr__(self, field, duration(f"slo: {field}", value))
        check_choice("slo: statistic", self.statistic, STATISTICS)
        processing, event = self.processing_latency_ms, self.event_latency_ms
        if processing is not None and event is not None and processing > event:
            raise InvalidValueError(
                "slo: processing_latency", f"must be at most event_latency, {event:g} ms, not {processing:g} ms"
            )

    @property
    def processing_latency_ms(self) -> float | None:
        return _in(MILLISECOND, self.processing_latency)

    @property
    def event_latency_ms(self) -> float | None:
        return _in(MILLISECOND, self.event_latency)

    @property
    def latency_ms(self) -> float | None:
        """The target for processing latency, or else the one for event latency, of which processing is a part."""
        return self.event_latency_ms if self.processing_latency is None else self.processing_latency_ms

    @property
    def drain_seconds(self) -> float | None:
        return _in(SECOND, self.drain)

    @property
    def tolerated_lag_seconds(self) -> float:
        """How many seconds of input may wait in the source while the job still counts as keeping up."""
        target = self.event_latency_ms
        return DEFAULT_LAG.total_seconds() if target is None else target / 1e3

    def violations(self, sample: Sample) -> tuple[str, ...]:
        """The names of the targets that a window missed; a figure that was not measured misses nothing."""
        missed = []
        if _exceeds(sample.processing_latency_ms, self.statistic, self.processing_latency_ms):
            missed.append("processing_latency")
        if _exceeds(sample.event_latency_ms, self.statistic, self.event_latency_ms):
            missed.append("event_latency")
        if _falls_behind(sample, self.tolerated_lag_seconds):
            missed.append("keep_up")
        return tuple(missed)


def _in(unit: timedelta, length: str | timedelta | None) -> float | None:
    if length is None:
        return None
    assert isinstance(length, timedelta)  # __post_init__ has parsed the text
    return length / unit


def _falls_behind(sample: Sample, tolerated_lag_seconds: float) -> bool:
    rate = sample.job_input_rate
    return sample.backlog is not None and rate is not None and sample.backlog > tolerated_lag_seconds * rate


def _exceeds(latency: Latency | None, statistic: str, target: float | None) -> bool:
    if latency is None or target is None:
        return False
    measured = latency.at(statistic)
    return measured is not None and measured > target
