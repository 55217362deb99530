"""A local Spark session for demos, tests and sweeps: quiet, without a UI, with the Python that runs this."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from pyspark.sql import SparkSession

from penstock.testbed.java import java

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "4",
    # How long a real-time shuffle may hold back records to send more of them at once. It is 50 by default, for each
    # shuffle in turn: four operators need 110 ms, and 16 with this.
    "spark.shuffle.streaming.networkBufferMaxWaitTimeMs": "5",
    # Under load a buffer is full before that. A message costs more than the bytes in it: with four times Spark's own
    # size the threads that send and receive take a fifth less of the CPU.
    "spark.shuffle.streaming.networkBufferSize": "131072",
    # Real-time mode and state repartition both ask for RocksDB.
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
}

ON_THIS_MACHINE = {
    # No other machine must reach the driver.
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    # On a local disk the default one starts a process for every file of a checkpoint that it looks at; renaming is
    # atomic with this one as well.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
}
"""Only where everything stays on this machine."""


def local_session(
    master: str = "local[16]",
    *,
    name: str = "penstock",
    jars: Sequence[Path] = (),
    settings: Mapping[str, str] | None = None,
) -> SparkSession:
    """A session of our own. Many slots on few cores are right for operators that wait on others."""
    java()  # says in one sentence what is missing, where Spark would show a stack trace
    local = master.startswith("local")
    # Without this the workers take the first python3 on the path, which may lack pyarrow.
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    if local or "PYSPARK_PYTHON" not in os.environ:  # on other machines Python may lie elsewhere
        os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.Builder().master(master).appName(name)
    for key, value in {**SETTINGS, **(ON_THIS_MACHINE if local else {}), **(settings or {})}.items():
        builder = builder.config(key, value)
    if local:
        log = Path(__file__).with_name("log4j2.properties").as_uri()
        builder = builder.config("spark.driver.extraJavaOptions", f"-Dlog4j2.configurationFile={log}")
    if jars:
        builder = builder.config("spark.jars", ",".join(str(jar) for jar in jars))
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark
