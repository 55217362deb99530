"""Changes under load on the two executors of a real standalone cluster, by hand-overs. Prints what it saw as JSON.

A process of its own: a second Spark context cannot live beside the one that the other tests share.

usage: handover_story.py MASTER BROKERS FOLDER
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from confluent_kafka import Consumer

from cluster_story import until
from numbered_load import NumberedLoad
from penstock.spark.io.kafka_topic import kafka
from penstock.spark.pipeline import Pipeline
from penstock.spark.topics.offsets import Offsets
from penstock.testbed.jars import connector_jars
from penstock.testbed.session import local_session
from realtime_jobs import as_text, running, takes

SLOTS_EACH, EXECUTORS = 6, 2
SETTINGS = {
    "spark.executor.cores": str(SLOTS_EACH),
    "spark.cores.max": str(SLOTS_EACH * EXECUTORS),
    "spark.executor.memory": "640m",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
PARTITIONS = 2


def main(master: str, servers: str, folder: Path) -> None:
    for topic in ("in", "out"):
        Offsets(servers).create(topic, PARTITIONS)
    spark = local_session(master, jars=connector_jars(), settings=SETTINGS)
    job = Pipeline("told", source=kafka("in", servers=servers))
    job.operator("work", lambda frame: takes(2)(as_text(frame)))
    job.sink(kafka("out", servers=servers), after="work")
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "told", "auto.offset.reset": "earliest"})
    consumer.subscribe(["out"])
    seen: Counter[bytes] = Counter()

    def count() -> int:
        seen.update(value for m in consumer.consume(5000, 0.2) if not m.error() and (value := m.value()) is not None)
        return len(seen)

    until("both executors are there", lambda: spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() > EXECUTORS)
    with running(spark, job, str(folder / "checkpoint"), batch_seconds=2.0, change="handover", work=2) as engine:
        load = NumberedLoad(servers, "in", rate=200, partitions=PARTITIONS)
        until("it runs", lambda: any(s.throughput and not s.warm_up for s in engine.read()))
        for k in (3, 2, 4, 2):
            engine.apply(engine.plan().changed(work=k))
            until("it is measured", lambda: any(s.throughput and not s.warm_up for s in engine.read()))
        load.stop()
        until("all is there", lambda: count() >= load.sent)
    written = Offsets(servers).ends(["out"]) or {"out": 0}
    print(json.dumps({
        "sent": load.sent, "delivered": count(), "written": written["out"], "counted": engine.duplicates,
        "handed_over": [list(change.handed_over) for change in engine.changes],
        "why": [change.why for change in engine.changes],
        "twice": sorted(int(number) for number, times in seen.items() if times > 1),
        "duplicates": [change.duplicates for change in engine.changes],
        "start_seconds": [change.start_seconds for change in engine.changes],
        "seconds": [change.seconds for change in engine.changes],
    }))  # fmt: skip
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
