"""What a run came to: the figures that policies are compared by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from penstock.model import Latency
from penstock.model.notebook import html_table
from penstock.model.sample import STATISTICS

Unit = Literal["core", "slot"]


@dataclass(frozen=True, slots=True)
class Result:
    """One run. The fields are those of `penstock simulate --json`.

    policy                  who decided
    workload                the job
    trace                   the load curve
    seed                    of all that was random
    seconds                 seconds that it lasted
    violation_ratio         part of all seconds in which a target was missed
    core_seconds            cores of executors, for as long as they were paid for; without executors they are nominal:
                            the slots that the plans held, times seconds
    mean_parallelism        instances of all operators together, averaged over time
    rescales                changes of plan that the job went through
    processed_ratio         records that came out for those that went in
    throughput_degradation  |in - out| / in, second by second
    saved_resources         1 - mean parallelism / parallelism of the over-provisioned plan
    lost_records            records that no one will ever process: a full queue, a time-out, a lossy restart; None where
                            nobody counted them, as in a live run
    processing_latency_ms   milliseconds from entering the job to leaving it
    event_latency_ms        milliseconds from a record's creation to its leaving the job
    decision_ms             milliseconds of wall-clock time that one decision took
    supply                  slots of the plans that were in force, and since when; not in the JSON, and empty for a live
                            run
    unit                    core if its core_seconds are those of executors, slot if they are nominal; not in the JSON
    """

    policy: str
    workload: str
    trace: str
    seed: int
    seconds: float
    violation_ratio: float
    core_seconds: float
    mean_parallelism: float
    rescales: int
    processed_ratio: float
    throughput_degradation: float
    saved_resources: float
    lost_records: int | None
    processing_latency_ms: Latency
    event_latency_ms: Latency
    decision_ms: Latency
    supply: tuple[tuple[float, int], ...] = ()
    unit: Unit = "slot"

    def _repr_html_(self) -> str:
        """For notebooks."""

        def latency(figures: Latency) -> str:
            known = ((name, getattr(figures, name)) for name in STATISTICS)
            return ", ".join(f"{name} {figure:,.0f} ms" for name, figure in known if figure is not None)

        return html_table(
            f"{self.policy} on {self.workload}, trace {self.trace}, seed {self.seed}",
            [
                ("seconds", f"{self.seconds:,.0f}"),
                ("outside the targets", f"{100 * self.violation_ratio:.2f} % of the time"),
                ("core-seconds", f"{self.core_seconds:,.0f}"),
                ("mean parallelism", f"{self.mean_parallelism:.2f}"),
                ("changes", self.rescales),
                ("records processed", f"{100 * self.processed_ratio:.1f} %"),
                ("lost records", self.lost_records),
                ("processing latency", latency(self.processing_latency_ms) or None),
                ("event latency", latency(self.event_latency_ms) or None),
            ],
        )

    def to_json(self) -> dict[str, Any]:
        figures = asdict(self)
        del figures["decision_ms"]["mean"], figures["decision_ms"]["p95"], figures["supply"], figures["unit"]
        return figures


def percentiles(values: Sequence[float]) -> Latency:
    if not values:
        return Latency()
    p50, p95, p99 = np.percentile(values, [50, 95, 99]).tolist()
    return Latency(mean=float(np.mean(values)), p50=p50, p95=p95, p99=p99)
