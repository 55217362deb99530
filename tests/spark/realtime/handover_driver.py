"""A driver of its own for tests that kill it while a segment is handed over.

usage: handover_driver.py CHECKPOINT SERVERS SOURCE SINK [MOMENT]

It runs a job and, with a MOMENT, begins a change. At that moment of it, it says so and waits to be killed:
  written  the new generation is written down, and nobody else knows of it
  told     the old query knows its cut, and the new one is not started
  cut      both queries run, and the new one has finished records beyond the cut
  over     the old query has written all that is its own and is stopped, and the log has both
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from typing import Any

from numbered_load import NumberedLoad
from patience import wait_for
from penstock.model import Plan
from penstock.spark.io.kafka_topic import kafka
from penstock.spark.pipeline import Pipeline
from penstock.spark.realtime import cut, handover
from penstock.spark.realtime.generations import GenerationLog
from penstock.spark.realtime.running_segment import RunningSegment
from penstock.testbed.jars import connector_jars
from penstock.testbed.session import local_session
from realtime_jobs import as_text, running, takes


def main(checkpoint: str, servers: str, source: str, sink: str, moment: str | None = None) -> None:
    spark = local_session("local[16]", jars=connector_jars())
    job = Pipeline("killed", source=kafka(source, servers=servers))
    job.operator("work", lambda frame: takes(1)(as_text(frame)))
    job.sink(kafka(sink, servers=servers), after="work")
    with running(spark, job, checkpoint, change="handover", work=2) as engine:
        say("runs", generation=engine._segments[0].queries[-1].generation.number)
        if moment is not None:
            wait_at(moment)
            load = NumberedLoad(servers, source, rate=300, partitions=2)
            wait_for(lambda: any(sample.throughput and not sample.warm_up for sample in engine.read()))
            # A window may end within the first batch: a query that has committed nothing begins anew as it is.
            wait_for(lambda: engine._segments[0].queries[0].committed() is not None)
            threading.Timer(0.0, lambda: engine.apply(Plan({"work": 3}))).start()
            wait_for(reached.is_set)
            load.stop()
            say("at the moment", sent=load.sent)
        threading.Event().wait()


reached = threading.Event()


def wait_at(moment: str) -> None:
    """The thread that makes the change ends at this moment."""

    def hold(*_: Any) -> bool:
        reached.set()
        return threading.Event().wait()

    put: Callable[[Any, str, Any], None] = setattr
    tell, finish = cut.tell, RunningSegment.finish
    if moment in ("written", "told"):

        def instead(spark: Any, properties: Any, free: Any) -> int:
            if handover.REHEARSAL in properties or moment == "told":
                tell(spark, properties, free)
            return 0 if handover.REHEARSAL in properties else int(hold())

        put(handover, "tell", instead)
    elif moment == "cut":
        put(RunningSegment, "is_handed_over", property(lambda self: self.queries[-1].ended_beyond(self.cut) and hold()))
    elif moment == "over":

        def without_a_word(self: RunningSegment) -> Any:
            put(GenerationLog, "write", hold)
            return finish(self)

        put(RunningSegment, "finish", without_a_word)


def say(what: str, **facts: object) -> None:
    print(json.dumps({"what": what, **facts}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
