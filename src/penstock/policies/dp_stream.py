"""Dp-Stream: sizes the critical path for the rate that a neural network predicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from penstock.forecast import FORECASTERS, Forecaster
from penstock.model import Decision, Forecast, InvalidValueError, Observation
from penstock.model.errors import check_number, check_required_number
from penstock.model.options import option
from penstock.performance.latency_model import LatencyModel
from penstock.performance.placement import placed
from penstock.performance.true_rates import arriving, input_rates, true_rates
from penstock.policies import Policy

GENETIC = ("population", "iterations", "crossover", "mutation", "temperature", "cooling", "training_seconds")
"""The parameters of Algorithm 1, and how much it trains on."""

EXACT = 1e-9
"""Latencies are quotients: 0.8000000001 of a moment is not more than 0.8."""


@dataclass
class DpStream(Policy):
    """Adds instances to a critical operator while it is slower than omega, removes them while faster than lambda.

    Only operators on the critical path change. Both bounds are times an operator may take for the records that
    arrive in one moment; an operator that takes the whole moment just keeps up. Time on the network counts to the
    operator that follows on the critical path. Where the cluster reports its workers, a new instance goes where it fits
    with the least room left, on an idle worker if need be; one is removed where the most room is.
    """

    name: ClassVar[str] = "dp_stream"
    source: ClassVar[str] = "Dp-Stream (2022): equations 1 to 9, Algorithms 1 and 2"
    actuation: ClassVar[str | None] = "restart"

    forecaster: str = option("neural", "who predicts the rate; any of `penstock forecasters`")
    horizon_seconds: float | None = option(
        None, "how far ahead to predict; nothing: to the end of the next window", "s"
    )
    moment_ms: float = option(1.0, "the time whose records an operator's latency is counted for", "ms")
    omega_ms: float | None = option(None, "latency above which an operator grows; nothing: 0.8 moments", "ms")
    lambda_ms: float | None = option(None, "latency below which it shrinks; nothing: 0.5 moments", "ms")
    bandwidth: float | Mapping[str, Mapping[str, float]] | None = option(
        None, "what the network carries between two workers: one number, or by worker and worker; nothing: no limit",
        "records/s",
    )  # fmt: skip
    weights: Mapping[str, float] | None = option(None, "w_i of operators by name; one that is not named has 1")
    population: int | None = option(
        None, "individuals of the genetic algorithm; nothing: the network's own", "individuals"
    )
    iterations: int | None = option(None, "generations of one training; nothing: the network's own", "generations")
    crossover: float | None = option(
        None, "chance that an individual mixes its genes with another's; nothing: the network's own", "probability"
    )
    mutation: float | None = option(None, "chance that a gene changes; nothing: the network's own", "probability")
    temperature: float | None = option(
        None, "temperature at which annealing starts; nothing: the network's own", "squared error"
    )
    cooling: float | None = option(
        None, "factor on the temperature after each generation; nothing: the network's own", "ratio"
    )
    training_seconds: float | None = option(
        None, "history needed before the network is trained; nothing: the network's own", "s"
    )

    _forecaster: Forecaster = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_required_number("moment_ms", self.moment_ms, 1e-6)
        check_number("horizon_seconds", self.horizon_seconds)
        check_number("omega_ms", self.omega_ms, 1e-9)
        check_number("lambda_ms", self.lambda_ms)
        self._check_bandwidth()
        for name, weight in (self.weights or {}).items():
            check_required_number(f"weights of {name}", weight)
        if self._lambda > self._omega:
            raise InvalidValueError("lambda_ms", f"must not exceed omega_ms, but {self._lambda:g} > {self._omega:g}")
        self._forecaster = FORECASTERS.create(self.forecaster, self._genetic_options())

    def _check_bandwidth(self) -> None:
        if not isinstance(self.bandwidth, Mapping):
            check_number("bandwidth", self.bandwidth, 1e-9)
            return
        for one, others in self.bandwidth.items():
            for other, carried in others.items():
                check_required_number(f"bandwidth from {one} to {other}", carried, 1e-9)

    def _genetic_options(self) -> dict[str, Any] | None:
        """The parameters of Algorithm 1 that were given; only the network has them."""
        given = {name: getattr(self, name) for name in GENETIC if getattr(self, name) is not None}
        if given and self.forecaster != "neural":
            raise InvalidValueError(next(iter(given)), f"must be left out for the forecaster {self.forecaster}")
        return given or None

    @property
    def _omega(self) -> float:
        return 0.8 * self.moment_ms if self.omega_ms is None else self.omega_ms

    @property
    def _lambda(self) -> float:
        return 0.5 * self.moment_ms if self.lambda_ms is None else self.lambda_ms

    def learn(self, observation: Observation) -> None:
        if observation.latest.input_rate is not None:
            self._forecaster.learn(observation.latest.end, observation.latest.offered_rate)

    def state(self) -> Mapping[str, Any]:
        return {"forecaster": self.forecaster, "knows": self._forecaster.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        if state["forecaster"] == self.forecaster:  # the state of another forecaster does not fit this one
            self._forecaster.restore(state["knows"])

    def decide(self, observation: Observation) -> Decision:
        plan, topology = observation.plan, observation.topology
        forecast = self._with_forecast(observation)
        rates = true_rates(forecast)
        model = LatencyModel(
            topology,
            arriving=arriving(topology, rates, input_rates(forecast)),
            processing_rate={name: rates[name].processing for name in topology.names},
            moment=self.moment_ms / 1e3,
            bandwidth=self.bandwidth,
            placement=plan.placement,
            weights=self.weights or {},
        )
        critical = model.critical_operators(plan.parallelism)
        following = dict(zip(critical, (*critical[1:], None), strict=True))
        sized = {name: self._instances(name, model, plan[name], following[name]) for name in critical}
        target = plan.changed({name: topology.clamp(name, sized.get(name, plan[name])) for name in topology.names})
        latencies = {
            name: 1e3 * model.operator_latency(name, plan[name], following.get(name)) for name in topology.names
        }
        slowest = max(critical, key=lambda name: latencies[name])
        return Decision.move(
            plan,
            placed(observation, target, used_first=False),
            f"{slowest} is the slowest on the critical path: {latencies[slowest]:.3g} ms "
            f"for what arrives in {self.moment_ms:g} ms",
            figures={
                "forecaster": self.forecaster,
                "predicted_rate": None if forecast.forecast is None else forecast.forecast.input_rate,
                "r": dict(model.arriving),
                "p": dict(model.processing_rate),
                "Tp_ms": {name: 1e3 * model.processing_time(name, plan[name]) for name in topology.names},
                "Ts_ms": {
                    name: 1e3 * model.transmission_time(name, then)
                    for name, then in following.items()
                    if then is not None
                },
                "T_i_ms": latencies,
                "T_ms": 1e3 * model.job_latency(plan.parallelism),
                "T_after_ms": 1e3 * model.job_latency(target.parallelism),
                "critical_path": list(critical),
                "omega_ms": self._omega,
                "lambda_ms": self._lambda,
            },
        )

    def _with_forecast(self, observation: Observation) -> Observation:
        """The observation with this policy's own forecast; unchanged before anything was learnt."""
        horizon = observation.latest.seconds if self.horizon_seconds is None else self.horizon_seconds
        rate = self._forecaster.predict(horizon)
        return observation if rate is None else replace(observation, forecast=Forecast(self.forecaster, rate))

    def _instances(self, name: str, model: LatencyModel, now: int, following: str | None) -> int:
        """Algorithm 2 for one operator. Its second loop also checks omega, which as printed it could exceed."""
        omega, least = self._omega * (1 + EXACT), self._lambda * (1 - EXACT)
        low, high = model.topology[name].min, model.topology.ceiling(name)

        def latency_ms(instances: int) -> float:
            return 1e3 * model.operator_latency(name, instances, following)

        k = now
        if latency_ms(k) > omega:
            while latency_ms(k) > omega and k < high:
                k += 1
        else:
            while latency_ms(k) < least and k > low and latency_ms(k - 1) <= omega:
                k -= 1
        return k
