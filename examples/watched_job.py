"""A streaming job, and the lines that put Penstock into it.

usage: watched_job.py MASTER [monitor | active] [SECONDS]
"""

import sys
import tempfile

from pyspark.sql import SparkSession

from penstock import Slo
from penstock.spark import watch

master = sys.argv[1]
mode = sys.argv[2] if len(sys.argv) > 2 else "monitor"
seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 60.0

spark = (
    SparkSession.builder.master(master)
    .appName("clicks")
    .config("spark.executor.cores", "1")
    .config("spark.executor.memory", "512m")
    .config("spark.cores.max", "3")
    .config("spark.decommission.enabled", "true")
    .config("spark.ui.showConsoleProgress", "false")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")

# The line of Penstock's, before or after the queries start. Without `quick` it has the patience of a real job.
watched = watch(spark, slo=Slo(event_latency="10 s"), executors=(1, 3), mode=mode, quick=True)

clicks = spark.readStream.format("rate").option("rowsPerSecond", 50).load()
query = (
    clicks.selectExpr("value % 10 as campaign", "timestamp")
    .writeStream.format("noop")
    .option("checkpointLocation", tempfile.mkdtemp())
    .queryName("clicks")
    .start()
)

query.awaitTermination(seconds)
print(watched.report())
watched.stop()
query.stop()
spark.stop()
