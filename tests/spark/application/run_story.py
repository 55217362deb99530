"""Runs Spark's own examples, unmodified, under `penstock run` on a real standalone cluster, and prints what became of
them as JSON.

usage: run_story.py BROKERS FOLDER
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pyspark

import penstock
from cluster_story import until
from penstock.spark.application.configuration import DECOMMISSIONING
from penstock.spark.topics.offsets import Offsets
from penstock.testbed.jars import connector_jars
from penstock.testbed.ports import HOST
from penstock.testbed.standalone import StandaloneCluster, standalone_cluster
from run_processes import (
    CALM,
    CONF,
    EXAMPLES,
    OPTIONS,
    PARTITIONS,
    SURGE,
    TOPIC,
    WORDS,
    Lines,
    Process,
    counted,
    penstock_run,
)
from spark_events import core_seconds, event_log_settings

SUBMIT = Path(pyspark.__file__).parent / "bin" / "spark-submit"


def kafka_wordcount(cluster: StandaloneCluster, servers: str, folder: Path) -> dict[str, Any]:
    told: dict[str, Any] = {"executors": []}

    def reached(count: int) -> None:
        until(f"{count} executors", lambda: job.says("") and cluster.ask()["coresused"] == count)
        told["executors"].append(count)

    jars = ",".join(map(str, connector_jars()))
    store, events = folder / "penstock.db", folder / "events"
    logged = [part for name, value in event_log_settings(events).items() for part in ("--conf", f"{name}={value}")]
    job = Process(
        folder, "kafka",
        [*penstock_run(cluster, "--mode", "monitor", "--store", f"sqlite:///{store}"), "--conf", f"spark.jars={jars}",
         *logged,
         str(EXAMPLES / "structured_kafka_wordcount.py"), servers, "subscribe", TOPIC],
    )  # fmt: skip
    reached(3)
    until("it counts", lambda: job.says("Batch: 0"))
    lines = Lines(servers)
    until("it would shrink", lambda: job.says("would change"))
    told["monitor"] = cluster.ask()["coresused"]
    job.process.send_signal(signal.SIGUSR1)
    until("it reports", lambda: job.says("in monitor mode, 0 changes made"))
    job.process.send_signal(signal.SIGUSR2)
    reached(1)
    lines.rate, lines.rises = SURGE, True
    reached(3)
    lines.rate, lines.rises = CALM, False
    reached(1)
    lines.stop()
    until("every word is counted", lambda: job.says("") and counted(job.out) >= WORDS * lines.sent)
    told["words"] = {"sent": WORDS * lines.sent, "counted": counted(job.out)}
    job.process.terminate()
    told["code"], told["err"] = job.ended(), job.err
    # The report begins anew with the first decision in active mode, and ends with the last one.
    with closing(sqlite3.connect(store)) as opened:
        since, end = opened.execute("select min(t), max(t) from penstock_cycles where mode = 'active'").fetchone()
    told["core_seconds"] = core_seconds(events, since, end)
    return told


@contextmanager
def words_on_a_socket() -> Iterator[int]:
    """A server that sends words to whoever connects; its port."""
    with socket.create_server((HOST, 0)) as server:
        ended = threading.Event()

        def talk(to: socket.socket) -> None:
            with to:
                while not ended.wait(0.05):
                    try:
                        to.sendall(b"to be or not to be\n")
                    except OSError:
                        return

        def serve() -> None:
            while True:
                try:
                    to, _ = server.accept()
                except OSError:
                    return
                threading.Thread(target=talk, args=(to,), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]
        ended.set()


def windowed(cluster: StandaloneCluster, folder: Path) -> dict[str, Any]:
    """Ended by Ctrl-C."""
    with words_on_a_socket() as port:
        script = EXAMPLES / "structured_network_wordcount_windowed.py"
        job = Process(folder, "windowed", [*penstock_run(cluster), str(script), HOST, str(port), "10", "5"])
        until("it is watched and counts", lambda: job.says("is watched in") and job.says("Batch: 2"))
        job.process.send_signal(signal.SIGINT)
        return {"code": job.ended(), "err": job.err}


def submitted(cluster: StandaloneCluster, folder: Path, example: str, *arguments: str) -> Process:
    """An example under spark-submit, with the configuration that the page shows."""
    settings = {
        **CONF, **DECOMMISSIONING, "spark.executor.cores": "1", "spark.cores.max": "3",
    }  # fmt: skip
    properties = folder / "penstock.conf"
    properties.write_text("".join(f"{name} {value}\n" for name, value in settings.items()), encoding="utf-8")
    main = Path(penstock.__file__).parent / "__main__.py"
    return Process(
        folder, example,
        [str(SUBMIT), "--master", cluster.master, "--properties-file", str(properties), str(main), *OPTIONS,
         str(EXAMPLES / f"{example}.py"), *arguments],
        PYSPARK_PYTHON=sys.executable, PYSPARK_DRIVER_PYTHON=sys.executable,
    )  # fmt: skip


def python_of(example: str) -> int:
    """The process of the script, which is a child of Spark's."""
    listed = subprocess.run(["ps", "-ewwo", "pid,args"], capture_output=True, text=True, check=True).stdout
    found = [line.split() for line in listed.splitlines() if "__main__.py" in line and f"{example}.py" in line]
    [pid] = [int(words[0]) for words in found if "python" in Path(words[1]).name]
    return pid


def under_spark_submit(cluster: StandaloneCluster, folder: Path) -> dict[str, Any]:
    """Ended by SIGTERM. What the script prints, errors too, comes out on Spark's standard output."""
    example = "structured_network_wordcount_windowed"
    with words_on_a_socket() as port:
        job = submitted(cluster, folder, example, HOST, str(port), "10", "5")
        until("it is watched and counts", lambda: job.says("is watched in") and job.says("Batch: 1"))
        os.kill(python_of(example), signal.SIGTERM)
        return {"code": job.ended(), "err": job.out}


def sessionization(cluster: StandaloneCluster, folder: Path) -> dict[str, Any]:
    """Spark refuses its own example, which ends by itself."""
    with words_on_a_socket() as port:
        job = Process(
            folder, "sessions",
            [*penstock_run(cluster), str(EXAMPLES / "structured_sessionization.py"), HOST, str(port)],
        )  # fmt: skip
        return {"code": job.ended(), "err": job.err}


def main(servers: str, folder: Path) -> None:
    os.environ.setdefault("SPARK_LOCAL_IP", HOST)
    with standalone_cluster(workers=1, cores=3) as cluster:
        Offsets(servers).create(TOPIC, PARTITIONS)
        told = {
            "kafka": kafka_wordcount(cluster, servers, folder),
            "windowed": windowed(cluster, folder),
            "spark-submit": under_spark_submit(cluster, folder),
            "sessionization": sessionization(cluster, folder),
        }
    print(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
