"""A live controller over 100,000 cycles: processor time, memory, threads, file handles and the store as it goes.

Eleven and a half days of a job that decides every ten seconds, one cycle behind the other. Its load goes up and down
with the hours, and its store keeps two hours of cycles.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from benchmarks.scale import Wave
from penstock.control.controller import Controller
from penstock.stores.sql import SqlStore

CYCLES, LOOKS, OPERATORS = 100_000, 5, 5
KEPT_HOURS = 2


@dataclass(frozen=True)
class Soak:
    """What a live controller holds after so many cycles."""

    cycles: int
    cpu_ms_per_cycle: float
    memory_mb: float
    threads: int
    handles: int
    store_mb: float


def rows() -> Iterator[Soak]:
    return soak(CYCLES, LOOKS)


def soak(cycles: int, looks: int) -> Iterator[Soak]:
    """A controller whose cycles follow each other without a pause, with a store that forgets."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "penstock.db")
        job, enough = Wave(OPERATORS), threading.Semaphore(0)
        store = SqlStore(f"sqlite:///{file}", "soak", retention=timedelta(hours=KEPT_HOURS))
        loop = job.loop("predictive", store)
        counted = 0

        def counts(_cycle: object) -> None:
            nonlocal counted
            counted += 1
            if counted % (cycles // looks) == 0:
                enough.release()

        controller = Controller(loop, counts, run=lambda: job.cycle(loop), name="soak")
        controller.interval_seconds = 0.0
        before = time.process_time()
        controller.start()
        for look in range(1, looks + 1):
            enough.acquire()
            now = time.process_time()
            yield Soak(
                look * (cycles // looks), round(1e3 * (now - before) / (cycles // looks), 3), round(memory_mb(), 1),
                threading.active_count(), len(os.listdir("/proc/self/fd")), round(file.stat().st_size / 1e6, 1),
            )  # fmt: skip
            before = now
        controller.stop()
        store.close()


def memory_mb() -> float:
    """What this process has in memory now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
