"""Runs a job on real executors that reads Kafka under a load that rises and falls, so that Spark writes its log.

    PYTHONPATH=tests python -m advise.write_kafka_log FOLDER --executors 4 --seconds 540 --scrub

The log in `examples/event-log` was made so; the one in `tests/advise/logs` with three executors, 210 seconds, a peak of
500 records/s and 3 ms for each, on a machine that had too much to do.
Records only wait (they sleep), so that two cores are enough for as many slots as the job has.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from pathlib import Path

import pyarrow

from advise.write_logs import scrubbed
from penstock.load.trace import Trace
from penstock.spark.io.replayed import replay
from penstock.testbed.broker import Broker
from penstock.testbed.feeder import Feeder
from penstock.testbed.jars import connector_jars
from penstock.testbed.session import local_session

CORES, PARTITIONS, TRIGGER_SECONDS = 2, 8, 5


def wave(seconds: int, peak: float) -> Trace:
    """From a seventh of the peak to the peak and back, once."""
    times = [float(t) for t in range(0, seconds + 1, 5)]
    rates = [peak * (0.15 + 0.85 * math.sin(math.pi * t / seconds) ** 2) for t in times]
    return Trace("wave", tuple(times), tuple(rates))


def write(folder: Path, executors: int, seconds: int, peak: float, service_ms: int) -> Path:
    """Run the job; returns its log."""
    before = set(folder.iterdir())
    settings = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": folder.as_uri(),
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.compress": "false",
        "spark.executor.memory": "640m",
        "spark.executor.cores": str(CORES),
    }
    master = f"local-cluster[{executors},{CORES},640]"
    with Broker() as broker, tempfile.TemporaryDirectory() as checkpoint:
        broker.create_topic("clicks", partitions=PARTITIONS)
        spark = local_session(master, name="clicks", jars=connector_jars(), settings=settings)
        try:
            reader = spark.readStream.format("kafka").option("kafka.bootstrap.servers", broker.servers)
            clicks = reader.option("subscribe", "clicks").option("startingOffsets", "latest").load()
            slow = f"reflect('java.lang.Thread', 'sleep', cast({service_ms} + length(value) * 0 as bigint)) is not null"
            writer = clicks.where(slow).writeStream.format("noop").queryName("clicks")
            writer = writer.trigger(processingTime=f"{TRIGGER_SECONDS} seconds")
            query = writer.option("checkpointLocation", checkpoint).start()
            with Feeder(replay(wave(seconds, peak)), "clicks", broker.servers):
                query.awaitTermination(seconds)
            query.stop()
        finally:
            spark.stop()
    (log,) = set(folder.iterdir()) - before - set(folder.glob(".*"))
    return log


def compressed(log: Path) -> Path:
    """The scrubbed log beside it, in the codec that Spark compresses logs with unless it is told otherwise."""
    text, file = scrubbed(log.read_text(encoding="utf-8")), log.with_name(f"{log.name}.zstd")
    with pyarrow.CompressedOutputStream(str(file), "zstd") as stream:
        stream.write(text.encode())
    return file


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m advise.write_kafka_log", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--executors", type=int, default=4)
    parser.add_argument("--seconds", type=int, default=540)
    parser.add_argument("--peak", type=float, default=700.0, help="records/s")
    parser.add_argument("--service-ms", type=int, default=4, help="that each record takes")
    parser.add_argument("--scrub", action="store_true", help="write it once more without what tells of the machine")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    written = write(given.folder.resolve(), given.executors, given.seconds, given.peak, given.service_ms)
    print(compressed(written) if given.scrub else written)
