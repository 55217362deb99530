"""Faults of processes: the driver, executors and workers, and the clock that the driver sees.

Each takes the victim and dice, and leaves when it is over.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import struct
import subprocess
import time
from contextlib import suppress
from pathlib import Path

from chaos.holdings import PROCESSES, group
from chaos.victim import Victim
from patience import wait_for
from penstock.testbed.standalone import StandaloneCluster

CLOCK = Path(__file__).with_name("clock.c")
CYCLES_UNDER_A_CLOCK = 3


def nothing(victim: Victim, dice: random.Random) -> None:
    """The plan changes with every decision, and nothing else happens."""


def kill_driver(victim: Victim, dice: random.Random) -> None:
    """The driver, its JVM and its workers are killed with -9 at any moment, and started again."""
    time.sleep(dice.uniform(0, 2))
    victim.kill()
    victim.start()


def kill_driver_in_a_change(victim: Victim, dice: random.Random) -> None:
    """The same, shortly after it has decided: in the middle of a change, of a repartition, of a decommissioning."""
    victim.decides()
    time.sleep(dice.uniform(0, 1.5))
    victim.kill()
    victim.start()


def kill_driver_in_its_first_batch(victim: Victim, dice: random.Random) -> None:
    """The same, and again before the second life has decided anything."""
    victim.kill()
    victim.start()
    time.sleep(dice.uniform(4, 12))
    victim.kill()
    victim.start()


def freeze_driver(victim: Victim, dice: random.Random) -> None:
    """The driver stops for seconds (SIGSTOP): it is blind, and does not notice."""
    victim.signal(signal.SIGSTOP)
    time.sleep(dice.choice((5.0, 30.0)))
    victim.signal(signal.SIGCONT)


def set_clock(victim: Victim, dice: random.Random) -> None:
    """A driver whose wall clock is set forward, back behind the true time, and right again."""
    victim.kill()
    victim.start(**made_clock(victim.folder))
    victim.cycle()
    off = dice.choice((90, 3_600))
    for seconds in (off, -off, 0):
        set_to(victim.folder, seconds)
        for _ in range(CYCLES_UNDER_A_CLOCK):
            victim.cycle()


def made_clock(folder: Path) -> dict[str, str]:
    """A wall clock for one process, which is right at first; returns what that process needs in its environment."""
    library = folder / "clock.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(CLOCK), "-ldl"], check=True)
    (folder / "clock").touch()
    set_to(folder, 0)
    return {"LD_PRELOAD": str(library), "CHAOS_CLOCK": str(folder / "clock")}


def set_to(folder: Path, seconds: int) -> None:
    """Set it so much forward, in place: its process has the file mapped."""
    with (folder / "clock").open("r+b") as file:
        file.write(struct.pack("=q", seconds))


def has_compiler(folder: Path) -> bool:
    return shutil.which("cc") is not None


def kill_executor(victim: Victim, dice: random.Random) -> None:
    """An executor is killed with -9 at any moment. The cluster replaces it."""
    time.sleep(dice.uniform(0, 2))
    _kill_one(victim, dice)


def kill_executor_in_a_change(victim: Victim, dice: random.Random) -> None:
    """The same, shortly after the driver has decided on another number of them."""
    victim.decides()
    time.sleep(dice.uniform(0, 3))
    _kill_one(victim, dice)


def kill_worker(victim: Victim, dice: random.Random) -> None:
    """A worker and its executors are killed with -9, and it is back after 1 s or 10 s."""
    worker = dice.choice(_cluster(victim).workers)
    worker.kill()
    time.sleep(dice.choice((1.0, 10.0)))
    worker.start()


def slow_executor(victim: Victim, dice: random.Random) -> None:
    """An executor is ten times slower than the others for a while: it is stopped nine tenths of the time."""
    executor = _one(victim, dice)
    with suppress(ProcessLookupError):  # it may be told to leave meanwhile
        for _ in range(dice.randint(10, 20)):
            os.kill(executor, signal.SIGSTOP)
            time.sleep(0.9)
            os.kill(executor, signal.SIGCONT)
            time.sleep(0.1)


def executors(cluster: StandaloneCluster) -> list[int]:
    """The process ids of the executors of a cluster."""
    return [
        each
        for worker in cluster.workers
        for each in group(worker.process_id)
        if b"CoarseGrainedExecutorBackend" in _command(each)
    ]


def _kill_one(victim: Victim, dice: random.Random) -> None:
    with suppress(ProcessLookupError):  # it has left
        os.kill(_one(victim, dice), signal.SIGKILL)


def _one(victim: Victim, dice: random.Random) -> int:
    wait_for(lambda: executors(_cluster(victim)), "an executor")
    return dice.choice(sorted(executors(_cluster(victim))))


def _cluster(victim: Victim) -> StandaloneCluster:
    assert victim.outside.cluster is not None
    return victim.outside.cluster


def _command(process: int) -> bytes:
    with suppress(OSError):
        return (PROCESSES / str(process) / "cmdline").read_bytes()
    return b""
