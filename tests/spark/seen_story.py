"""A pipeline on two real executors, under a load that rises and falls, with its page and its metrics.

Prints where they are as one line of JSON, and runs until its standard input ends. A process of its own: a second Spark
context cannot live beside the one that the other tests share.

usage: seen_story.py FOLDER
"""

from __future__ import annotations

import json
import sys

from penstock import Slo
from penstock.load.curves import steps
from penstock.spark import Pipeline, files, replay
from penstock.testbed.session import local_session
from spark_jobs import working

SLOTS_EACH, MOST = 2, 2
CALM, SURGE = 4.0, 60.0  # records per second; a slot carries 25
LOAD, BATCH = steps(300 * (CALM, SURGE, CALM), 25.0), 90
SETTINGS = {
    "spark.executor.cores": str(SLOTS_EACH),
    "spark.cores.max": str(MOST * SLOTS_EACH),
    "spark.executor.memory": "640m",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.decommission.enabled": "true",
    "spark.storage.decommission.replicationReattemptInterval": "3s",
}


def main(folder: str) -> None:
    spark = local_session(f"local-cluster[{MOST},{SLOTS_EACH},640]", name="seen", settings=SETTINGS)
    job = Pipeline("clicks", source=replay(LOAD, max_records_per_batch=BATCH))
    job.operator("work", lambda frame: working(40)(frame).select("value", "stamp"), max=MOST * SLOTS_EACH)
    job.sink(files(f"{folder}/out", "json"), after="work")
    try:
        with job.start(
            spark, slo=Slo(event_latency="5 s"), checkpoint=f"{folder}/checkpoint", executors=(1, MOST),
            store=f"sqlite:///{folder}/penstock.db", metrics_port=0, dashboard=True, batch="500 ms", interval="500 ms",
            policy="ds2", policy_options={"utilisation": 0.8}, forecaster="holt",
            guards={"patience": {"seconds": 3.0}, "stabilisation": {"seconds": 2.0}, "max_step": None},
        ) as running:  # fmt: skip
            port, page = running.observers.metrics_port, running.observers.dashboard_url
            print(
                json.dumps({"application": spark.sparkContext.applicationId, "metrics": port, "page": page}), flush=True
            )
            sys.stdin.read()
    finally:
        spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
