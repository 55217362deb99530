"""Decompresses what Spark's codecs write, block by block. A file that ends in the middle of a block ends with the block
before it: the application still runs, or was killed.

How the streams are made, as the libraries inside Spark write them:

    zstd    zstd frames, one after the other: each flush ends one
    lz4     blocks of lz4-java: "LZ4Block", a byte with the method (0x10 stored, 0x20 LZ4) and the level, the sizes of
            the block compressed and not, and a checksum, four bytes each, the lowest first
    snappy  streams of snappy-java: 0x82 "SNAPPY" 0, two versions of four bytes; then blocks of raw Snappy, each after
            its size in four bytes, the highest first
    lzf     chunks of compress-lzf: "ZV", a byte (0 stored, 1 compressed), the size of the data, for a compressed one
            also that of the result, two bytes each, the highest first
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, BinaryIO

from penstock.advise.lzf import decompressed as lzf_decompressed
from penstock.model import PenstockError

Blocks = Iterator[bytes]

READ = 1 << 20
SMALL_READ = 1 << 12
"""With a cut-off frame a read fails as a whole: what it had up to there is lost, so it is to be little."""

LZ4_MAGIC, LZ4_HEADER = b"LZ4Block", struct.Struct("<8sBiii")
LZ4_STORED, LZ4_METHODS = 0x10, (0x10, 0x20)
SNAPPY_MAGIC, SNAPPY_VERSIONS = b"\x82SNAPPY\x00", 8
LZF_MAGIC, LZF_STORED, LZF_COMPRESSED = b"ZV", 0, 1

MOST = 1 << 30
"""No block is larger than this: a size beyond it means that the file is broken, not that memory is to be filled."""


class BrokenStreamError(PenstockError):
    """Compressed data that no codec of this name has written."""


def plain(file: BinaryIO) -> Blocks:
    while block := file.read(READ):
        yield block


def zstd(file: BinaryIO) -> Blocks:
    import pyarrow as pa

    stream = pa.CompressedInputStream(pa.PythonFile(file, "r"), "zstd")
    gathered: list[bytes] = []
    try:
        while piece := stream.read(SMALL_READ):
            gathered.append(piece)
            if len(gathered) * SMALL_READ >= READ:
                yield b"".join(gathered)
                gathered.clear()
    except OSError as error:
        if "truncated" not in str(error).lower():
            raise BrokenStreamError("the data is not what zstd writes") from None
    yield b"".join(gathered)


def lz4(file: BinaryIO) -> Blocks:
    while len(head := file.read(LZ4_HEADER.size)) == LZ4_HEADER.size:
        magic, token, size, result, _ = LZ4_HEADER.unpack(head)
        stored = token & 0xF0 == LZ4_STORED
        if magic != LZ4_MAGIC or token & 0xF0 not in LZ4_METHODS or not (0 <= size <= MOST and 0 <= result <= MOST):
            raise BrokenStreamError("the data is not in the blocks of lz4-java")
        data = file.read(size)
        if len(data) < size:
            return
        if size:  # an empty block ends a stream, and another one may follow
            yield data if stored else _raw("lz4_raw", data, result)


def snappy(file: BinaryIO) -> Blocks:
    while len(head := file.read(4)) == 4:
        if head == SNAPPY_MAGIC[:4]:
            rest = file.read(4 + SNAPPY_VERSIONS)
            if not (SNAPPY_MAGIC[4:].startswith(rest[:4]) or rest.startswith(SNAPPY_MAGIC[4:])):
                raise BrokenStreamError("the data does not begin as snappy-java begins it")
            continue
        size = int.from_bytes(head, "big")
        if size > MOST:
            raise BrokenStreamError("the data is not in the blocks of snappy-java")
        data = file.read(size)
        if len(data) < size:
            return
        yield _raw("snappy", data, _snappy_size(data))


def lzf(file: BinaryIO) -> Blocks:
    while len(head := file.read(5)) == 5:
        magic, kind, size = head[:2], head[2], int.from_bytes(head[3:], "big")
        if magic != LZF_MAGIC or kind not in (LZF_STORED, LZF_COMPRESSED):
            raise BrokenStreamError("the data is not in the chunks of compress-lzf")
        extra = file.read(2) if kind == LZF_COMPRESSED else b"\0\0"
        data = file.read(size)
        if len(data) < size or len(extra) < 2:
            return
        if kind == LZF_STORED:
            yield data
            continue
        result = lzf_decompressed(data, int.from_bytes(extra, "big"))
        if result is None:
            raise BrokenStreamError("the data is not what LZF writes")
        yield result


CODECS: Mapping[str, Callable[[BinaryIO], Blocks]] = {"zstd": zstd, "lz4": lz4, "snappy": snappy, "lzf": lzf}
"""By the names that Spark has for them, with which the names of logs end."""


@cache
def _codec(name: str) -> Any:
    import pyarrow as pa

    return pa.Codec(name)


def _raw(codec: str, data: bytes, size: int) -> bytes:
    try:
        block: bytes = _codec(codec).decompress(data, decompressed_size=size, asbytes=True)
    except OSError:
        raise BrokenStreamError(f"a block is not what {codec.removesuffix('_raw')} writes") from None
    return block


def _snappy_size(data: bytes) -> int:
    """A block of Snappy begins with the size of what it holds: seven bits a byte, the lowest first."""
    size = 0
    for place, byte in enumerate(data[:5]):
        size |= (byte & 0x7F) << 7 * place
        if byte < 0x80 and size <= MOST:
            return size
    raise BrokenStreamError("a block is not what snappy writes")
