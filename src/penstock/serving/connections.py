"""How many readers there may be: a slow one holds a thread, and many must not hold them all."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

MOST_CONNECTIONS = 64
"""A page in a browser has up to six; Prometheus one."""


class Connections:
    """The open connections of a server, at most so many: one more ends the oldest, so that whoever comes is answered.

    >>> ours, theirs = socket.socketpair()
    >>> open_ones = Connections(most=1)
    >>> open_ones.add(ours)
    >>> open_ones.add(theirs)  # ends `ours`
    >>> len(open_ones), theirs.recv(1)
    (1, b'')
    >>> ours.close(), theirs.close()
    (None, None)
    """

    def __init__(self, most: int = MOST_CONNECTIONS) -> None:
        self._most = most
        self._open: dict[socket.socket, None] = {}  # oldest first
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._open)

    def add(self, connection: socket.socket) -> None:
        with self._lock:
            self._open[connection] = None
            oldest = next(iter(self._open)) if len(self._open) > self._most else None
            if oldest is not None:
                del self._open[oldest]
        if oldest is not None:
            with suppress(OSError):  # it may end at this very moment
                oldest.shutdown(socket.SHUT_RDWR)

    def remove(self, connection: socket.socket) -> None:
        with self._lock:
            self._open.pop(connection, None)
