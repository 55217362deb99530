"""LZF, decompressed. No library on the package index is well kept; the format is a page long.

A byte c below 32 is followed by c + 1 bytes as they are. Any other begins a copy of what was written before: its upper
three bits are the length less two, 7 means that one more byte is added to it; its lower five bits and the next byte say
how far back the copy begins, less one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np


def decompressed(data: bytes, size: int) -> bytes | None:
    """The `size` bytes that the data stands for; None if it stands for something else.

    >>> decompressed(bytes([2]) + b"abc" + bytes([0b11100000, 0, 2]), 12)
    b'abcabcabcabc'
    >>> decompressed(b"abc", 12) is None
    True
    """
    result = np.zeros(size, np.uint8)
    return result.tobytes() if _compiled()(np.frombuffer(data, np.uint8), result) == size else None


@cache
def _compiled() -> Callable[[Any, Any], int]:
    """Compiled when a log needs it: it takes a second, once."""
    import numba

    compile_: Any = numba.njit(cache=True)
    compiled: Callable[[Any, Any], int] = compile_(_decompress)
    return compiled


def _decompress(data: Any, result: Any) -> int:
    """Fills the result; returns how many bytes there are, or -1 if the data is broken."""
    at, done = 0, 0
    while at < len(data):
        control = int(data[at])
        at += 1
        if control < 32:
            length = control + 1
            if at + length > len(data) or done + length > len(result):
                return -1
            for i in range(length):
                result[done + i] = data[at + i]
            at += length
        else:
            length = control >> 5
            if length == 7 and at < len(data):
                length += int(data[at])
                at += 1
            if at >= len(data):
                return -1
            begin = done - ((control & 31) << 8) - int(data[at]) - 1
            at += 1
            length += 2
            if begin < 0 or done + length > len(result):
                return -1
            for i in range(length):
                result[done + i] = result[begin + i]
        done += length
    return done
