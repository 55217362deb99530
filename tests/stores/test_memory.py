import pytest

from penstock.model import Cycle, Decision, InvalidValueError, Mode, Plan, ReasonCode
from penstock.stores.memory import MemoryStore


def test_only_the_newest_cycles_are_kept() -> None:
    store, plan = MemoryStore(maximum=3), Plan({"split": 1})
    for t in range(10):
        hold = Decision.hold(plan, ReasonCode.STEADY, "all is well")
        store.record(Cycle(t=t, mode=Mode.ACTIVE, before=plan, decision=hold), "ds2")
    assert [cycle.t for cycle in store.recent(100)] == [7, 8, 9]


def test_a_store_that_keeps_nothing_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="maximum must be a whole number of at least 1, not 0"):
        MemoryStore(maximum=0)
