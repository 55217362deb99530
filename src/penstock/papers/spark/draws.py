"""Random draws that are functions of a record's number: the same for the same number, in any batch and process."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from penstock.spark.io.replayed import Ids

Floats = npt.NDArray[np.float64]

# The constants of SplitMix64: from them neighbouring numbers become unlike ones.
_STEP, _FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def uniform(ids: Ids, draw: int) -> Floats:
    """A draw from 0 up to 1 for each number; another `draw` of the same numbers is independent of this one.

    >>> numbers = np.arange(10_000)
    >>> bool(abs(uniform(numbers, 0).mean() - 0.5) < 0.01), bool(uniform(numbers, 0)[7] == uniform(numbers[7:], 0)[0])
    (True, True)
    """
    mixed = (ids.astype(np.uint64) + np.uint64(1) + (np.uint64(draw) << np.uint64(48))) * _STEP
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _FIRST
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND
    return (mixed ^ (mixed >> np.uint64(31))).astype(np.float64) / 2.0**64


def below(ids: Ids, draw: int, count: int) -> Ids:
    """Whole numbers below `count`, all equally frequent."""
    return (uniform(ids, draw) * count).astype(np.int64)


def zipf(ids: Ids, draw: int, count: int) -> Ids:
    """Whole numbers below `count` by Zipf's law: number n comes 1/(n + 1) times as often as number 0, as words do.

    >>> drawn = zipf(np.arange(10_000), 0, 100)
    >>> [round(float((drawn == n).mean()), 1) for n in (0, 1, 99)]
    [0.2, 0.1, 0.0]
    """
    return np.searchsorted(_zipf_shares(count), uniform(ids, draw), side="right").astype(np.int64)


@cache
def _zipf_shares(count: int) -> Floats:
    weights = 1.0 / np.arange(1, count + 1)
    shares: Floats = np.cumsum(weights) / weights.sum()
    return shares
