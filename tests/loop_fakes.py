"""What tests of the loop share: a job and its loop, small enough to see through."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from penstock.control.loop import Loop, Settings
from penstock.model import (
    Cycle,
    Decision,
    Observation,
    Operator,
    OperatorSample,
    Plan,
    ReasonCode,
    Sample,
    Slo,
    Topology,
)
from penstock.policies import Policy, State
from penstock.stores.memory import MemoryStore

TOPOLOGY = Topology((Operator("split"),))
SMALL, LARGE = Plan({"split": 1}), Plan({"split": 2})


def sample(t: float, rate: float = 100, warm_up: bool = False) -> Sample:
    figures = OperatorSample(1, records_in=1000, records_out=1000, useful_seconds=5)
    return Sample(t=t, seconds=10, operators={"split": figures}, input_rate=rate, warm_up=warm_up)


# A job and its loop, small enough to see through -----------------------------------------------------------


@dataclass
class Ticks:
    """A clock that goes on by ten seconds each time it is asked."""

    t: float = 0.0

    def now(self) -> float:
        self.t += 10
        return self.t


@dataclass
class Script:
    """A monitor that reads what was written for it, one entry for each cycle; an error in it is raised."""

    readings: list[Any]

    def read(self) -> Sequence[Sample]:
        reading = self.readings.pop(0) if self.readings else []
        if isinstance(reading, Exception):
            raise reading
        return reading


@dataclass
class Job:
    """An actuator that holds a plan, and can be broken."""

    in_force: Plan = SMALL
    blind: bool = False
    stuck: bool = False

    def plan(self) -> Plan:
        if self.blind:
            raise ConnectionError("no route to the driver")
        return self.in_force

    def apply(self, plan: Plan) -> None:
        if self.stuck:
            raise ConnectionError("no route to the driver")
        self.in_force = plan


@dataclass
class Wants(Policy):
    """Wants one plan, whatever it sees; an error is raised. Writes down what it saw."""

    name: ClassVar[str] = "wants"
    answer: Any = LARGE
    seen: list[Observation] = field(default_factory=list)

    def decide(self, observation: Observation) -> Decision:
        self.seen.append(observation)
        if isinstance(self.answer, Exception):
            raise self.answer
        if isinstance(self.answer, Plan):
            return Decision.move(observation.plan, self.answer, "it wants to")
        return self.answer  # type: ignore[no-any-return]


@dataclass
class Counts(Policy):
    """A learner that counts the samples it was shown."""

    name: ClassVar[str] = "counts"
    times: list[float] = field(default_factory=list)
    poison: float | None = None
    mute: bool = False

    def learn(self, observation: Observation) -> None:
        if observation.latest.t == self.poison:
            raise ZeroDivisionError("bad sample")
        self.times.append(observation.latest.t)

    def decide(self, observation: Observation) -> Decision:
        return Decision.hold(observation.plan, ReasonCode.STEADY, f"learnt {len(self.times)}")

    def state(self) -> State:
        if self.mute:
            raise ZeroDivisionError("lost count")
        return {"times": self.times}

    def restore(self, state: State) -> None:
        self.times = list(state["times"])


@dataclass
class Hangs(Policy):
    """A learner that does not answer until it is released."""

    name: ClassVar[str] = "hangs"
    release: threading.Event = field(default_factory=threading.Event)
    learnt: list[float] = field(default_factory=list)

    def learn(self, observation: Observation) -> None:
        self.learnt.append(observation.latest.t)

    def decide(self, observation: Observation) -> Decision:
        self.release.wait()
        return Decision.move(observation.plan, LARGE, "at last")

    def state(self) -> State:
        return {"learnt": self.learnt}

    def restore(self, state: State) -> None: ...


@dataclass
class Doubles:
    """A forecaster that expects twice what it saw last."""

    name: ClassVar[str] = "doubles"
    source: ClassVar[str] = ""
    broken: bool = False
    rates: list[float] = field(default_factory=list)

    def learn(self, t: float, rate: float) -> None:
        if self.broken:
            raise ZeroDivisionError("no slope")
        self.rates.append(rate)

    def predict(self, seconds_ahead: float) -> float | None:
        return 2 * self.rates[-1] if self.rates else None

    @property
    def mean_absolute_error(self) -> float | None:
        return None

    def state(self) -> State:
        return {"rates": self.rates}

    def restore(self, state: State) -> None:
        self.rates = list(state["rates"])


class BrokenStore(MemoryStore):
    """Fails for as long as it is broken."""

    broken = True

    def record(self, cycle: Cycle, policy: str, state: State | None = None) -> None:
        self._fail()
        super().record(cycle, policy, state)

    def recent(self, count: int) -> Sequence[Cycle]:
        self._fail()
        return super().recent(count)

    def _fail(self) -> None:
        if self.broken:
            raise OSError("disk is full")


def a_loop(readings: Sequence[Any] = ([sample(0)], [sample(10)], [sample(20)]), **parts: Any) -> Loop:
    defaults: dict[str, Any] = {
        "topology": TOPOLOGY,
        "slo": Slo(),
        "policy": Wants(),
        "monitor": Script(list(readings)),
        "actuator": Job(),
        "store": MemoryStore(),
        "clock": Ticks(),
        "settings": Settings(interval_seconds=10, policy_limit_seconds=None),
    }
    return Loop(**(defaults | parts))


def code(cycle: Cycle) -> ReasonCode:
    return cycle.decision.reason.code
