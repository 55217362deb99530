"""A driver that chaos happens to, with a policy that wants another plan with every window.

usage: driver.py JOB FOLDER SEED [SERVERS]     Prints a line for each cycle, and runs until it is ended.
"""

from __future__ import annotations

import json
import os
import random
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from chaos.jobs import JOBS, Given
from penstock.model import Cycle, Decision, Observation
from penstock.policies import Policy
from penstock.testbed.jars import connector_jars
from penstock.testbed.session import local_session


@dataclass
class Restless(Policy):
    """Wants another plan with every window, drawn from a seed and the time."""

    name: ClassVar[str] = "restless"
    seed: int = 0

    def decide(self, observation: Observation) -> Decision:
        dice = random.Random(f"{self.seed}:{observation.t}")
        topology = observation.topology
        wanted = {name: dice.randint(1, topology[name].max) for name in topology.names}
        return Decision.move(observation.plan, observation.plan.changed(wanted), "it is restless")


def main(job: str, folder: Path, seed: int, servers: str = "") -> None:
    spark = local_session("local[48]" if servers else "local[8]", jars=connector_jars() if servers else ())
    started = threading.Event()

    def report(cycle: Cycle) -> None:
        started.wait()
        say(
            "cycle", changed=cycle.changed, problem=cycle.problem, code=cycle.decision.reason.code.value,
            believed=dict((cycle.decision.plan if cycle.applied else cycle.before).parallelism),
            in_force=dict(running.plan.parallelism), duplicates=running.engine.duplicates,
            threads=threading.active_count(), handles=len(os.listdir("/proc/self/fd")),
        )  # fmt: skip

    running = JOBS[job](Given(spark, folder, servers, Restless(seed), report))
    started.set()
    say("started")
    running.wait()


def say(what: str, **facts: object) -> None:
    print(json.dumps({"what": what, **facts}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
