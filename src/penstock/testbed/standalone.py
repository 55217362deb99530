"""A real standalone cluster on this machine, from the PySpark package: for tests, pages and demonstrations.

The memory that workers offer is nominal; executors use what `spark.executor.memory` says.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pyspark

from penstock.model.errors import PenstockError, check_whole
from penstock.testbed.folder import ProcessFolder
from penstock.testbed.java import java
from penstock.testbed.ports import HOST, free_ports

START_SECONDS = 120.0
STOP_SECONDS = 20.0

# The pipe closes when this process ends, for whatever reason: then the shell ends its child.
KEEPER = '"$@" & child=$!; read _; kill "$child"; wait "$child"'


class ClusterError(PenstockError):
    """The cluster did not start."""


class ClusterProcess:
    """The master or a worker: a process that can be lost, and come back.

    process_id  the process group of it and of what it starts, which for a worker are executors
    """

    def __init__(self, folder: ProcessFolder, role: str, *arguments: str) -> None:
        self._folder, self._role, self._arguments = folder, role, arguments
        self.start()

    @property
    def process_id(self) -> int:
        return self._keeper.pid

    def start(self) -> None:
        home = Path(pyspark.__file__).parent
        main = f"org.apache.spark.deploy.{self._role.lower()}.{self._role}"
        environment = {
            **os.environ,
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": HOST,
            # What executors shuffle and cache goes with the folder too.
            "SPARK_LOCAL_DIRS": str(self._folder.path / "local"),
            "SPARK_DAEMON_MEMORY": "256m",
            # A job that does not say which Python its tasks run asks executors for `python3`: here that is ours.
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),
        }
        command = [str(home / "bin" / "spark-class"), main, "--host", HOST, *self._arguments]
        with (self._folder.path / "log").open("ab") as log:
            self._keeper = subprocess.Popen(
                ["sh", "-c", KEEPER, "sh", *command],
                stdin=subprocess.PIPE, stdout=log, stderr=log, env=environment, pass_fds=self._folder.held,
                start_new_session=True,  # Ctrl-C is for the job, which ends first
            )  # fmt: skip

    def kill(self) -> None:
        """End it with everything that it started, as a machine that is lost does: without a word to anybody."""
        with suppress(ProcessLookupError):
            os.killpg(self._keeper.pid, signal.SIGKILL)
        self.stop()

    def stop(self) -> None:
        assert self._keeper.stdin is not None
        with suppress(BrokenPipeError):
            self._keeper.stdin.close()
        self._keeper.wait(STOP_SECONDS)


@dataclass(frozen=True)
class StandaloneCluster:
    """A running cluster: `master` is the address for a session; `folder` holds logs and work directories."""

    master: str
    page: str
    folder: Path
    workers: list[ClusterProcess] = field(default_factory=list)

    def ask(self) -> dict[str, Any]:
        """The state of the master: its workers, the applications, the cores in use."""
        with urlopen(f"{self.page}/json/", timeout=10) as answer:
            known: dict[str, Any] = json.load(answer)
            return known


@contextmanager
def standalone_cluster(workers: int = 2, cores: int = 2, memory: str = "16g") -> Iterator[StandaloneCluster]:
    """One master and `workers` workers of `cores` cores, ready for applications, until the block ends."""
    check_whole("workers", workers, 1)
    check_whole("cores", cores, 1)
    java()
    port, page = free_ports(2)
    with ExitStack() as stack:
        folder = stack.enter_context(ProcessFolder("penstock-cluster-"))
        cluster = StandaloneCluster(f"spark://{HOST}:{port}", f"http://{HOST}:{page}", folder.path)
        stack.callback(ClusterProcess(folder, "Master", "--port", str(port), "--webui-port", str(page)).stop)
        _wait_for(cluster, 0)
        for number in range(workers):
            offer = ("--cores", str(cores), "--memory", memory, "--work-dir", str(folder.path / f"worker-{number}"))
            worker = ClusterProcess(folder, "Worker", *offer, "--port", "0", "--webui-port", "0", cluster.master)
            stack.callback(worker.stop)
            cluster.workers.append(worker)
        _wait_for(cluster, workers)
        yield cluster


def _wait_for(cluster: StandaloneCluster, workers: int) -> None:
    """Wait until the master answers and knows all its workers."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        try:
            if cluster.ask()["aliveworkers"] >= workers:
                return
        except (URLError, OSError, ValueError):
            pass  # it does not listen yet, or has no page yet
        time.sleep(0.1)
    log = (cluster.folder / "log").read_text(errors="replace").splitlines()
    raise ClusterError(f"the cluster did not start within {START_SECONDS:.0f} s: {(log or ['its log is empty'])[-1]}")


def main() -> None:
    """Run a cluster until Ctrl-C, and print its address and that of the master's page: to try things out."""
    parser = argparse.ArgumentParser(prog="python -m penstock.testbed.standalone", description=main.__doc__)
    parser.add_argument("--workers", type=int, default=2, help="how many workers (default 2)")
    parser.add_argument("--cores", type=int, default=2, help="cores that each offers (default 2)")
    wanted = parser.parse_args()
    with standalone_cluster(wanted.workers, wanted.cores) as cluster:
        # One write, also where Python does not buffer: whoever has read the address may end us at once.
        print(f"{cluster.master}\nthe master's page: {cluster.page}", flush=True)
        with suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
