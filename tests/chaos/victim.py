"""The driver as whoever breaks it sees it: a process to kill, stop and start, what it says, and its files."""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chaos.outside import Outside
from patience import HANG_SECONDS

TESTS = Path(__file__).parents[1]
DRIVER = Path(__file__).with_name("driver.py")


class DriverEndedError(AssertionError):
    """The driver has ended by itself."""


class Victim:
    """Runs the driver of a job on a folder, which outlives it.

    changes    changes of plan that it said it made, over all its lives
    counted    records that it said come twice, likewise; what it counted after its last word is lost if it is killed
    kills      how often it was killed
    temporary  the folder for temporary files of its present life
    """

    def __init__(self, job: str, folder: Path, seed: int, outside: Outside) -> None:
        self.job, self.folder, self.seed, self.outside = job, folder, seed, outside
        self.changes = self.counted = self.kills = self._newest = self._lives = 0
        self.start()

    @property
    def store(self) -> Path:
        return self.folder / "checkpoint" / "penstock.db"

    @property
    def temporary(self) -> Path:
        return self.folder / f"tmp-{self._lives}"

    @property
    def process_id(self) -> int:
        """Of the driver, and of the process group that its JVM and its Python workers belong to."""
        return self._process.pid

    def start(self, **environment: str) -> None:
        """A new life; `environment` is for it alone."""
        shutil.rmtree(self.temporary, ignore_errors=True)  # nobody else removes what a killed process leaves
        self._lives += 1
        self.temporary.mkdir()
        command = [sys.executable, str(DRIVER), self.job, str(self.folder), str(self.seed), *self.outside.arguments]
        with (self.folder / "driver.log").open("ab") as log:
            self._process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True,
                env=self._environment(environment),
            )  # fmt: skip
        self._said: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, args=(self._process, self._said), daemon=True)
        self._reader.start()

    def _environment(self, further: Mapping[str, str]) -> dict[str, str]:
        temporary = str(self.temporary)
        return {
            **os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path]), "TMPDIR": temporary,
            "SPARK_LOCAL_DIRS": temporary, "JAVA_TOOL_OPTIONS": f"-Djava.io.tmpdir={temporary}", **further,
        }  # fmt: skip

    @staticmethod
    def _read(process: subprocess.Popen[str], said: queue.Queue[dict[str, Any] | None]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            said.put(json.loads(line))
        said.put(None)

    def cycle(self) -> dict[str, Any]:
        """The next cycle; raises if the driver has ended by itself."""
        while True:
            said = self._next()
            if said["what"] == "cycle":
                return said

    def decides(self) -> None:
        """Returns when it has just decided on another plan, which it is about to bring into force."""
        while not self._said.empty():  # what it decided before is over
            self._next()
        while self._next()["what"] != "decides":
            pass

    def ends(self) -> str:
        """Wait until it ends by itself; returns the last line of its log."""
        try:
            while True:
                self._next()
        except DriverEndedError:
            self.kill()  # what is left of it
        lines = (self.folder / "driver.log").read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    def _next(self) -> dict[str, Any]:
        said = self._said.get(timeout=HANG_SECONDS)
        if said is None:
            log = (self.folder / "driver.log").read_text(encoding="utf-8", errors="replace")
            raise DriverEndedError(f"the driver has ended by itself: {log[-2000:]}")
        if said["what"] == "cycle":
            self.changes += said["changed"]
            self._newest = said["duplicates"] or 0
        return said

    def kill(self) -> None:
        """The driver, its JVM and its Python workers: the machine is gone."""
        self.kills += 1
        self.counted, self._newest = self.counted + self._newest, 0
        self.signal(signal.SIGKILL)
        self._process.wait()
        self._reader.join()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def signal(self, number: signal.Signals) -> None:
        """To the driver, its JVM and its Python workers."""
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:  # it has ended by itself
            assert number == signal.SIGKILL
