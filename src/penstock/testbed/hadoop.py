"""A real YARN, or a real HDFS, in one process on this machine, from Hadoop's own cluster for tests.

No Java is compiled: the process is py4j's own gateway, which PySpark includes, and the cluster is started through it.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from py4j.java_gateway import GatewayParameters, JavaGateway

from penstock.model.errors import PenstockError
from penstock.testbed.folder import ProcessFolder
from penstock.testbed.jars import mini_cluster_jars
from penstock.testbed.java import java

NODE = {
    "yarn.scheduler.minimum-allocation-mb": "256",
    "yarn.nodemanager.vmem-check-enabled": "false",
    "yarn.nodemanager.pmem-check-enabled": "false",
    "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": "99.9",
    "yarn.resourcemanager.scheduler.class": (
        "org.apache.hadoop.yarn.server.resourcemanager.scheduler.fifo.FifoScheduler"
    ),
}

STOP_SECONDS = 60.0


class HadoopError(PenstockError):
    """Hadoop did not start."""


@dataclass(frozen=True)
class Yarn:
    """A resource manager and a node manager.

    configuration  the folder for HADOOP_CONF_DIR
    page           the address of the resource manager's page
    """

    configuration: Path
    page: str

    def cores_used(self) -> int:
        """Cores of all containers, that of the application master included."""
        with urlopen(f"{self.page}/ws/v1/cluster/metrics", timeout=10) as answer:
            used: int = json.load(answer)["clusterMetrics"]["allocatedVirtualCores"]
            return used


@contextmanager
def yarn_cluster(cores: int = 6, memory_mb: int = 6144) -> Iterator[Yarn]:
    """YARN with one node of so many cores, ready for applications until the block ends."""
    with _jvm("penstock-yarn-") as (folder, jvm):
        settings = jvm.org.apache.hadoop.yarn.conf.YarnConfiguration()
        offered = {
            "yarn.nodemanager.resource.memory-mb": str(memory_mb),
            "yarn.nodemanager.resource.cpu-vcores": str(cores),
        }
        for name, value in {**NODE, **offered}.items():
            settings.set(name, value)
        cluster = jvm.org.apache.hadoop.yarn.server.MiniYARNCluster("penstock", 1, 1, 1)
        cluster.init(settings)
        cluster.start()
        used = cluster.getConfig()
        configuration = folder / "conf"
        configuration.mkdir()
        _write(jvm, used, configuration / "yarn-site.xml")
        core = jvm.org.apache.hadoop.conf.Configuration(False)
        core.set("fs.defaultFS", "file:///")
        _write(jvm, core, configuration / "core-site.xml")
        yield Yarn(configuration, f"http://{used.get('yarn.resourcemanager.webapp.address')}")


@contextmanager
def hdfs_cluster() -> Iterator[str]:
    """HDFS with one name node and one data node; the address of its root."""
    with _jvm("penstock-hdfs-") as (folder, jvm):
        settings = jvm.org.apache.hadoop.conf.Configuration()
        builder = getattr(jvm.org.apache.hadoop.hdfs, "MiniDFSCluster$Builder")
        cluster = builder(settings, jvm.java.io.File(str(folder / "data"))).numDataNodes(1).build()
        cluster.waitActive()
        yield str(cluster.getURI())


@contextmanager
def _jvm(name: str) -> Iterator[tuple[Path, Any]]:
    """A folder, and a JVM of its own that works there and ends with this process."""
    with ProcessFolder(name) as folder:
        jars = os.pathsep.join(map(str, mini_cluster_jars()))
        with (folder.path / "log").open("wb") as log:
            process = subprocess.Popen(
                [
                    java(), "-Xmx512m", f"-Dtest.build.data={folder.path}", "-cp", jars,
                    "py4j.GatewayServer", "--die-on-broken-pipe", "0",
                ],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, cwd=folder.path,
                pass_fds=folder.held, start_new_session=True,
            )  # fmt: skip
        assert process.stdout is not None
        assert process.stdin is not None
        # What Hadoop prints after the port is not read by anybody, and must not fill the pipe.
        reading = threading.Thread(target=process.stdout.read, daemon=True)
        try:
            port = process.stdout.readline().strip()
            reading.start()
            if not port.isdigit():
                raise HadoopError(f"Hadoop did not start: {(folder.path / 'log').read_text(errors='replace')[-300:]}")
            # Without memory management nobody tells a process that has ended which objects are not needed.
            parameters = GatewayParameters(port=int(port), auto_convert=True, enable_memory_management=False)
            gateway = JavaGateway(gateway_parameters=parameters)
            try:
                yield folder.path, gateway.jvm
            finally:
                gateway.close()
        finally:
            process.stdin.close()  # the gateway ends with it
            with suppress(subprocess.TimeoutExpired):
                process.wait(STOP_SECONDS)
            process.kill()
            process.wait()
            reading.join()
            process.stdout.close()


def _write(jvm: Any, settings: Any, file: Path) -> None:
    stream = jvm.java.io.FileOutputStream(str(file))
    settings.writeXml(stream)
    stream.close()
