"""The hash by which Spark divides records with a key that is a whole number: Murmur3 of its two halves."""

from __future__ import annotations

SEED = 42
_WORD = 0xFFFFFFFF


def murmur3(number: int) -> int:
    """As Spark's `hash` of a `bigint`.

    >>> murmur3(1)
    -1712319331
    """
    mixed = SEED
    for half in (number & _WORD, (number >> 32) & _WORD):
        word = _rotated(half * 0xCC9E2D51 & _WORD, 15) * 0x1B873593 & _WORD
        mixed = (_rotated(mixed ^ word, 13) * 5 + 0xE6546B64) & _WORD
    mixed ^= 8  # bytes
    mixed = (mixed ^ mixed >> 16) * 0x85EBCA6B & _WORD
    mixed = (mixed ^ mixed >> 13) * 0xC2B2AE35 & _WORD
    mixed ^= mixed >> 16
    return mixed - (1 << 32) if mixed >> 31 else mixed


def _rotated(word: int, bits: int) -> int:
    return (word << bits | word >> (32 - bits)) & _WORD
