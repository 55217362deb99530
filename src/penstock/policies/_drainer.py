"""What the drainers that AuTraScale+ compares with share: the target throughput, and the plan without a backlog."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from penstock.model import Decision, InvalidValueError, MissingFigureError, Observation, Plan
from penstock.model.options import option
from penstock.performance.backlog import backlog_to_drain
from penstock.performance.throughput import throughput_parallelism
from penstock.performance.true_rates import input_rates, true_rates
from penstock.policies import Policy
from penstock.policies._reading import by_name


@dataclass(frozen=True)
class Drainer(Policy):
    """Reaches the target throughput while a backlog must be drained; else it applies equation 3 to the input rate.

    Both follow AuTraScale+: V = lambda + R_target / T_limit by its backlog model (equations 9 to 12), and the
    throughput optimisation that it runs before any drainer.
    """

    drain_limit: float = option(600.0, "time to drain a backlog where the SLO names none", "seconds")

    def __post_init__(self) -> None:
        if not self.drain_limit > 0:
            raise InvalidValueError("drain_limit", f"must be positive, not {self.drain_limit!r}")

    @abstractmethod
    def reach(self, observation: Observation, throughput: float, target: float) -> Plan:
        """A plan that leads from `throughput` towards `target`."""

    def decide(self, observation: Observation) -> Decision:
        backlog = backlog_to_drain(observation, self.drain_limit)
        latest, before = observation.latest, observation.plan
        if backlog is None:
            rates, inputs = true_rates(observation), input_rates(observation)
            base = by_name(throughput_parallelism(observation.topology, rates, inputs), observation.topology)
            figures = {"target_throughput": latest.offered_rate, "throughput_parallelism": base}
            return Decision.move(before, before.changed(base), "nothing to drain: keep up", figures=figures)
        if latest.throughput is None:
            raise MissingFigureError("throughput")
        target = self.reach(observation, latest.throughput, backlog.target_throughput)
        return Decision.move(
            before,
            target,
            f"{backlog.target_backlog:,.0f} records must go within {backlog.limit_seconds:.0f} s",
            figures={"throughput": latest.throughput, **backlog.figures()},
        )
