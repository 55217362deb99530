"""What was learnt at each input rate: the library that a search takes its samples from.

Raw measurements are kept, not scores: a score follows from them for whatever base and target hold now.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.performance.bayesian.search_space import Configuration

REMEMBERED = 200
"""The newest configurations kept for one rate: a model of more would be slow and not much better."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """What a configuration did when it was last in force; `training` if that was to train a model, before the job."""

    input_rate: float
    throughput: float
    latency_ms: float | None
    training: bool = False


@dataclass
class RateRecord:
    """Everything known about one input rate.

    steps        throughput optimisation so far: what each configuration reached, in the order tried
    recommended  the configuration that its last step asks for
    base         k', once throughput optimisation has ended; None before
    attainable   the throughput of the base, where something outside the job keeps it below the rate
    measured     the newest measurement of each configuration, the newest last
    again        the configuration that is run once more before throughput optimisation ends short of the rate
    floor        what throughput optimisation asks for at least, as that much fell behind
    doubted      the configuration that fell behind in the newest window, and kept up before
    begun_with   real samples there were when the search for latency began
    """

    rate: float
    steps: dict[Configuration, float] = field(default_factory=dict)
    recommended: Configuration | None = None
    base: Configuration | None = None
    attainable: float | None = None
    measured: dict[Configuration, Measurement] = field(default_factory=dict)
    again: Configuration | None = None
    floor: Configuration | None = None
    doubted: Configuration | None = None
    begun_with: int = 0

    def measure(self, configuration: Configuration, measurement: Measurement) -> None:
        self.measured.pop(configuration, None)
        self.measured[configuration] = measurement
        while len(self.measured) > REMEMBERED:
            del self.measured[next(iter(self.measured))]

    def reopen(self, floor: Configuration | None = None) -> None:
        """Begin throughput optimisation again, at `floor` or above; the measurements stay."""
        self.steps, self.recommended, self.base, self.attainable = {}, None, None, None
        self.again, self.floor, self.doubted = None, floor, None

    def within(self, rate: float, tolerance: float) -> bool:
        """Whether `rate` differs from this rate by at most `tolerance` of it."""
        return abs(rate - self.rate) <= tolerance * self.rate

    def to_json(self) -> dict[str, Any]:
        return {
            "rate": self.rate,
            "steps": [[list(step), throughput] for step, throughput in self.steps.items()],
            "recommended": _listed(self.recommended),
            "base": _listed(self.base),
            "attainable": self.attainable,
            "measured": [
                [list(k), m.input_rate, m.throughput, m.latency_ms, m.training] for k, m in self.measured.items()
            ],
            "again": _listed(self.again),
            "floor": _listed(self.floor),
            "doubted": _listed(self.doubted),
            "begun_with": self.begun_with,
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> RateRecord:
        return cls(
            rate=plain["rate"],
            steps={tuple(step): throughput for step, throughput in plain["steps"]},
            recommended=_tuple(plain["recommended"]),
            base=_tuple(plain["base"]),
            attainable=plain["attainable"],
            measured={tuple(k): Measurement(*figures) for k, *figures in plain["measured"]},
            again=_tuple(plain.get("again")),
            floor=_tuple(plain.get("floor")),
            doubted=_tuple(plain.get("doubted")),
            begun_with=plain.get("begun_with", 0),
        )


def _listed(configuration: Configuration | None) -> list[int] | None:
    return None if configuration is None else list(configuration)


def _tuple(plain: Sequence[int] | None) -> Configuration | None:
    return None if plain is None else tuple(plain)


@dataclass
class RateLibrary:
    """The records of all rates seen, and the current one.

    >>> library = RateLibrary(tolerance=0.1)
    >>> first = library.at(100.0)
    >>> library.at(109.0) is first, library.at(112.0) is first, library.at(95.0) is first, len(library.records)
    (True, False, True, 2)
    """

    tolerance: float
    records: list[RateRecord] = field(default_factory=list)
    current: RateRecord | None = None

    def at(self, rate: float) -> RateRecord:
        """The record of a rate. The current one stays while the rate is within tolerance of its own."""
        if self.current is None or not self.current.within(rate, self.tolerance):
            near = [record for record in self.records if record.within(rate, self.tolerance)]
            self.current = min(near, key=lambda record: abs(record.rate - rate), default=None)
            if self.current is None:
                self.current = RateRecord(rate)
                self.records.append(self.current)
        return self.current

    def nearest(self, record: RateRecord, fit: Callable[[RateRecord], bool]) -> RateRecord | None:
        """The other record closest in rate to this one, among those that are `fit`."""
        others = [other for other in self.records if other is not record and fit(other)]
        return min(others, key=lambda other: abs(other.rate - record.rate), default=None)

    def to_json(self) -> dict[str, Any]:
        at = next((i for i, record in enumerate(self.records) if record is self.current), None)
        return {"records": [record.to_json() for record in self.records], "current": at}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any], tolerance: float) -> RateLibrary:
        records = [RateRecord.from_json(record) for record in plain["records"]]
        return cls(tolerance, records, None if plain["current"] is None else records[plain["current"]])
