"""What the stories of `penstock run` share: the lines that are counted, and processes with all that they print."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from pathlib import Path

import pyspark
from confluent_kafka import Producer

from cluster_story import environment, until
from penstock.spark.internals import checkpointing
from penstock.testbed.standalone import StandaloneCluster

EXAMPLES = Path(pyspark.__file__).parent / "examples/src/main/python/sql/streaming"
TOPIC, PARTITIONS = "lines", 3
WORDS = 20_000
LINE = " ".join(f"w{i % 10}" for i in range(WORDS)).encode()
CALM, SURGE, RISE = 5.0, 100.0, 1.15
"""Lines per second. How many an executor carries depends on the machine: a surge rises by this factor every second
until the application has grown."""
CONF = {
    "spark.executor.memory": "512m",
    "spark.sql.shuffle.partitions": str(PARTITIONS),
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.streaming.checkpointFileManagerClass": f"{checkpointing()}.FileSystemBasedCheckpointFileManager",
}
QUICK = ["--quick", "--policy", "ds2", "--policy-option", "utilisation=0.8"]  # the stories are about executors
OPTIONS = ["run", "--slo-event", "30 s", "--executors", "1:3", *QUICK]


class Lines:
    """Lines at a rate that can be changed."""

    def __init__(self, servers: str, rate: float = CALM) -> None:
        self.rate = rate
        self.rises = False
        self.sent = 0
        self._servers = servers
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        producer = Producer({"bootstrap.servers": self._servers, "compression.type": "lz4", "linger.ms": 20})
        due = 0.0
        while not self._stop.wait(0.1):
            if self.rises:
                self.rate *= RISE**0.1
            due += self.rate * 0.1
            while self.sent < due:
                producer.produce(TOPIC, LINE, partition=self.sent % PARTITIONS)
                self.sent += 1
            producer.poll(0)
        producer.flush(60)

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()


class Process:
    """A command that runs, with all that it has printed."""

    def __init__(self, folder: Path, name: str, command: list[str], **variables: str) -> None:
        self._out, self._err = folder / f"{name}.out", folder / f"{name}.err"
        with self._out.open("w") as out, self._err.open("w") as err:
            self.process = subprocess.Popen(command, stdout=out, stderr=err, env={**environment(), **variables})

    @property
    def out(self) -> str:
        return self._out.read_text(encoding="utf-8", errors="replace")

    @property
    def err(self) -> str:
        return self._err.read_text(encoding="utf-8", errors="replace")

    def says(self, what: str) -> bool:
        assert self.process.poll() is None, f"it has ended:\n{self.out[-2000:]}\n{self.err[-6000:]}"
        return re.search(what, self.out + self.err) is not None

    def ended(self) -> int:
        until("it has ended", lambda: self.process.poll() is not None)
        return self.process.wait()


def penstock_run(cluster: StandaloneCluster, *options: str) -> list[str]:
    conf = [part for name, value in CONF.items() for part in ("--conf", f"{name}={value}")]
    return [sys.executable, "-m", "penstock", *OPTIONS, *options, "--master", cluster.master, *conf]


def counted(printed: str) -> int:
    """The words of the newest table that is whole."""
    tables = [table for table in printed.split("Batch: ") if len(re.findall(r"^\+-", table, re.M)) == 3]
    return sum(map(int, re.findall(r"^\| *w\d\| *(\d+)\|$", tables[-1], re.M))) if tables else 0
