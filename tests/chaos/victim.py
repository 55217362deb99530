"""The driver as whoever breaks it sees it: a process to kill, stop and start, what it says, and its files."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from chaos.outside import Outside
from patience import HANG_SECONDS

TESTS = Path(__file__).parents[1]
DRIVER = Path(__file__).with_name("driver.py")


class Victim:
    """Runs the driver of a job on a folder, which outlives it.

    changes  changes of plan that it said it made, over all its lives
    counted  records that it said come twice, likewise; what it counted after its last word is lost if it is killed
    kills    how often it was killed
    """

    def __init__(self, job: str, folder: Path, seed: int, outside: Outside) -> None:
        self.job, self.folder, self.seed, self.outside = job, folder, seed, outside
        self.changes = self.counted = self.kills = self._newest = 0
        self.start()

    @property
    def store(self) -> Path:
        return self.folder / "checkpoint" / "penstock.db"

    def start(self) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])}
        with (self.folder / "driver.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, str(DRIVER), self.job, str(self.folder), str(self.seed), *self._servers],
                stdout=subprocess.PIPE, stderr=log, text=True, env=environment, start_new_session=True,
            )  # fmt: skip
        self._said: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, args=(self._process, self._said), daemon=True)
        self._reader.start()

    @staticmethod
    def _read(process: subprocess.Popen[str], said: queue.Queue[dict[str, Any] | None]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            said.put(json.loads(line))
        said.put(None)

    def cycle(self) -> dict[str, Any]:
        """The next cycle; raises if the driver has ended by itself."""
        while True:
            said = self._said.get(timeout=HANG_SECONDS)
            if said is None:
                log = (self.folder / "driver.log").read_text(encoding="utf-8", errors="replace")
                raise AssertionError(f"the driver has ended by itself: {log[-2000:]}")
            if said["what"] == "cycle":
                self.changes += said["changed"]
                self._newest = said["duplicates"] or 0
                return said

    @property
    def _servers(self) -> list[str]:
        return [self.outside.servers] if self.outside.servers else []

    def kill(self) -> None:
        """The driver, its JVM and its Python workers: the machine is gone."""
        self.kills += 1
        self.counted, self._newest = self.counted + self._newest, 0
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._reader.join()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def freeze(self, on: bool) -> None:
        os.killpg(self._process.pid, signal.SIGSTOP if on else signal.SIGCONT)
