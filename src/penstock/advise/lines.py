"""The lines of an event log, one after the other, with memory for one line and one block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from penstock.advise.codecs import CODECS, LZ4_MAGIC, LZF_MAGIC, SNAPPY_MAGIC, Blocks, BrokenStreamError, plain
from penstock.advise.log_files import BrokenLogError, EventLog

BEGINNINGS = {b"\x28\xb5\x2f\xfd": "zstd", LZ4_MAGIC: "lz4", SNAPPY_MAGIC: "snappy", LZF_MAGIC: "lzf"}
"""What compressed files begin with. Their names say it too, but somebody may have renamed them."""


class Line(NamedTuple):
    """One line.

    file    the file that it stands in
    number  counted from 1 in each file
    text    without its end
    last    whether it is the last one of the log and has no end: it may be cut off
    bytes   how far the log has been read, as it is on the disk
    """

    file: Path
    number: int
    text: bytes
    last: bool
    bytes: int


def lines(log: EventLog) -> Iterator[Line]:
    """All lines of a log that are not empty."""
    parts, before = log.parts, 0
    for part in parts:
        number = read = 0
        try:
            with part.open("rb") as file:
                rest = b""
                for block in _decoder(file)(file):
                    read = before + file.tell()
                    *whole, rest = (rest + block).split(b"\n")
                    for text in whole:
                        number += 1
                        if text:
                            yield Line(part, number, text, False, read)
                if rest:
                    yield Line(part, number + 1, rest, part == parts[-1], read)
                before = read
        except BrokenStreamError as error:
            raise BrokenLogError(part, number + 1, str(error)) from None
        except OSError as error:
            raise BrokenLogError(part, None, f"the file cannot be read: {error.strerror or error}") from None


def _decoder(file: BinaryIO) -> Callable[[BinaryIO], Blocks]:
    head = file.read(max(map(len, BEGINNINGS)))
    file.seek(0)
    return next((CODECS[codec] for begin, codec in BEGINNINGS.items() if head.startswith(begin)), plain)
