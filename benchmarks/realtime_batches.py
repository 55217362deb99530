"""How long a batch should be in real time: each end of one is a moment of silence, and metrics come with it.

A fan-out and a fan-in under a steady stream, left alone, with batches of several lengths. Latency is that of all
records, from the source's topic to the sink's; silence is the longest time between two records at the sink in each span
of a batch and a half, in which one ends for sure.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

import numpy as np

from benchmarks.diamond import diamond
from benchmarks.numbered import read_sink
from penstock.load.curves import constant
from penstock.model import Plan
from penstock.spark.dry_run import dry_run
from penstock.spark.io.kafka_topic import kafka
from penstock.spark.io.replayed import replay
from penstock.spark.realtime.engine import RealTimeEngine
from penstock.testbed.broker import Broker
from penstock.testbed.feeder import Feeder
from penstock.testbed.jars import connector_jars
from penstock.testbed.session import local_session

LENGTHS = (1.0, 2.0, 5.0, 10.0, 30.0)
RATE = 300.0
PARTITIONS = 2
BATCHES = 3
LEAST_SECONDS = 45.0


@dataclass(frozen=True)
class Length:
    batch_seconds: float
    median_silence_ms: float
    p50_ms: float
    p99_ms: float
    p999_ms: float


def rows() -> Iterator[Length]:
    with Broker() as broker:
        spark = local_session("local[16]", jars=connector_jars())
        try:
            for length in LENGTHS:
                source, sink = (kafka(f"{end}-{length:g}", servers=broker.servers) for end in ("in", "out"))
                for each in (source, sink):
                    broker.create_topic(each.topic, PARTITIONS)
                job = diamond(source, sink)
                load = replay(constant(RATE, 7200.0), lambda ids: [b"%d" % i for i in ids])
                with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as checkpoint:
                    engine = RealTimeEngine(spark, job, dry_run(spark, job), checkpoint, batch_seconds=length)
                    engine.start(Plan(dict.fromkeys(engine.topology.names, 1)))
                    with Feeder(load, source.topic, broker.servers) as feeder:
                        while not any(sample.throughput and not sample.warm_up for sample in engine.read()):
                            time.sleep(0.1)
                        began = time.time()
                        time.sleep(max(LEAST_SECONDS, BATCHES * length))
                        ended = time.time()
                    seen = read_sink(sink, 2 * feeder.sent)
                    engine.stop()
                times = sorted(record.written for record in seen)
                gaps = [(earlier, later - earlier) for earlier, later in pairwise(times) if began <= earlier <= ended]
                spans = np.arange(began, ended - 1.5 * length, 1.5 * length)
                silences = [max(gap for at, gap in gaps if span <= at <= span + 1.5 * length) for span in spans]
                latency = [1e3 * record.seconds for record in seen if began <= record.written <= ended]
                p50, p99, p999 = (float(each) for each in np.percentile(latency, (50, 99, 99.9)))
                yield Length(length, 1e3 * median(silences), p50, p99, p999)
        finally:
            spark.stop()
