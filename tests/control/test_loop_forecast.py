"""The loop teaches a forecaster what it measures, and shows policies what it predicts."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from penstock.control.loop import Loop, Settings
from penstock.forecast.last import Last
from penstock.model import (
    Cycle,
    Decision,
    Forecast,
    JobDescription,
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


@dataclass
class Watcher(Policy):
    """Holds, and keeps the forecasts it was shown."""

    name: ClassVar[str] = "watcher"
    shown: list[Forecast | None] = field(default_factory=list)

    def decide(self, observation: Observation) -> Decision:
        self.shown.append(observation.forecast)
        return Decision.hold(observation.plan, ReasonCode.STEADY, "watching")


@dataclass
class World:
    """Cluster, store and clock in one: shows the windows it was given, one for each cycle."""

    windows: list[Sample]
    cycle: int = 0

    def read(self) -> Sequence[Sample]:
        self.cycle += 1
        return (self.windows[self.cycle - 1],)

    def plan(self) -> Plan:
        return Plan({"all": 1})

    def apply(self, plan: Plan) -> None: ...

    def now(self) -> float:
        return 60.0 * self.cycle

    def describe(self, description: JobDescription) -> None: ...

    def record(self, cycle: Cycle, policy: str, state: State | None = None) -> None: ...

    def recent(self, count: int) -> Sequence[Cycle]:
        return ()

    def state(self, policy: str) -> State | None:
        return None

    def close(self) -> None: ...


def window(minute: int, rate: float | None, warm_up: bool = False) -> Sample:
    return Sample(t=60.0 * minute, seconds=60, operators={"all": OperatorSample(1)}, input_rate=rate, warm_up=warm_up)


def forecasts(*windows: Sample) -> list[Forecast | None]:
    world, watcher = World(list(windows)), Watcher()
    loop = Loop(
        topology=Topology((Operator("all"),)), slo=Slo(), policy=watcher, monitor=world, actuator=world, store=world,
        clock=world, forecaster=Last(), settings=Settings(policy_limit_seconds=None),
    )  # fmt: skip
    for _ in windows:
        loop.run_once()
    return watcher.shown


def test_a_policy_sees_the_rate_expected_and_how_far_off_it_has_been() -> None:
    shown = forecasts(window(0, 100), window(1, 140), window(2, 120))
    assert shown == [Forecast("last", 100), Forecast("last", 140, 40), Forecast("last", 120, 30)]


def test_a_window_shown_twice_is_learnt_once() -> None:
    shown = forecasts(window(0, 100), window(1, 140), window(1, 140), window(0, 100), window(2, 140))
    assert shown[1:] == [Forecast("last", 140, 40), Forecast("last", 140, 20)]


def test_nothing_is_learnt_from_a_window_without_a_rate_or_on_a_change() -> None:
    assert forecasts(window(0, None), window(1, 50)) == [None, Forecast("last", 50)]
    assert forecasts(window(0, 50), window(1, 900, warm_up=True), window(2, 50))[-1] == Forecast("last", 50, 0)
