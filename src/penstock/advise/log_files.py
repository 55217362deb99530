"""Finds event logs: single files, and folders in which Spark rolls a log over several files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from penstock.model import PenstockError

ROLLED, STATUS, RUNNING, COMPACT = "eventlog_v2_", "appstatus_", ".inprogress", ".compact"
PART = re.compile(r"events_(\d+)_")


class BrokenLogError(PenstockError):
    """A log that cannot be read, with the file and, where one is to blame, the line."""

    def __init__(self, file: Path, line: int | None, why: str) -> None:
        super().__init__(f"{file}{'' if line is None else f', line {line}'}: {why}")
        self.file, self.line, self.why = file, line, why

    def __reduce__(self) -> tuple[type[BrokenLogError], tuple[Path, int | None, str]]:
        return BrokenLogError, (self.file, self.line, self.why)


@dataclass(frozen=True, slots=True)
class EventLog:
    """The log of one application: a file, or a folder with its parts in order."""

    path: Path

    @property
    def parts(self) -> tuple[Path, ...]:
        """The files to read, oldest first. The history server compacts old parts into one: those are not read again."""
        if not self.path.is_dir():
            return (self.path,)
        found = sorted((int(match[1]), path.name.endswith(COMPACT), path) for path, match in self._numbered())
        if not found:
            raise BrokenLogError(self.path, None, "the folder of a rolled event log must have files named events_...")
        begin = max((number for number, compact, _ in found if compact), default=-1)
        return tuple(path for number, compact, path in found if number > begin or (compact and number == begin))

    @property
    def size(self) -> int:
        """Bytes on the disk."""
        return sum(part.stat().st_size for part in self.parts)

    @property
    def running(self) -> bool:
        """Whether the application still runs, or was killed before it could say that it ended."""
        if not self.path.is_dir():
            return self.path.name.endswith(RUNNING)
        return any(path.name.endswith(RUNNING) for path in self.path.glob(f"{STATUS}*"))

    def _numbered(self) -> Iterator[tuple[Path, re.Match[str]]]:
        for path in self.path.iterdir():
            if (match := PART.match(path.name)) is not None:
                yield path, match


def find_logs(paths: Iterable[Path]) -> list[EventLog]:
    """The logs that these paths stand for: a folder stands for all logs in it, in the order of their names."""
    found: dict[Path, EventLog] = {}
    for path in paths:
        if not path.exists():
            raise PenstockError(f"there is no event log {path}")
        inside = sorted(path.iterdir()) if path.is_dir() and not _rolled(path) else [path]
        logs = [each for each in inside if each == path or (_rolled(each) if each.is_dir() else _visible(each))]
        if not logs:
            raise PenstockError(f"the folder {path} has no event logs in it")
        found.update({log.resolve(): EventLog(log) for log in logs})
    return list(found.values())


def _rolled(folder: Path) -> bool:
    return folder.name.startswith(ROLLED) or any(PART.match(path.name) for path in folder.iterdir())


def _visible(file: Path) -> bool:
    """Hadoop keeps checksums in hidden files beside others."""
    return not file.name.startswith((".", "_"))
