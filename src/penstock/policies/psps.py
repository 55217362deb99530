"""PSPS: enough active replicas to process, within the next interval, what will arrive and what already waits.

Glossary (PSPS, equations 1 to 4):

    td        length of an interval
    et_i      time operator i takes for one event
    lambda_G  events that enter the job in an interval
    theta_i   events that reach operator i for each one that enters the job
    q_i       events that wait in front of operator i at the interval's end
    r_i       replicas of operator i to be active in the next interval
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from penstock.forecast import FORECASTERS
from penstock.model import Decision, Forecast, InvalidValueError, Observation, Topology
from penstock.model.errors import unknown
from penstock.model.options import option
from penstock.performance.true_rates import input_rates, instances
from penstock.performance.visits import edge_shares, visits
from penstock.performance.waiting import execution_seconds, waiting_records
from penstock.performance.windows import windows
from penstock.policies import Policy

ROUNDING = 1e-12
"""Relative rounding error: 58.00000000000001 events are 58."""


@dataclass(frozen=True)
class Psps(Policy):
    """Activates the replicas that clear the predicted events and the queue of each operator in one interval.

    The paper allocates a pool of replicas at the start and only activates or deactivates them, so a change
    costs nothing and the queues survive it: every change is live, and an operator's max is the size of its pool.
    The samples of the last td seconds are the paper's interval t: lambda_G(t) is what came in all of them. It stands
    for that of the next interval; predicting it is future work there and an option here.
    """

    name: ClassVar[str] = "psps"
    source: ClassVar[str] = "PSPS (SBAC-PAD 2022): equations 1 to 4, Algorithm 2"
    actuation: ClassVar[str | None] = "live"

    window_seconds: float = option(30.0, "td: the interval in which queue and arrivals are to be processed", "s")
    execution_ms: Mapping[str, float] | None = option(
        None, "et of each operator by a benchmark; an operator that is not named is measured as it runs", "ms"
    )
    forecaster: str | None = option(
        None, "who predicts lambda_G from the window's samples; none: the loop's forecast, else the last interval's"
    )

    def __post_init__(self) -> None:
        if not 0 < self.window_seconds < math.inf:
            raise InvalidValueError("window_seconds", f"must be positive, not {self.window_seconds!r}")
        for name, milliseconds in (self.execution_ms or {}).items():
            if not isinstance(milliseconds, int | float) or not 0 < milliseconds < math.inf:
                raise InvalidValueError(f"execution_ms of {name}", f"must be positive, not {milliseconds!r}")
        if self.forecaster is not None:
            FORECASTERS.load(self.forecaster)

    def decide(self, observation: Observation) -> Decision:
        topology, td = observation.topology, self.window_seconds
        forecast = self._with_forecast(observation)
        observation = replace(forecast, samples=windows(observation.samples, td))  # one sample is one interval
        et = self._execution_seconds(observation)
        theta = visits(topology, edge_shares(topology, observation.samples))
        lambda_g = {root: rate * td for root, rate in input_rates(observation).items()}
        received = {  # (2a)
            name: whole_events(sum(lambda_g[root] * share for root, share in theta[name].items()))
            for name in topology.names
        }
        queue = waiting_records(observation)  # (3)
        to_process = {name: received[name] + queue[name] for name in topology.names}  # (4)
        replicas = {name: instances(to_process[name] / td, 1 / et[name]) for name in topology.names}  # (1)
        target = observation.plan.changed({name: topology.clamp(name, r) for name, r in replicas.items()})
        busiest = max(topology.names, key=lambda n: to_process[n] * et[n] / observation.plan[n])
        return Decision.move(
            observation.plan,
            target,
            f"{busiest} has {to_process[busiest]:,.0f} events to process in {td:g} s, "
            f"each takes {1e3 * et[busiest]:.3g} ms: {replicas[busiest]} replicas",
            figures={
                "td": td,
                "et": {name: 1e3 * seconds for name, seconds in et.items()},
                "lambda_G": lambda_g,
                **_thetas(topology, theta),
                "received": received,
                "queue": queue,
                "to_process": to_process,
                "replicas": replicas,
            },
        )

    def _execution_seconds(self, observation: Observation) -> dict[str, float]:
        given, names = self.execution_ms or {}, observation.topology.names
        for name in given:
            if name not in names:
                raise InvalidValueError("execution_ms", unknown(name, names))
        return {
            name: given[name] / 1e3 if name in given else execution_seconds(name, observation.samples) for name in names
        }

    def _with_forecast(self, observation: Observation) -> Observation:
        """The observation with this policy's own forecast, if it has a forecaster."""
        if self.forecaster is None:
            return observation
        forecaster = FORECASTERS.create(self.forecaster)
        for sample in observation.samples:
            if sample.job_input_rate is not None:
                forecaster.learn(sample.end, sample.job_input_rate)
        rate = forecaster.predict(self.window_seconds)
        forecast = None if rate is None else Forecast(self.forecaster, rate)
        return replace(observation, forecast=forecast)


def whole_events(events: float) -> int:
    """The number of whole events: a predicted fraction counts as one more.

    >>> whole_events(83.3), whole_events(62.5), whole_events(100 * (0.7 * 0.4 + 0.3))
    (84, 63, 58)
    """
    return math.ceil(events * (1 - ROUNDING))


def _thetas(topology: Topology, theta: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """Theta as in the paper, with 1 at every root; and where there are several roots, the part of each."""
    figures: dict[str, Any] = {"theta": {name: sum(theta[name].values()) for name in topology.names}}
    if len(topology.roots) > 1:
        figures["theta_by_root"] = {name: dict(theta[name]) for name in topology.names}
    return figures
