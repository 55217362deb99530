"""Runs an unmodified script under `penstock run`, and the example of `watch`, on a real standalone cluster and on the
PySpark that runs this, and prints what became of them as JSON. Both begin with three executors and need fewer: how many
depends on what a batch costs by itself, and that on how busy the machine is.

usage: version_story.py BROKERS FOLDER
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pyspark

from cluster_story import until
from pages import ROOT
from penstock.spark.topics.offsets import Offsets
from penstock.testbed.jars import connector_jars
from penstock.testbed.ports import HOST
from penstock.testbed.standalone import StandaloneCluster, standalone_cluster
from run_processes import EXAMPLES, PARTITIONS, TOPIC, WORDS, Lines, Process, counted, penstock_run

EXAMPLE = str(ROOT / "examples" / "watched_job.py")

UNTIL_IT_HAS_SHRUNK = """
import re, runpy, sys
import penstock.spark
from patience import wait_for
from pyspark.sql.streaming.query import StreamingQuery
watched = []
watch = penstock.spark.watch
policy = {"policy": "ds2", "policy_options": {"utilisation": 0.8}}
penstock.spark.watch = lambda *given, **options: watched.append(watch(*given, **options, **policy)) or watched[0]
shrunk = r"(?s)[1-9]\\d* changes? made.*in force: job ([12]); \\1 executor"  # the three do not come at once
has_shrunk = lambda: re.search(shrunk, str(watched[0].report()))
StreamingQuery.awaitTermination = lambda query, seconds: wait_for(has_shrunk)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""Runs a script as it is, except that it names a quick policy, and waits for what it does and not for some time."""


def executors(cluster: StandaloneCluster, job: Process) -> int:
    job.says("")  # it has not ended
    return int(cluster.ask()["coresused"])


def run(cluster: StandaloneCluster, servers: str, folder: Path) -> dict[str, Any]:
    """A stateful query of Spark's own examples."""
    jars = ",".join(map(str, connector_jars()))
    job = Process(
        folder, "run",
        [*penstock_run(cluster, "--mode", "active"), "--conf", f"spark.jars={jars}",
         str(EXAMPLES / "structured_kafka_wordcount.py"), servers, "subscribe", TOPIC],
    )  # fmt: skip
    until("three executors", lambda: executors(cluster, job) == 3)
    until("it counts", lambda: job.says("Batch: 0"))
    lines = Lines(servers, rate=0.2)  # without a trigger each line is a batch
    until("fewer executors", lambda: executors(cluster, job) < 3)
    until("a line was sent", lambda: lines.sent > 0)
    lines.stop()
    until("every word is counted", lambda: job.says("") and counted(job.out) >= WORDS * lines.sent)
    job.process.send_signal(signal.SIGTERM)
    words = {"sent": WORDS * lines.sent, "counted": counted(job.out)}
    return {"words": words, "code": job.ended(), "err": job.err}


def watch(cluster: StandaloneCluster, folder: Path) -> dict[str, Any]:
    job = Process(
        folder, "watch", [sys.executable, "-c", UNTIL_IT_HAS_SHRUNK, EXAMPLE, cluster.master, "active", "3600"]
    )
    until("three executors", lambda: executors(cluster, job) == 3)
    return {"code": job.ended(), "out": job.out, "err": job.err[-3000:]}


def main(servers: str, folder: Path) -> None:
    os.environ.setdefault("SPARK_LOCAL_IP", HOST)
    with standalone_cluster(workers=1, cores=3) as cluster:
        Offsets(servers).create(TOPIC, PARTITIONS)
        told = {
            "version": pyspark.__version__,
            "run": run(cluster, servers, folder),
            "watch": watch(cluster, folder),
        }
    print(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
