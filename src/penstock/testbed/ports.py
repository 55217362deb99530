"""Finds free ports of this machine."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from random import SystemRandom

HOST = "127.0.0.1"

# Ports that no system hands out by itself to who asks for any port (Linux begins at 32768, others at 49152). A client
# goes on asking at the port of a broker that is no more; if one of Spark's tasks could be given that port, the task
# would read the client's bytes as its own protocol, and its query would fail.
NOT_HANDED_OUT = range(20_000, 32_000)


def free_ports(count: int) -> list[int]:
    """Different ports on which nothing listens at this moment, and which the system gives to nobody by itself.

    >>> ports = free_ports(3)
    >>> len(set(ports)), all(port in NOT_HANDED_OUT for port in ports)
    (3, True)
    """
    found: list[int] = []
    with ExitStack() as stack:
        for port in SystemRandom().sample(NOT_HANDED_OUT, len(NOT_HANDED_OUT)):
            if len(found) == count:
                break
            each = stack.enter_context(socket.socket())
            try:
                each.bind((HOST, port))
            except OSError:
                continue
            found.append(port)
    return found
