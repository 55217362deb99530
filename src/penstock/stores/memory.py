"""Keeps a limited number of cycles in memory: for simulations, and for users who do not want a file."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Sequence
from itertools import islice

from penstock.control.ports import Store
from penstock.model import Cycle, JobDescription
from penstock.model.errors import check_whole
from penstock.policies import State
from penstock.stores.codec import to_json


class MemoryStore(Store):
    """The last `maximum` cycles of one job."""

    def __init__(self, maximum: int = 1000) -> None:
        check_whole("maximum", maximum, 1)
        self._cycles: deque[Cycle] = deque(maxlen=maximum)
        self._states: dict[str, str] = {}
        self._description: JobDescription | None = None

    def record(self, cycle: Cycle, policy: str, state: State | None = None) -> None:
        if state is not None:
            # Stored as text, as the learner goes on changing what it returned.
            self._states[policy] = to_json(state)
        self._cycles.append(cycle)

    def describe(self, description: JobDescription) -> None:
        self._description = description

    def description(self) -> JobDescription | None:
        return self._description

    def recent(self, count: int) -> Sequence[Cycle]:
        return list(islice(self._cycles, max(0, len(self._cycles) - count), None))

    def state(self, policy: str) -> State | None:
        text = self._states.get(policy)
        state: State | None = None if text is None else json.loads(text)
        return state

    def close(self) -> None:
        """Do nothing; the cycles stay readable."""
