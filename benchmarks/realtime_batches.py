"""How long a batch should be in real time: each end of one is a moment of silence, and metrics come with it.

A fan-out and a fan-in under a steady stream, left alone, with batches of several lengths, in a session that has run it
before. Latency is that of all records, from the source's topic to the sink's; silence is the longest time between two
records at the sink in each span of a batch and a half, in which one ends for sure.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

import numpy as np

from benchmarks.diamond import latency_ms, silences, steady, warm_up
from penstock.testbed.broker import Broker
from penstock.testbed.jars import connector_jars
from penstock.testbed.session import local_session

LENGTHS = (1.0, 2.0, 5.0, 10.0, 30.0)
BATCHES = 3
LEAST_SECONDS = 45.0
SLOTS = 40


@dataclass(frozen=True)
class Length:
    batch_seconds: float
    median_silence_ms: float
    p50_ms: float
    p99_ms: float
    p999_ms: float


def rows() -> Iterator[Length]:
    with Broker() as broker:
        spark = local_session(f"local[{SLOTS}]", jars=connector_jars())
        try:
            warm_up(spark, broker)
            for length in LENGTHS:
                with steady(spark, broker, batch_seconds=length) as job:
                    began = time.time()
                    time.sleep(max(LEAST_SECONDS, BATCHES * length))
                    ended = time.time()
                spans = [(t, t + 1.5 * length) for t in np.arange(began, ended - 1.5 * length, 1.5 * length)]
                quantiles = np.percentile(latency_ms(job.seen, began, ended), (50, 99, 99.9))
                yield Length(length, median(silences(job.seen, spans)), *(float(each) for each in quantiles))
        finally:
            spark.stop()
