"""Each of Spark's codecs is read, whole or cut off anywhere; what no codec wrote is refused."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterable

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advise_logs import LOGS, named
from penstock.advise.codecs import CODECS, BrokenStreamError, lz4, lzf, snappy, zstd
from penstock.advise.lines import BEGINNINGS

blocks = st.lists(st.binary(min_size=1, max_size=3000), min_size=1, max_size=6)


def lz4_stream(parts: Iterable[bytes], stored: bool = False) -> bytes:
    """As lz4-java writes it; its checksum is not read."""
    stream = b""
    for part in parts:
        data = part if stored else pa.Codec("lz4_raw").compress(part, asbytes=True)
        stream += struct.pack("<8sBiii", b"LZ4Block", 0x15 if stored else 0x25, len(data), len(part), 7) + data
    return stream + struct.pack("<8sBiii", b"LZ4Block", 0x15, 0, 0, 0)


def snappy_stream(parts: Iterable[bytes]) -> bytes:
    stream = b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1)
    for part in parts:
        data = pa.Codec("snappy").compress(part, asbytes=True)
        stream += struct.pack(">i", len(data)) + data
    return stream


def lzf_stream(parts: Iterable[bytes]) -> bytes:
    """Stored chunks and chunks of literals; real logs have copies in them."""
    stream = b""
    for number, part in enumerate(parts):
        if number % 2:
            stream += b"ZV\x00" + struct.pack(">H", len(part)) + part
        else:
            data = b"".join(bytes([len(part[i : i + 32]) - 1]) + part[i : i + 32] for i in range(0, len(part), 32))
            stream += b"ZV\x01" + struct.pack(">HH", len(data), len(part)) + data
    return stream


def zstd_stream(parts: Iterable[bytes]) -> bytes:
    return b"".join(pa.compress(part, "zstd", asbytes=True) for part in parts)


STREAMS = {"lz4": lz4_stream, "snappy": snappy_stream, "lzf": lzf_stream, "zstd": zstd_stream}


@pytest.mark.parametrize("codec", STREAMS)
@given(parts=blocks)
def test_what_was_written_is_read(codec: str, parts: list[bytes]) -> None:
    assert b"".join(CODECS[codec](io.BytesIO(STREAMS[codec](parts)))) == b"".join(parts)


@given(parts=blocks)
def test_streams_that_follow_one_another_are_read(parts: list[bytes]) -> None:
    for codec, stream in STREAMS.items():
        assert b"".join(CODECS[codec](io.BytesIO(stream(parts) + stream(parts)))) == 2 * b"".join(parts)


def test_a_block_of_lz4_may_be_stored() -> None:
    assert b"".join(lz4(io.BytesIO(lz4_stream([b"ab", b"cd"], stored=True)))) == b"abcd"


@pytest.mark.parametrize("codec", STREAMS)
@given(parts=blocks, data=st.data())
def test_a_stream_that_is_cut_off_gives_a_beginning(codec: str, parts: list[bytes], data: st.DataObject) -> None:
    stream = STREAMS[codec](parts)
    cut = stream[: data.draw(st.integers(0, len(stream)))]
    assert b"".join(parts).startswith(b"".join(CODECS[codec](io.BytesIO(cut))))


@pytest.mark.parametrize("codec", STREAMS)
def test_what_spark_wrote_is_read_as_far_as_it_goes(codec: str) -> None:
    """The real ones, cut off at many places."""
    (file, *_) = [log for log in LOGS if log.suffix == f".{codec}"]
    stream = file.read_bytes()
    whole = b"".join(CODECS[codec](io.BytesIO(stream)))
    assert stream.startswith(next(begin for begin, name in BEGINNINGS.items() if name == codec))
    assert whole.startswith(b'{"Event":"SparkListenerLogStart"')
    for cut in range(0, len(stream), max(1, len(stream) // 40)):
        assert whole.startswith(b"".join(CODECS[codec](io.BytesIO(stream[:cut]))))


@pytest.mark.parametrize(
    ("decode", "stream"),
    [
        (lz4, b"LZ4Clock" + bytes(13)),
        (lz4, struct.pack("<8sBiii", b"LZ4Block", 0x25, 3, 1 << 30, 0) + b"abc"),
        (snappy, b"\x82SNAPPEL" + bytes(8)),
        (snappy, b"\x82SNAPPY\x00" + struct.pack(">iii", 1, 1, 3) + b"\x05ab"),
        (snappy, b"\x82SNAPPY\x00" + struct.pack(">iii", 1, 1, -5)),
        (lzf, b"ZX\x00\x00\x01a"),
        (lzf, b"ZV\x01" + struct.pack(">HH", 2, 9) + b"\xe0\x00"),
        (zstd, b"\x28\xb5\x2f\xfd" + b"\xff" * 40),
    ],
)
def test_what_no_codec_wrote_is_refused(decode: object, stream: bytes) -> None:
    with pytest.raises(BrokenStreamError):
        list(decode(io.BytesIO(stream)))  # type: ignore[operator]


def test_there_is_a_real_log_of_every_codec() -> None:
    assert {log.suffix for log in LOGS} >= {f".{codec}" for codec in CODECS}
    assert named("4.3.0", "narrow").exists()
