"""The compiler for inner loops, with its types kept.

Compilation takes some seconds, so its result is cached. Numba renews a cached function when its own file changes but
not when a function it calls does, in another file; the cache therefore lies in a folder named after all the sources.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt

from penstock.performance import queueing

P = ParamSpec("P")
R = TypeVar("R")

Ints = npt.NDArray[np.int64]

HERE = Path(__file__).parent


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function that makes no arrays of its own.

    Arrays are then not counted in and out at every call and slice, which took four fifths of the time of a step.
    """
    with _cache_folder():
        jit: Any = numba.njit  # the option is not in its type
        return cast("Callable[P, R]", jit(cache=True, _nrt=False)(function))


@contextmanager
def _cache_folder() -> Iterator[None]:
    config: Any = numba.config  # its settings are made at run time
    before = config.CACHE_DIR
    if not before and os.access(HERE, os.W_OK):  # elsewhere numba finds a folder of the user's itself
        config.CACHE_DIR = str(HERE / "__pycache__" / f"compiled-{_fingerprint()}")
    try:
        yield
    finally:
        config.CACHE_DIR = before


def _fingerprint() -> str:
    sources = [*sorted(HERE.glob("*.py")), Path(queueing.__file__)]
    return sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:12]


@compiled
def total(values: Ints) -> int:
    """The sum of an array; its own method would make one."""
    result = 0
    for value in values:
        result += value
    return result
