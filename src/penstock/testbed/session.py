"""A local Spark session for demos, tests and sweeps: quiet, without a UI, with the Python that runs this."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from pyspark.sql import SparkSession

from penstock.spark.internals import checkpointing
from penstock.testbed.java import java

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "4",
    # How long a real-time shuffle may hold back records to send more of them together. The default is 50 for every
    # shuffle: with it four operators take 110 ms, with this 16 ms.
    "spark.shuffle.streaming.networkBufferMaxWaitTimeMs": "5",
    # Under load a buffer is full before that. Each message has a cost besides its bytes: with four times the default
    # size the threads that send and receive take a fifth less CPU.
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
    # On a local disk the default one starts a process for every file of a checkpoint that it looks at; this one does
    # not, and renames atomically as well.
    "spark.sql.streaming.checkpointFileManagerClass": f"{checkpointing()}.FileSystemBasedCheckpointFileManager",
}
"""Settings for a local master only."""


def local_session(
    master: str = "local[16]",
    *,
    name: str = "penstock",
    jars: Sequence[Path] = (),
    settings: Mapping[str, str] | None = None,
) -> SparkSession:
    """A new Spark session. Many slots on few cores suit operators that wait for other systems."""
    java()  # raises an error of one sentence, where Spark would show a stack trace
    local = master.startswith("local")
    # Without this the workers take the first python3 on the path, which may lack pyarrow.
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    if local or "PYSPARK_PYTHON" not in os.environ:  # on other machines the path of Python may differ
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
