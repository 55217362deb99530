"""A driver of its own for tests that kill it: a job under AuTraScale+, its checkpoint, store and output in one folder.

usage: driver.py FOLDER     Prints a line for each thing that happens, and runs until it is ended.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from penstock import Slo
from penstock.guards import only
from penstock.load.curves import constant
from penstock.model import Cycle
from penstock.policies.autrascale_plus import AuTraScalePlus
from penstock.spark import Pipeline, files, replay
from penstock.testbed.session import local_session
from spark_jobs import as_text, working

RECORDS_PER_SECOND, SECONDS = 150.0, 3_600.0


def main(folder: Path) -> None:
    spark = local_session("local[8]")
    policy = AuTraScalePlus()
    job = Pipeline("killed", source=replay(constant(RECORDS_PER_SECOND, SECONDS), max_records_per_batch=500))
    parse = job.operator("parse", as_text, max=4)
    job.operator("work", working(4), after=parse, max=4)
    job.sink(files(str(folder / "out")), after="work")

    def report(cycle: Cycle) -> None:
        code = cycle.decision.reason.code.value
        say("cycle", plan=dict(running.plan.parallelism), code=code, state=policy.state())

    running = job.start(
        spark, slo=Slo(event_latency="3 s"), checkpoint=str(folder / "checkpoint"), policy=policy, guards=only(),
        interval="1 s", batch="500 ms", on_cycle=report,
    )  # fmt: skip
    say("started", plan=dict(running.plan.parallelism), state=policy.state())
    running.wait()


def say(what: str, **facts: object) -> None:
    print(json.dumps({"what": what, **facts}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
