"""How long a job is behind after a failure: Phoebe's recovery time.

Glossary (Phoebe, RecoveryTimeModelImpl.eval_single):

    checkpoint  seconds since the last one: what came since must be processed again
    downtime    seconds until the job runs again: what comes meanwhile waits
    catch-up    the time to process that at the job's capacity, then to process what came during that time, and so on
                until less than a second is left
    recovery    downtime + catch-up
"""

from __future__ import annotations

import math
from collections.abc import Callable


def recovery_seconds(
    arrived: Callable[[float, float], float], capacity: float, downtime: float, checkpoint: float, horizon: float
) -> float:
    """The recovery time of a failure now (0), where `arrived(begin, end)` records come between two moments.

    What is not worked off within `horizon` is not looked at any further; without a capacity it never ends.

    >>> def steady(begin: float, end: float) -> float:
    ...     return 100 * (end - begin)
    >>> round(recovery_seconds(steady, 400, downtime=110, checkpoint=10, horizon=600), 2)
    150.0
    """
    if capacity <= 0:
        return math.inf
    begin, end, catch_up = -checkpoint, float(math.ceil(downtime)), 0.0
    while begin < horizon:
        seconds = arrived(begin, min(end, horizon)) / capacity
        catch_up += seconds
        if seconds < 1:
            break
        begin, end = end, end + math.ceil(seconds)
    return downtime + catch_up
