"""A load that goes up and down through the point where parting pays: chains that form and part, always, and never.

Three operators that wait, over a topic of six partitions, in real time, on a standalone cluster: the job, the load and
the executors of `chains_simulated`, by which they were chosen before the first run. Executors have as many slots as the
light load needs, so that few of them have to start. The policy is `predictive` each time: free to form and part chains,
with all operators tied to one number, and with instances of its own for each. Core-seconds are those between Spark's
events that an executor was added and removed. Every record is numbered, and looked for at the sink; one is late if it
took longer than the target from its creation to the sink.

Expected before the first run, by the simulator: 1,300 to 1,500 core-seconds free, 1,600 to 1,850 fused and 2,250 to
2,500 parted, and more of each here, as a hand-over holds the slots of both plans; hardly a record late.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.chains_simulated import (
    COMPRESS,
    FUSED,
    LOW,
    MOST,
    MOST_EXECUTORS,
    PARTED,
    PARTITIONS,
    SERVICE_MS,
    SLO,
    SLOTS_EACH,
    WAYS,
    load,
)
from benchmarks.numbered import read_sink, with_age
from benchmarks.spark_contest import GUARDS
from penstock.load.curves import constant
from penstock.load.trace import Trace
from penstock.model import Cycle
from penstock.spark.io.kafka_topic import Kafka
from penstock.spark.io.replayed import replay
from penstock.spark.pipeline import Pipeline
from penstock.testbed.feeder import Feeder
from penstock.testbed.place import LocalPlace, opened
from penstock.testbed.service import takes

WARM_UP_SECONDS = 20.0


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
            row, moments = _run(place, way, load())
            yield row
            yield from moments


def pipeline(
    source: Kafka, sink: Kafka, way: str, service_ms: Mapping[str, float] = SERVICE_MS, most: int = MOST
) -> Pipeline:
    """Every record comes out once, as its number and the time of its creation."""
    job = Pipeline("line", source=source)
    last: list[str] = []
    for name, milliseconds in service_ms.items():
        function = takes(round(milliseconds), (lambda frame: frame) if last else with_age)
        job.operator(name, function, after=last, max=most, tie="all" if way == FUSED else None)
        last = [name]
    job.sink(sink, after=last[0])
    return job


def _run(place: LocalPlace, way: str, trace: Trace) -> tuple[Row, list[Moment]]:
    source, sink = place.topic("in", PARTITIONS), place.topic("out")
    records, moments = replay(trace, lambda ids: [b"%d" % i for i in ids]), list[Moment]()
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
            with Feeder(records, source.topic, source.servers) as feeder:
                began, bill = time.time(), job.engine.slots.bill()
                while feeder.sent < records.total:
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
