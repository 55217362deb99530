"""A load that goes up and down through the point where parting pays: chains that form and part, always, and never.

Three operators that wait, over a topic of one partition, in real time, on a standalone cluster whose executors have two
slots each. One instance carries the light load of all three, in the task that reads. At the peak the three together
need several; together they hold a slot more than parted, as none of them has as many as there are readers. The policy
is `predictive` each time: free to form and part chains, with all operators tied to one number, and with instances of
its own for each. Core-seconds are those between Spark's events that an executor was added and removed. Every record is
numbered, and looked for at the sink; one is late if it took longer than the target from its creation to the sink.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.numbered import read_sink, with_age
from benchmarks.spark_contest import COMPRESS, GUARDS
from penstock.demo.clicks_on_spark import surge
from penstock.load.curves import constant
from penstock.load.trace import Trace
from penstock.model import Cycle, Slo
from penstock.spark.io.kafka_topic import Kafka
from penstock.spark.io.replayed import replay
from penstock.spark.pipeline import Pipeline
from penstock.testbed.feeder import Feeder
from penstock.testbed.place import LocalPlace, opened
from penstock.testbed.service import takes

SERVICE_MS = {"parse": 3, "enrich": 4, "publish": 3}
LOW, HIGH, SECONDS = 50.0, 240.0, 180.0
SLO = Slo(event_latency="2 s")
SLOTS_EACH, MOST_EXECUTORS = 2, 7
"""Room for two plans: one that is handed over runs beside the one before it for a moment."""
WARM_UP_SECONDS = 25.0
FREE, FUSED, PARTED = "forming and parting", "always fused", "always parted"
WAYS = (FREE, FUSED, PARTED)


@dataclass(frozen=True)
class Row:
    """One run."""

    way: str
    sent: int
    lost: int
    came_twice: int
    late_percent: float
    core_seconds: float
    slot_seconds: float
    changes: int


@dataclass(frozen=True)
class Moment:
    """What was in force at a time of a run."""

    way: str
    t: float
    records_per_second: float
    slots: int
    plan: str


def rows() -> Iterator[Row | Moment]:
    with opened("realtime", cluster=True, slots_each=SLOTS_EACH, most_executors=MOST_EXECUTORS) as place:
        _run(place, PARTED, constant(LOW, WARM_UP_SECONDS))  # who comes first pays for what is cold
        for way in WAYS:
            row, moments = _run(place, way, surge(SECONDS, LOW, HIGH))
            yield row
            yield from moments


def pipeline(source: Kafka, sink: Kafka, way: str) -> Pipeline:
    """Every record comes out once, as its number and the time of its creation."""
    job = Pipeline("line", source=source)
    last: list[str] = []
    for name, milliseconds in SERVICE_MS.items():
        function = takes(milliseconds, lambda frame: frame) if last else takes(milliseconds, with_age)
        job.operator(name, function, after=last, max=5, tie="all" if way == FUSED else None)
        last = [name]
    job.sink(sink, after=last[0])
    return job


def _run(place: LocalPlace, way: str, trace: Trace) -> tuple[Row, list[Moment]]:
    source, sink = place.topic("in"), place.topic("out")
    load, moments = replay(trace, lambda ids: [b"%d" % i for i in ids]), list[Moment]()
    began = 0.0

    def on_cycle(cycle: Cycle) -> None:
        if began:
            rate, slots = (
                cycle.samples[-1].offered_rate if cycle.samples else 0.0,
                job.engine.slots_needed(cycle.before),
            )
            moments.append(Moment(way, round(time.time() - began, 1), round(rate), slots, str(cycle.before)))
            print(f"{way} {moments[-1].t:.0f} s: {rate:.0f}/s: {cycle.decision.plan}, as {cycle.decision.reason.text}",
                  file=sys.stderr, flush=True)  # fmt: skip

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        options: Any = {"guards": GUARDS, "policy_options": {"compress": COMPRESS}}
        job = pipeline(source, sink, way).start(
            place.spark, slo=SLO, checkpoint=str(Path(folder) / "checkpoint"), engine="realtime", batch="2 s",
            change="handover", executors=(1, place.executors or 1), chaining=way != PARTED, policy="predictive",
            interval="2 s", on_cycle=on_cycle, **options,
        )  # fmt: skip
        with job:
            with Feeder(load, source.topic, source.servers) as feeder:
                began, bill = time.time(), job.engine.slots.bill()
                while feeder.sent < load.total:
                    time.sleep(0.1)
                ended = time.time()
                paid = bill.core_seconds(ended) if bill is not None else 0.0
            came = read_sink(sink, feeder.sent)
            changes = job.report().changes
    held = sum(each.slots * (then.t - each.t) for each, then in pairwise(moments))
    numbers = Counter(each.name for each in came)
    late = sum(each.seconds > SLO.event_latency_ms / 1e3 for each in came if SLO.event_latency_ms)
    row = Row(
        way, feeder.sent, feeder.sent - len(numbers), numbers.total() - len(numbers), round(100 * late / len(came), 2),
        round(paid, 1), round(held), changes,
    )  # fmt: skip
    return row, moments
