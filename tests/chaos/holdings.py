"""What a driver holds, seen from outside it: threads, open files, topics, temporary files."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chaos.victim import Victim

PROCESSES = Path("/proc")
MOST_HELD = 1.5
"""Times what it held before the first fault: pools of threads and connections breathe, and a leak goes on growing."""


@dataclass(frozen=True)
class Holdings:
    """Of one moment.

    threads, handles          of the driver's Python process
    jvm_threads, jvm_handles  of its JVM
    topics                    of its broker; None without one
    temporary                 files and folders that it has in its folder for temporary ones
    """

    threads: int
    handles: int
    jvm_threads: int
    jvm_handles: int
    topics: int | None
    temporary: int

    def are_as(self, before: Holdings) -> bool:
        """Whether nothing has piled up since then: no topic more, and of the rest `MOST_HELD` times as much at most."""
        held, then = asdict(self), asdict(before)
        topics, topics_then = held.pop("topics"), then.pop("topics")
        return topics == topics_then and all(figure <= MOST_HELD * then[name] for name, figure in held.items())


def holdings(victim: Victim) -> Holdings:
    python = victim.process_id
    jvms = [pid for pid in group(python) if pid != python and _name(pid) == "java"]
    broker = victim.outside.broker
    return Holdings(
        threads=_threads(python),
        handles=_handles(python),
        jvm_threads=sum(map(_threads, jvms)),
        jvm_handles=sum(map(_handles, jvms)),
        topics=None if broker is None else len(broker.admin.list_topics(timeout=30).topics),
        temporary=len(os.listdir(victim.temporary)),
    )


def group(leader: int) -> list[int]:
    """The processes of a process group."""
    found = []
    for each in PROCESSES.iterdir():
        if each.name.isdigit():
            with suppress(ProcessLookupError, PermissionError):
                if os.getpgid(int(each.name)) == leader:
                    found.append(int(each.name))
    return found


def _name(process: int) -> str:
    with suppress(OSError):  # it has ended
        return (PROCESSES / str(process) / "comm").read_text(encoding="utf-8").strip()
    return ""


def _threads(process: int) -> int:
    return len(os.listdir(PROCESSES / str(process) / "task"))


def _handles(process: int) -> int:
    return len(os.listdir(PROCESSES / str(process) / "fd"))
