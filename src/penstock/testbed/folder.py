"""A temporary folder that goes away even if this process is killed, once the processes that write to it have ended."""

from __future__ import annotations

import os
import subprocess
import tempfile
from fcntl import F_DUPFD_CLOEXEC, fcntl
from pathlib import Path
from types import TracebackType
from typing import Self

# Nobody ever writes to the pipe: it ends when the last process that has it open has ended. Whoever was killed may leave
# a child that still writes for a moment, so the folder is removed until it is gone.
SWEEPER = 'cat >/dev/null; for _ in 1 2 3 4 5 6 7 8 9 10; do rm -rf "$1"; [ -e "$1" ] || exit; sleep 0.5; done'

FIRST_DESCRIPTOR = 20
"""Shells number their own files below this."""


class ProcessFolder:
    """A folder for processes that this one starts: give each of them `held` in its `pass_fds`.

    >>> with ProcessFolder("penstock-") as folder:
    ...     there = folder.path.is_dir()
    >>> there, folder.path.exists()
    (True, False)
    """

    def __init__(self, prefix: str) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=prefix))
        end, held = os.pipe()
        self._held = fcntl(held, F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR)
        os.close(held)
        self._sweeper = subprocess.Popen(
            ["sh", "-c", SWEEPER, "sh", str(self.path)],
            stdin=end, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,  # a signal to this process and its group does not end it
        )  # fmt: skip
        os.close(end)

    @property
    def held(self) -> tuple[int, ...]:
        """The file descriptor whose holders keep the folder."""
        return (self._held,)

    def close(self) -> None:
        """Remove the folder; wait until the processes that hold it have ended."""
        if self._sweeper.returncode is None:
            os.close(self._held)
            self._sweeper.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
