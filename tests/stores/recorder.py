"""Records cycles into the store named on the command line until it is killed; says each number once it is kept."""

import sys
from itertools import count

from penstock.model import Cycle, Decision, Mode, Plan, ReasonCode
from penstock.stores import open_store

if __name__ == "__main__":
    store, plan = open_store(sys.argv[1]), Plan({"split": 1})
    for number in count(len(store.recent(10**9)) + 1):
        hold = Decision.hold(plan, ReasonCode.STEADY, "x" * 5000)
        store.record(Cycle(t=number, mode=Mode.ACTIVE, before=plan, decision=hold), "learner", {"seen": number})
        print(number, flush=True)
