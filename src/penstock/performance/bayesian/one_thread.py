"""Small matrices on one thread: two threads spend longer meeting than multiplying.

With all processors busy elsewhere, a decision of 20 ms once took 20 s for waiting on the other thread.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import scipy.linalg  # noqa: F401  (its BLAS, beside numpy's, must be loaded before the controller looks for both)
from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[Any]:
    """Within it every BLAS call of this process runs on one thread; before and after, on as many as were set.

    >>> import numpy as np
    >>> with one_thread():
    ...     float(np.ones(3) @ np.ones(3))
    3.0
    """
    limit: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limit


@cache
def _controller() -> ThreadpoolController:
    """Made once: to look for the loaded libraries takes milliseconds, to set their threads some 15 microseconds."""
    return ThreadpoolController()
