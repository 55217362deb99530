"""What the stories on a real standalone cluster share: each runs in a process of its own and prints JSON."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import penstock
from pages import ROOT
from patience import wait_for
from penstock.model import PenstockError

HANG_SECONDS = 900.0


def environment() -> dict[str, str]:
    """The code under test, and what tests share."""
    places = Path(penstock.__file__).parent.parent, ROOT / "tests"
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, places))}


def run(*arguments: str) -> str:
    """In a process of its own: a second Spark context cannot live beside the one that the other tests share."""
    done = subprocess.run(
        [sys.executable, *arguments],
        env=environment(),
        capture_output=True, text=True, check=False, timeout=HANG_SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-5000:]
    return done.stdout


def until(what: str, condition: Callable[[], bool]) -> float:
    """Seconds that it took."""
    took = wait_for(condition, what)
    print(f"{what}: {took:.1f} s", file=sys.stderr, flush=True)
    return took


def refusal(act: Callable[[], object]) -> str:
    """The sentence with which something is refused; empty if nothing was."""
    try:
        act()
    except PenstockError as error:
        return str(error)
    return ""


def kill_executor(executor: str, application: str) -> None:
    """As a machine that is lost does: without a word to anybody."""
    listed = subprocess.run(["ps", "-ewwo", "pid,args"], capture_output=True, text=True, check=True).stdout
    marks = (f"--executor-id {executor} ", f"--app-id {application}")
    found = [line.split(maxsplit=2) for line in listed.splitlines() if all(mark in line for mark in marks)]
    [pid] = [int(pid) for pid, program, _ in found if program.endswith("java")]  # YARN starts it with a shell
    os.kill(pid, signal.SIGKILL)
