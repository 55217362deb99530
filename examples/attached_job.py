"""A streaming job, and the three lines that put Penstock into it.

usage: attached_job.py MASTER [monitor | active] [SECONDS]
"""

import sys
import tempfile

from pyspark.sql import SparkSession

from penstock import Slo  # the first line
from penstock.spark import attach  # the second

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
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")

clicks = spark.readStream.format("rate").option("rowsPerSecond", 50).load()
query = (
    clicks.selectExpr("value % 10 as campaign", "timestamp")
    .writeStream.format("noop")
    .option("checkpointLocation", tempfile.mkdtemp())
    .queryName("clicks")
    .start()
)

# The third line. Guards and interval are set for a try of a minute; leave them out in a real job.
quick = {"patience": {"seconds": 5}, "stabilisation": {"seconds": 5}}
watch = attach(query, slo=Slo(event_latency="10 s"), executors=(1, 3), mode=mode, interval="2 s", guards=quick)

query.awaitTermination(seconds)
print(watch.report())
watch.detach()
query.stop()
spark.stop()
