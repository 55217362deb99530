"""One JSON line for each decision of a live job, on the logger `penstock.decisions`."""

from __future__ import annotations

import json
import logging

from penstock.model import Cycle
from penstock.stores.cycle_json import cycle_json

log = logging.getLogger("penstock.decisions")
log.propagate = False  # lines for programs stay out of the log that people read: whoever wants them adds a handler


class DecisionLog:
    """Writes each cycle that it is called with to the log, with the names of its job.

    >>> import sys
    >>> from penstock.model import Decision, Mode, Plan, ReasonCode
    >>> logger, handler = logging.getLogger("penstock.decisions"), logging.StreamHandler(sys.stdout)
    >>> logger.addHandler(handler)
    >>> logger.setLevel(logging.INFO)
    >>> plan = Plan({"split": 1})
    >>> hold = Decision.hold(plan, ReasonCode.STEADY, "split is at 60 %", policy="ds2")
    >>> DecisionLog("app-1", "clicks")(Cycle(t=60.0, mode=Mode.ACTIVE, before=plan, decision=hold, applied=True))
    ... # doctest: +ELLIPSIS, +NORMALIZE_WHITESPACE
    {"application_id":"app-1","query_name":"clicks","mode":"active","change_seconds":null,"t":60.0,"changed":false,...
    >>> logger.removeHandler(handler)
    >>> logger.setLevel(logging.NOTSET)
    """

    def __init__(self, application_id: str, query_name: str) -> None:
        self._job = {"application_id": application_id, "query_name": query_name}

    def __call__(self, cycle: Cycle) -> None:
        if log.isEnabledFor(logging.INFO):
            more = {"mode": cycle.mode.value, "change_seconds": cycle.change_seconds}
            log.info(json.dumps(self._job | more | cycle_json(cycle), allow_nan=False, separators=(",", ":")))
