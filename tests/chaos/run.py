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
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

from chaos.faults import ALL, MAY_END_THE_JOB, NEEDED, Fault, faults_of
from chaos.holdings import Holdings, holdings
from chaos.outside import Account, Outside, outside
from chaos.store_faults import fill_disk, small_disk
from chaos.victim import DriverEndedError, Victim
from chaos.ways import JOBS

SETTLED_CYCLES = 4
"""The job has recovered when it has decided so often since a fault, changed its plan, and come on (`Outside.done`)."""
CHANGES_BETWEEN = 5
"""In `make chaos` the plan changes so often between two faults; in a slice of it once is enough."""
MOST_STARTS = 5
"""So often a job that ended of a fault is started again."""


@dataclass(frozen=True)
class Outcome:
    """One fault.

    recovered_seconds  how long until the job had recovered, with the fault itself
    restarts           how often it had ended by itself since, and was started again
    holdings           what the driver held then
    """

    fault: str
    recovered_seconds: float
    restarts: int
    holdings: Holdings


@dataclass(frozen=True)
class Run:
    """All faults of one job.

    changes   of plan, over all lives of the driver
    kills     how often the driver was killed
    counted   records that the engine counted as coming twice
    before    what the driver held before the first fault
    account   what became of the records
    left_out  faults that this machine does not allow
    """

    job: str
    seed: int
    seconds: float
    changes: int
    kills: int
    counted: int
    before: Holdings
    outcomes: tuple[Outcome, ...]
    account: Account
    twice_is_allowed: bool
    left_out: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Nothing lost; twice only where that is allowed, and as counted unless what was counted was killed; and
        nothing piled up in the driver."""
        twice = self.account.twice
        return (
            not self.account.lost
            and (self.twice_is_allowed or not twice)
            and (self.kills > 1 or twice <= self.counted)
            and all(outcome.holdings.are_as(self.before) for outcome in self.outcomes)
        )


def chaos(
    job: str, folder: Path, seed: int, seconds: float | None, faults: Sequence[Fault] = ALL, between: int = 1
) -> Run:
    """Faults in an order drawn from the seed, each once before one comes again, until the time is over; without a
    time, each once. The plan changes so often `between` two of them."""
    dice, began, outcomes = random.Random(f"{job}:{seed}"), time.monotonic(), list[Outcome]()
    wanted = [each for each in faults if each in faults_of(job)]
    chosen = [each for each in wanted if each not in NEEDED or NEEDED[each](folder)]
    with ExitStack() as stack:
        if fill_disk in chosen:
            stack.enter_context(small_disk(folder / "checkpoint"))
        around = stack.enter_context(outside(job, folder))
        around.disk = folder / "checkpoint" if fill_disk in chosen else None
        victim = Victim(job, folder, seed, around)
        try:
            _recovers(victim, around, between)
            before = holdings(victim)
            order = dice.sample(chosen, len(chosen))
            while order if seconds is None else time.monotonic() - began < seconds:
                fault = order.pop() if order else dice.choice(chosen)
                at = time.monotonic()
                fault(victim, dice)
                restarts = _recovers(victim, around, 1, MOST_STARTS if fault in MAY_END_THE_JOB else 0)
                passed = round(time.monotonic() - at, 1)
                outcomes.append(Outcome(fault.__name__, passed, restarts, holdings(victim)))
                print(f"{job}: {outcomes[-1]}", file=sys.stderr, flush=True)
                if between > 1:
                    _recovers(victim, around, between - 1)
            lasted = round(time.monotonic() - began, 1)
            found = around.account()
        finally:
            victim.kill()
    return Run(
        job, seed, lasted, victim.changes, victim.kills, victim.counted, before, tuple(outcomes), found, around.twice,
        tuple(each.__name__ for each in wanted if each not in chosen),
    )  # fmt: skip


def _recovers(victim: Victim, around: Outside, changes: int, starts: int = 0) -> int:
    """Until the job decides, changes so often and comes on again; the plan that is believed in force is the one in
    force.

    A job that ends by itself is started again up to so often; returns how often it was.
    """
    before, enough, cycles, ended = around.done(), victim.changes + changes, 0, 0
    while True:
        try:
            said = victim.cycle()
        except DriverEndedError:
            if ended >= starts:
                raise
            ended += 1
            victim.kill()  # what is left of it
            victim.start()
            continue
        cycles += 1
        agree = said["believed"] == said["in_force"]
        if not agree and not around.lags:
            raise AssertionError(f"{said['believed']} is believed in force, and {said['in_force']} is")
        if agree and cycles >= SETTLED_CYCLES and victim.changes >= enough and around.done() >= before + 1:
            return ended


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--seconds",
        type=float,
        default=3_600.0,
        help="of all jobs together; 0: each fault once, however long that takes",
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", default=",".join(JOBS))
    parser.add_argument("--faults", default=",".join(fault.__name__ for fault in ALL))
    parser.add_argument("--json", type=Path)
    given = parser.parse_args(arguments)
    chosen = [fault for fault in ALL if fault.__name__ in given.faults.split(",")]
    jobs, holds = given.jobs.split(","), True
    for job in jobs:
        try:
            with tempfile.TemporaryDirectory(prefix="penstock-chaos-", ignore_cleanup_errors=True) as folder:
                run = chaos(job, Path(folder), given.seed, given.seconds / len(jobs) or None, chosen, CHANGES_BETWEEN)
        except AssertionError as error:  # the other jobs have their turn all the same
            print(f"{job} did not recover: {error}", file=sys.stderr, flush=True)
            holds = False
            continue
        print(json.dumps(asdict(run), indent=1), flush=True)
        holds = holds and run.holds
        if given.json is not None:
            _keep(given.json, run)
    return 0 if holds else 1


def _keep(file: Path, run: Run) -> None:
    """Beside the runs of other jobs and seeds."""
    kept = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    kept = [each for each in kept if (each["job"], each["seed"]) != (run.job, run.seed)]
    file.write_text(json.dumps([*kept, asdict(run)], indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
