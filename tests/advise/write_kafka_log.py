"""Runs a job on real executors that reads Kafka under a load that rises and falls, so that Spark writes its log.

    python -m tests.advise.write_kafka_log FOLDER

The log in `tests/advise/logs` that the documentation shows was made so, then scrubbed.
"""

from __future__ import annotations

import math
import sys
import tempfile
from pathlib import Path

from penstock.load.trace import Trace
from penstock.spark.io.replayed import replay
from penstock.testbed.broker import Broker
from penstock.testbed.feeder import Feeder
from penstock.testbed.jars import connector_jars
from penstock.testbed.session import local_session

SECONDS, PEAK, SERVICE_MS = 210, 500, 3


def write(folder: Path) -> None:
    times = [float(t) for t in range(0, SECONDS + 1, 5)]
    rates = [PEAK * (0.15 + 0.85 * math.sin(math.pi * t / SECONDS) ** 2) for t in times]
    source = replay(Trace("wave", tuple(times), tuple(rates)))
    settings = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": folder.as_uri(),
        "spark.eventLog.rolling.enabled": "false",
        "spark.executor.memory": "640m",
    }
    with Broker() as broker, tempfile.TemporaryDirectory() as checkpoint:
        broker.create_topic("clicks", partitions=8)
        spark = local_session("local-cluster[3,2,640]", name="clicks", jars=connector_jars(), settings=settings)
        try:
            reader = spark.readStream.format("kafka").option("kafka.bootstrap.servers", broker.servers)
            clicks = reader.option("subscribe", "clicks").option("startingOffsets", "latest").load()
            slow = f"reflect('java.lang.Thread', 'sleep', cast({SERVICE_MS} + length(value) * 0 as bigint)) is not null"
            writer = clicks.where(slow).writeStream.format("noop").queryName("clicks")
            query = writer.option("checkpointLocation", checkpoint).trigger(processingTime="5 seconds").start()
            with Feeder(source, "clicks", broker.servers):
                query.awaitTermination(SECONDS)
            query.stop()
        finally:
            spark.stop()


if __name__ == "__main__":
    write(Path(sys.argv[1]).resolve())
