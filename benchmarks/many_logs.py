"""How long advice on a folder of a thousand event logs takes on Spark, and how much memory.

The logs are copies of those in `tests/advise/logs` and `examples/event-log` under other ids, and two broken ones.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow

from penstock.advise.lines import lines
from penstock.advise.log_files import EventLog, find_logs

LOGS = 1000
MASTER = "local[2]"


@dataclass(frozen=True)
class Advice:
    logs: int
    megabytes: float
    queries: int
    advised_on: int
    broken: int
    seconds: float
    most_memory_mb: float


def rows() -> Iterator[Advice]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write(folder)
        began = time.perf_counter()
        command = [sys.executable, "-m", "penstock", "advise", place, "--master", MASTER, "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            memory = Memory(process.pid)
            found = json.loads(process.communicate()[0])
        yield Advice(
            logs=len(find_logs([folder])),
            megabytes=sum(file.stat().st_size for file in folder.iterdir()) / 1e6,
            queries=len(found["queries"]),
            advised_on=sum(bool(query["policies"]) for query in found["queries"]),
            broken=len(found["failures"]),
            seconds=time.perf_counter() - began,
            most_memory_mb=memory.most / 1e3,
        )


def write(folder: Path) -> None:
    """Copies of the logs, each with an id of its own; one with a line that is cut, and one that is no log at all."""
    clone = Path(__file__).parent.parent
    known = find_logs([clone / "tests" / "advise" / "logs", clone / "examples" / "event-log"])
    texts = [b"\n".join(line.text for line in lines(EventLog(log.path))) for log in known]
    for number in range(LOGS):
        text = texts[number % len(texts)]
        (own,) = set(re.findall(rb'"App ID":"([^"]+)"', text))
        with pyarrow.CompressedOutputStream(str(folder / f"app-{number:06}.zstd"), "zstd") as stream:
            stream.write(text.replace(own, f"app-{number:06}".encode()) + b"\n")
    cut = texts[0].split(b"\n")
    middle = len(cut) // 2
    cut[middle] = cut[middle][: len(cut[middle]) // 2]
    (folder / "cut").write_bytes(b"\n".join(cut))
    (folder / "garbage").write_text("garbage\n")


class Memory(threading.Thread):
    """Watches the memory of a process and all below it, shared pages counted once: `most` is in kilobytes."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid, self.most = pid, 0
        self.start()

    def run(self) -> None:
        while Path(f"/proc/{self.pid}").exists():
            self.most = max(self.most, sum(map(kilobytes, below(self.pid))))
            time.sleep(0.5)


def below(pid: int) -> list[int]:
    """A process and its children, and theirs."""
    try:
        listed = " ".join(file.read_text() for file in Path(f"/proc/{pid}/task").glob("*/children"))
    except OSError:  # it has ended meanwhile
        listed = ""
    return [pid, *(each for child in map(int, listed.split()) for each in below(child))]


def kilobytes(pid: int) -> int:
    try:
        return int(re.findall(r"^Pss: +(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.M)[0])
    except (OSError, IndexError):
        return 0
