"""`make chaos`: break running jobs again and again, account for every record, and write down what came of it.

usage: PYTHONPATH=tests python -m chaos.run [--seconds 3600] [--seed 1] [--jobs a,b] [--faults a,b] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from chaos.faults import ON_ANY, ON_KAFKA, Fault, faults_of
from chaos.jobs import JOBS
from chaos.outside import Account, Outside, outside
from chaos.victim import Victim

SETTLED_CYCLES = 4
"""The job has recovered when it has decided so often since a fault, changed its plan, and come on (`Outside.done`)."""


@dataclass(frozen=True)
class Outcome:
    """One fault: what it was, how long until the job had recovered, and what the driver held then."""

    fault: str
    recovered_seconds: float
    threads: int
    handles: int


@dataclass(frozen=True)
class Run:
    """All faults of one job.

    changes  of plan, over all lives of the driver
    kills    how often the driver was killed
    counted  records that the engine counted as coming twice
    account  what became of the records
    """

    job: str
    seed: int
    seconds: float
    changes: int
    kills: int
    counted: int
    outcomes: tuple[Outcome, ...]
    account: Account
    twice_is_allowed: bool

    @property
    def holds(self) -> bool:
        """Nothing lost; twice only where that is allowed, and as counted unless what was counted was killed."""
        twice = self.account.twice
        return (
            not self.account.lost and (self.twice_is_allowed or not twice) and (self.kills > 1 or twice <= self.counted)
        )


def chaos(job: str, folder: Path, seed: int, seconds: float, faults: Sequence[Fault] | None = None) -> Run:
    """Faults in an order drawn from the seed, until the time is over; each of them at least once."""
    dice, began, outcomes = random.Random(f"{job}:{seed}"), time.monotonic(), list[Outcome]()
    chosen = faults_of(job) if faults is None else [each for each in faults if each in faults_of(job)]
    with outside(job, folder) as around:
        victim = Victim(job, folder, seed, around)
        try:
            _recovers(victim, around)
            order = dice.sample(chosen, len(chosen))
            while order or time.monotonic() - began < seconds:
                fault = order.pop() if order else dice.choice(chosen)
                at = time.monotonic()
                fault(victim, dice)
                newest = _recovers(victim, around)
                passed = time.monotonic() - at
                outcomes.append(Outcome(fault.__name__, round(passed, 1), newest["threads"], newest["handles"]))
            lasted = round(time.monotonic() - began, 1)
            found = around.account()
        finally:
            victim.kill()
    return Run(
        job, seed, lasted, victim.changes, victim.kills, victim.counted, tuple(outcomes), found, around.twice
    )  # fmt: skip


def _recovers(victim: Victim, around: Outside) -> dict[str, Any]:
    """Until the job decides, changes and comes on again; the plan that is believed in force is the one in force."""
    before, changes, cycles = around.done(), victim.changes, 0
    while True:
        said = victim.cycle()
        cycles += 1
        if said["believed"] != said["in_force"]:
            raise AssertionError(f"{said['believed']} is believed in force, and {said['in_force']} is")
        if cycles >= SETTLED_CYCLES and victim.changes > changes and around.done() >= before + 1:
            return said


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3_600.0, help="of all jobs together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", default=",".join(JOBS))
    parser.add_argument("--faults", default=",".join(fault.__name__ for fault in ON_ANY + ON_KAFKA))
    parser.add_argument("--json", type=Path)
    given = parser.parse_args(arguments)
    chosen = [fault for fault in ON_ANY + ON_KAFKA if fault.__name__ in given.faults.split(",")]
    jobs, runs = given.jobs.split(","), list[Run]()
    for job in jobs:
        with tempfile.TemporaryDirectory(prefix="penstock-chaos-", ignore_cleanup_errors=True) as folder:
            runs.append(chaos(job, Path(folder), given.seed, given.seconds / len(jobs), chosen))
        print(json.dumps(asdict(runs[-1]), indent=1), flush=True)
        if given.json is not None:
            _keep(given.json, runs[-1])
    return 0 if all(run.holds for run in runs) else 1


def _keep(file: Path, run: Run) -> None:
    """Beside the runs of other jobs and seeds."""
    kept = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    kept = [each for each in kept if (each["job"], each["seed"]) != (run.job, run.seed)]
    file.write_text(json.dumps([*kept, asdict(run)], indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
