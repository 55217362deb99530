"""Measures inside the operators of a real-time query: counts, useful time, latency. One observation per batch.

The column `stamp` carries a third field here, `started`: the nanoseconds at which the operator took the record. It is
set for one record in `one_in`; the rest are only counted, so that cheap operators stay cheap. What is measured
this way is the time of the operator's own function. What Spark spends on taking a record from the shuffle and
handing it on is added from the CPU time of the operator's stage: see `penstock.spark.realtime.stage_cpu`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from penstock.model import Latency
from penstock.spark.jvm_clock import milliseconds, nanoseconds, now
from penstock.spark.stamp import CREATED, STAMP, TAKEN, stamped

MEASURE_ONE_IN = 16
STARTED = "started"
JOURNEY = "penstock: journey"  # no operator has this name: topic names and checkpoints could not bear it
_SHARES = (0.5, 0.95, 0.99)


@dataclass(frozen=True, slots=True)
class Metered:
    """One operator over one batch: records that left it, and seconds per record spent inside, where measured."""

    records_out: int
    seconds_per_record: float | None


def taken_now(frame: DataFrame, created: str) -> DataFrame:
    """A source's records, stamped as the source's task reads them."""
    return stamped(frame, created, now(frame.sparkSession))


def arrived(frame: DataFrame, one_in: int) -> DataFrame:
    """In front of an operator, behind its shuffle.

    What is not deterministic is also a wall: without one the optimiser would carry the operator's filters through the
    shuffle, to run them with the parallelism of the operator before.
    """
    if STAMP not in frame.columns:
        return frame.where(milliseconds(frame.sparkSession) > 0)
    sampled = F.when(F.rand() < 1 / one_in, nanoseconds(frame.sparkSession))
    return frame.withColumn(STAMP, F.struct(*_times(), sampled.alias(STARTED)))


def left(frame: DataFrame, operator: str) -> DataFrame:
    """Behind an operator: count its output, and time it where the stamp survived."""
    figures = [F.count(F.lit(1)).alias("records")]
    if STAMP in frame.columns:
        started = F.col(f"{STAMP}.{STARTED}")
        spent = F.when(started.isNotNull(), nanoseconds(frame.sparkSession) - started)
        figures.append(F.avg(spent).alias("nanoseconds"))
    return frame.observe(operator, *figures)


def arrived_at_the_end(frame: DataFrame) -> DataFrame:
    """Behind the last operator that keeps the stamp: the latency of the whole way, in milliseconds."""
    ended = F.when(F.col(f"{STAMP}.{STARTED}").isNotNull(), milliseconds(frame.sparkSession))
    figures = []
    for name, since in (("event", CREATED), ("processing", TAKEN)):
        latency = ended - F.unix_millis(f"{STAMP}.{since}")
        figures += [
            F.avg(latency).alias(f"{name}_mean"),
            F.percentile_approx(latency, list(_SHARES), F.lit(1000)).alias(f"{name}_percentiles"),
        ]
    return frame.observe(JOURNEY, *figures)


def without_start(frame: DataFrame) -> DataFrame:
    """The stamp as others know it: without the field that means nothing outside of one task."""
    return frame.withColumn(STAMP, F.struct(*_times())) if STAMP in frame.columns else frame


def metered(observed: Mapping[str, Any], operator: str) -> Metered:
    """What `left` observed."""
    figures = observed.get(operator)
    if figures is None:
        return Metered(0, None)
    nanoseconds_each = figures.get("nanoseconds")  # an operator without the stamp is only counted
    return Metered(figures["records"], None if nanoseconds_each is None else nanoseconds_each / 1e9)


def latency(observed: Mapping[str, Any], kind: str) -> Latency | None:
    """What `arrived_at_the_end` observed, `processing` or `event`; None if no record was measured."""
    figures = observed.get(JOURNEY)
    if figures is None or figures[f"{kind}_mean"] is None:
        return None
    # Clocks of two machines may disagree by a little; nothing arrives before it was made.
    mean, *percentiles = (max(0.0, float(v)) for v in (figures[f"{kind}_mean"], *figures[f"{kind}_percentiles"]))
    return Latency(mean, *percentiles)


def _times() -> list[Column]:
    return [F.col(f"{STAMP}.{CREATED}"), F.col(f"{STAMP}.{TAKEN}")]
