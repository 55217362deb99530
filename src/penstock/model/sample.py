"""What one window of measurement showed. A figure that was not measured is None, never 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.model.errors import (
    InvalidValueError,
    MissingFigureError,
    check_measured,
    check_required_number,
    check_whole,
)
from penstock.model.frozen import FrozenMap

STATISTICS = ("mean", "p50", "p95", "p99")

SHORTEST = 1e-6
"""A window of fewer seconds is none: no clock of a monitor is finer, and rates in it would not be finite."""


@dataclass(frozen=True, slots=True)
class Latency:
    """A distribution of latencies, in milliseconds, by the figures people ask for.

    mean  milliseconds, on average
    p50   milliseconds that half of all records stay below
    p95   milliseconds that 95 of 100 records stay below
    p99   milliseconds that 99 of 100 records stay below
    """

    mean: float | None = None
    p50: float | None = None
    p95: float | None = None
    p99: float | None = None

    def __post_init__(self) -> None:
        check_measured("latency: mean", self.mean)
        check_measured("latency: p50", self.p50)
        check_measured("latency: p95", self.p95)
        check_measured("latency: p99", self.p99)

    def at(self, statistic: str) -> float | None:
        """The figure of that name; the mean stands in for a percentile that was not measured.

        >>> Latency(mean=120).at("p95"), Latency(mean=120, p95=300).at("p95")
        (120, 300)
        """
        figure: float | None = getattr(self, statistic)
        return self.mean if figure is None else figure


@dataclass(frozen=True, slots=True)
class OperatorSample:
    """One operator over one window: sums over its instances.

    parallelism            instances that ran
    records_in             records it processed
    records_out            records it emitted (a record sent to two children counts once)
    records_from           records it received from each parent
    instance_rates         records that each instance processed per second of its own useful time, where instances are
                           measured one by one
    useful_seconds         seconds spent on records: deserialisation, processing, serialisation
    waiting_seconds        seconds spent waiting for input or for room at the output
    queue                  records waiting in front of it at the window's end
    latency_ms             milliseconds from a record's arrival at the operator to its departure, on average
    state_bytes            bytes of its state on disk at the window's end, where a store keeps it there
    state_memory_bytes     bytes of memory that its state takes at the window's end
    state_cache_hit_ratio  the share of the state's blocks that were found in memory, of those that were read
    """

    parallelism: int
    records_in: float | None = None
    records_out: float | None = None
    useful_seconds: float | None = None
    waiting_seconds: float | None = None
    queue: float | None = None
    latency_ms: float | None = None
    records_from: Mapping[str, float] | None = None
    instance_rates: tuple[float, ...] | None = None
    state_bytes: float | None = None
    state_memory_bytes: float | None = None
    state_cache_hit_ratio: float | None = None

    def __post_init__(self) -> None:
        check_whole("parallelism", self.parallelism, 1)
        for rate in self.instance_rates or ():
            _check_given("instance_rates", rate)
        check_measured("records_in", self.records_in)
        check_measured("records_out", self.records_out)
        check_measured("useful_seconds", self.useful_seconds)
        check_measured("waiting_seconds", self.waiting_seconds)
        check_measured("queue", self.queue)
        check_measured("latency_ms", self.latency_ms)
        check_measured("state_bytes", self.state_bytes)
        check_measured("state_memory_bytes", self.state_memory_bytes)
        check_measured("state_cache_hit_ratio", self.state_cache_hit_ratio)
        if self.records_from is not None:
            for parent, count in self.records_from.items():
                _check_given(f"records_from {parent}", count)
            if type(self.records_from) is not FrozenMap:
                object.__setattr__(self, "records_from", FrozenMap(self.records_from))


@dataclass(frozen=True, slots=True)
class Batch:
    """One finished micro-batch of a job whose operators run sequentially.

    records         records that it took from the source
    seconds         seconds that it took, planning and committing included
    useful_seconds  slot-seconds that its tasks spent on records, over all operators
    stage_seconds   seconds of it in which operators worked; in the rest the driver planned and committed
    """

    records: float
    seconds: float
    useful_seconds: float
    stage_seconds: float

    def __post_init__(self) -> None:
        for name in ("records", "seconds", "useful_seconds", "stage_seconds"):
            _check_given(f"batch: {name}", getattr(self, name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A whole job over one window.

    t                      seconds on the loop's clock at which the window began
    seconds                seconds that it lasted
    operators              one sample for each operator, by name
    input_rate             records per second that the outside offers: one number that every root receives
                           in full, or one for each root
    throughput             records per second that the job completed, counted as source records
    backlog                records waiting in the source at the window's end
    processing_latency_ms  milliseconds from entering the job to leaving it
    event_latency_ms       milliseconds from a record's creation to its leaving the job
    dropped                records lost in the window: a full queue, a time-out, a restart
    executors              executors that the job had, where the cluster says
    batches                the finished micro-batches of the window that were measured, oldest first, where operators
                           run sequentially
    warm_up                whether the window fell on a change: its figures are those of a job that is warming up
    """

    t: float
    seconds: float
    operators: Mapping[str, OperatorSample]
    input_rate: float | Mapping[str, float] | None = None
    throughput: float | None = None
    backlog: float | None = None
    processing_latency_ms: Latency | None = None
    event_latency_ms: Latency | None = None
    dropped: float | None = None
    executors: int | None = None
    batches: tuple[Batch, ...] | None = None
    warm_up: bool = False

    def __post_init__(self) -> None:
        check_required_number("t", self.t)
        _check_given("seconds", self.seconds)
        if self.seconds < SHORTEST:
            raise InvalidValueError("seconds", f"must be positive, not {self.seconds!r}")
        if isinstance(self.input_rate, Mapping):
            for root, rate in self.input_rate.items():
                _check_given(f"input_rate of {root}", rate)
            if type(self.input_rate) is not FrozenMap:
                object.__setattr__(self, "input_rate", FrozenMap(self.input_rate))
        else:
            check_measured("input_rate", self.input_rate)
        check_measured("throughput", self.throughput)
        check_measured("backlog", self.backlog)
        check_measured("dropped", self.dropped)
        if self.executors is not None:
            check_whole("executors", self.executors)
        _check_latency("processing_latency_ms", self.processing_latency_ms)
        _check_latency("event_latency_ms", self.event_latency_ms)
        for name, operator in self.operators.items():
            if not isinstance(operator, OperatorSample):
                raise InvalidValueError(f"operators: {name}", f"must be an OperatorSample, not {operator!r}")
        if type(self.operators) is not FrozenMap:
            object.__setattr__(self, "operators", FrozenMap(self.operators))

    @property
    def end(self) -> float:
        return self.t + self.seconds

    @property
    def job_input_rate(self) -> float | None:
        """Records per second offered to the whole job; None where that was not measured."""
        return sum(self.input_rate.values()) if isinstance(self.input_rate, Mapping) else self.input_rate

    @property
    def waiting(self) -> float:
        """Records that wait in the source and in front of operators, as far as that was measured."""
        return (self.backlog or 0.0) + sum(operator.queue or 0.0 for operator in self.operators.values())

    @property
    def offered_rate(self) -> float:
        """The same for those who cannot do without it: raises MissingFigureError where it was not measured."""
        rate = self.job_input_rate
        if rate is None:
            raise MissingFigureError("input_rate")
        return rate

    def input_rate_of(self, root: str) -> float | None:
        """Records per second offered to one root."""
        if isinstance(self.input_rate, Mapping):
            return self.input_rate.get(root)
        return self.input_rate


def _check_given(field: str, value: float) -> None:
    check_required_number(field, value)
    check_measured(field, value)


def _check_latency(field: str, value: object) -> None:
    if value is not None and not isinstance(value, Latency):
        raise InvalidValueError(field, f"must be a Latency, not {value!r}")
