"""A driver that chaos happens to, with a policy that wants another plan with every window.

usage: driver.py JOB FOLDER SEED [SERVERS [MASTER]]     Prints a line when it decides and one for each cycle, and runs
until it is ended.
"""

from __future__ import annotations

import json
import random
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from chaos.applications import SETTINGS
from chaos.jobs import Given
from chaos.ways import JOBS
from penstock.model import Cycle, Decision, Observation
from penstock.policies import Policy
from penstock.testbed.jars import connector_jars
from penstock.testbed.session import local_session


@dataclass
class Restless(Policy):
    """Wants another plan with every window, drawn from a seed and the time, and says so before it comes to that."""

    name: ClassVar[str] = "restless"
    seed: int = 0

    def decide(self, observation: Observation) -> Decision:
        dice = random.Random(f"{self.seed}:{observation.t}")
        topology = observation.topology
        wanted = {name: dice.randint(1, topology[name].max) for name in topology.names}
        say("decides")
        return Decision.move(observation.plan, observation.plan.changed(wanted), "it is restless")


def main(job: str, folder: Path, seed: int, servers: str = "", master: str = "") -> None:
    spark = local_session(
        master or ("local[48]" if servers else "local[8]"),
        jars=connector_jars() if servers else (),
        settings=SETTINGS if master else None,
    )
    started = threading.Event()

    def report(cycle: Cycle) -> None:
        started.wait()
        say(
            "cycle", changed=cycle.changed, problem=cycle.problem, code=cycle.decision.reason.code.value,
            believed=running.believed(cycle.decision.plan if cycle.applied else cycle.before),
            in_force=running.in_force(), duplicates=running.duplicates,
        )  # fmt: skip

    running = JOBS[job](Given(spark, folder, servers, Restless(seed), report))
    started.set()
    say("started")
    running.wait()


LOCK = threading.Lock()


def say(what: str, **facts: object) -> None:
    with LOCK:  # those who decide and those who tell are two threads
        print(json.dumps({"what": what, **facts}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
