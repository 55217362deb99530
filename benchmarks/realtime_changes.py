"""How long a real-time job is silent when its plan changes, and how many records come twice.

Four cheap operators and a steady stream; the plan changes twenty times, each time when a batch has ended under the plan
before, as a loop would that waits for a measurement. Silence is the longest time in which a restarted segment hands
nothing on, from the stop of its query to Kafka's first sight of a new record.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle
from statistics import median

from benchmarks.realtime import STEPS
from penstock.load.curves import constant
from penstock.model import Plan
from penstock.spark.dry_run import dry_run
from penstock.spark.io.kafka_topic import kafka
from penstock.spark.io.replayed import replay
from penstock.spark.pipeline import Pipeline
from penstock.spark.realtime.engine import RealTimeEngine
from penstock.testbed.broker import Broker
from penstock.testbed.feeder import Feeder
from penstock.testbed.jars import connector_jars
from penstock.testbed.session import local_session

CHANGES = 20
RATE = 500.0
BATCH_SECONDS = 2.0


@dataclass(frozen=True)
class Changes:
    what: str
    median_seconds: float
    longest_seconds: float


@dataclass(frozen=True)
class Twice:
    changes: int
    records: int
    came_twice: int


def rows() -> Iterator[Changes | Twice]:
    with Broker() as broker, tempfile.TemporaryDirectory() as checkpoint:
        spark = local_session("local[16]", jars=connector_jars())
        try:
            broker.create_topic("in", 1)
            broker.create_topic("out", 1)
            job = Pipeline("changes", source=kafka("in", servers=broker.servers))
            after: tuple[str, ...] = ()
            for name, function in STEPS.items():
                job.operator(name, function, after=after)
                after = (name,)
            job.sink(kafka("out", servers=broker.servers), after=after[0])
            plan = Plan(dict.fromkeys(STEPS, 1))
            engine = RealTimeEngine(spark, job, dry_run(spark, job), checkpoint, batch_seconds=BATCH_SECONDS)
            engine.start(plan)
            source = replay(constant(RATE, 3600.0), lambda ids: [b'{"name": "a", "amount": %d}' % i for i in ids])
            with Feeder(source, "in", broker.servers):
                for _, name, parallelism in zip(range(CHANGES), cycle(STEPS), cycle((2, 3, 1)), strict=False):
                    _until_a_batch_has_ended(engine)
                    engine.apply(engine.plan().changed({name: parallelism}))
            engine.stop()
            made = list(engine.changes)
            yield _row("stop", [change.stop_seconds for change in made])
            yield _row("start", [change.start_seconds for change in made])
            yield _row("silence", [c.silence_seconds for c in made if c.silence_seconds is not None])
            read = engine._offsets.ends(["in"]) or {"in": 0}
            yield Twice(len(made), read["in"], engine.duplicates)
        finally:
            spark.stop()


def _until_a_batch_has_ended(engine: RealTimeEngine) -> None:
    while not any(sample.throughput and not sample.warm_up for sample in engine.read()):
        time.sleep(0.1)


def _row(what: str, seconds: list[float]) -> Changes:
    return Changes(what, median(seconds), max(seconds))
