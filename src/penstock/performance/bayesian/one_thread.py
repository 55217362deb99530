"""Runs operations on small matrices on one thread: with two, synchronising takes longer than multiplying.

With all processors busy elsewhere, a decision of 20 ms once took 20 s, as it waited for the other thread.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import scipy.linalg  # noqa: F401  (its BLAS, beside numpy's, must be loaded before the controller looks for both)
from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[Any]:
    """A context in which every BLAS call of this process runs on one thread.

    >>> import numpy as np
    >>> with one_thread():
    ...     float(np.ones(3) @ np.ones(3))
    3.0
    """
    limit: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limit


@cache
def _controller() -> ThreadpoolController:
    """The controller, made once: to find the loaded libraries takes milliseconds, to set their threads microseconds."""
    return ThreadpoolController()
