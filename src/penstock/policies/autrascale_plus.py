"""AuTraScale+: AuTraScale with a lighter transfer, and a solver that drains a backlog within a time limit."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

from penstock.model import InvalidValueError, MissingFigureError, Observation, ReasonCode, direction
from penstock.model.options import option
from penstock.performance.backlog import BacklogModel, backlog_model, saturated, time_left
from penstock.performance.bayesian.acquisition import Surrogate
from penstock.performance.bayesian.bayesian_search import arrays
from penstock.performance.bayesian.bootstrap import bootstrap_set
from penstock.performance.bayesian.drain_search import DrainSearch
from penstock.performance.bayesian.gaussian_process import GaussianProcess
from penstock.performance.bayesian.rate_library import REMEMBERED, RateRecord
from penstock.performance.bayesian.search_space import Configuration, SearchSpace
from penstock.performance.bayesian.transfer import LightweightTransfer, residual_model
from penstock.performance.true_rates import arriving, headroom, instances, true_rates
from penstock.policies import State
from penstock.policies._latency_search import Proposal, Scores
from penstock.policies._reading import Reading, by_name, configuration_of, plan_of
from penstock.policies.autrascale import AuTraScale

BEYOND_TARGET = (1.0, 1.1, 1.25, 1.5, 2.0)
"""Multiples of the target throughput for which configurations are estimated."""


@dataclass(frozen=True, slots=True)
class Drain:
    """A backlog being drained: when that began, and the steady state (pi_p and its latency) to return to."""

    began: float
    steady: Configuration
    latency_ms: float


@dataclass
class AuTraScalePlus(AuTraScale):
    """Three solvers in order: throughput (TO), processing latency (PLO), event latency (ELO).

    The paper's: once PLO has settled and the event latency is above its target, the backlog model (9 to 12) says what
    throughput drains in time; ELO (13, Algorithm 3) looks for it by Bayesian optimisation, runs what it found until the
    target is met or the limit has passed, and goes back. The lightweight transfer (Algorithm 2) trains no samples.

    Ours, beside what `AuTraScale` lists:
      - Its equation 3 lacks a division; the first paper's is used.
      - The profile is learnt from the job's own busy windows, never by injecting load; `profiled` adds an offline one.
      - The search begins with what the true rates ask for; until other configurations were busy, estimates from those
        rates stand in for the bootstrap set and for a few configurations around the target.
      - beta is what the target exceeds the input by; a score of 0.9 is close enough.
      - A configuration that drains faster than it must is kept: it is released the sooner.
      - A limit that passes begins again; the paper says nothing of a job that is still late then.
    """

    name: ClassVar[str] = "autrascale_plus"
    source: ClassVar[str] = "AuTraScale+ (TPDS 2024): equations 2 to 13, Algorithms 1 to 3"

    c0: float = option(1.0, "weight of a new sample against an old one in the transferred deviation", "ratio")
    beta: float | None = option(
        None,
        "gap to the target throughput that halves its score; none: what the target exceeds the input by",
        "records/s",
    )
    throughput_threshold: float = option(0.9, "score at which a throughput is close enough to its target", "score")
    drain_limit: float = option(600.0, "time to drain a backlog where the SLO names none", "seconds")

    profile: dict[Configuration, float] = field(init=False, repr=False, default_factory=dict)
    drain: Drain | None = field(init=False, repr=False, default=None)
    returning: Configuration | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.c0 > 0:
            raise InvalidValueError("c0", f"must be positive, not {self.c0!r}")
        if self.beta is not None and not self.beta > 0:
            raise InvalidValueError("beta", f"must be positive, not {self.beta!r}")
        if not 0 < self.throughput_threshold <= 1:
            raise InvalidValueError(
                "throughput_threshold", f"must be more than 0 and at most 1, not {self.throughput_threshold!r}"
            )
        if not self.drain_limit > 0:
            raise InvalidValueError("drain_limit", f"must be positive, not {self.drain_limit!r}")

    def profiled(self, configuration: Configuration, throughput: float) -> None:
        """Record the throughput of a configuration that always has work, from a window or an offline profile."""
        self.profile.pop(configuration, None)
        self.profile[configuration] = throughput
        while len(self.profile) > REMEMBERED:
            del self.profile[next(iter(self.profile))]

    # Learn -----------------------------------------------------------------------------------------------------

    def _forget(self) -> None:
        super()._forget()
        self.profile = {}

    def _begin(self) -> None:
        super()._begin()
        self.drain = self.returning = None  # at another rate there is another steady state

    def _add_window(
        self, observation: Observation, record: RateRecord, reading: Reading, recommended: Configuration
    ) -> None:
        """Add the newest window; while the job drains or returns, only its throughput is recorded."""
        if saturated(observation.latest, observation.slo):
            self.profiled(reading.configuration, reading.measurement.throughput)
        if self.drain is not None:
            if self._drained(observation, self.drain):
                self.returning = self.drain.steady
                self.drain = None
            return
        if self.returning == reading.configuration or self.returning in self.refused:
            self.returning = None
        if self.returning is None:
            super()._add_window(observation, record, reading, recommended)
            self.drain = self._beginning(observation, record, reading)

    def _beginning(self, observation: Observation, record: RateRecord, reading: Reading) -> Drain | None:
        """The drain that begins now: in a steady state whose event latency is too high and that has a backlog."""
        latency_ms = record.measured[reading.configuration].latency_ms
        settled = self._settled(observation, record)
        if latency_ms is None or settled is None or settled.configuration != reading.configuration:
            return None
        drain = Drain(observation.latest.end, reading.configuration, latency_ms)
        return None if self._drained(observation, drain) else drain

    def _drained(self, observation: Observation, drain: Drain) -> bool:
        try:
            return self._backlog(observation, drain) is None
        except MissingFigureError:  # the backlog is unknown: a drain goes on, and none begins
            return drain is not self.drain

    # Decide ----------------------------------------------------------------------------------------------------

    def _propose(self, observation: Observation, record: RateRecord) -> Proposal:
        current = configuration_of(observation.plan, observation.topology)
        steady = self.returning
        if self.drain is not None:
            backlog = self._backlog(observation, self.drain)
            if backlog is not None:
                return self._drain(observation, record, backlog, current)
            steady = self.drain.steady
        if steady is None or steady == current:
            return super()._propose(observation, record)
        text = "the event latency is met: back to the steady configuration"
        return Proposal(steady, ReasonCode.RESTORE, text, {"phase": "steady"})

    def _backlog(self, observation: Observation, drain: Drain) -> BacklogModel | None:
        """Equations 9 to 12, with what is left of the limit; None when nothing must be drained (any more)."""
        latest, slo = observation.latest, observation.slo
        limit = self.drain_limit if slo.drain_seconds is None else slo.drain_seconds
        left = time_left(latest.end - drain.began, limit, latest.seconds)
        return backlog_model(latest, slo, left, drain.latency_ms)

    def _drain(
        self, observation: Observation, record: RateRecord, backlog: BacklogModel, current: Configuration
    ) -> Proposal:
        """Event latency optimisation (Algorithm 3), one step for each window."""
        assert record.base is not None  # a drain begins in a steady state
        search = self._drain_search(SearchSpace.above(record.base, observation.topology), backlog)
        figures = {"phase": "event latency optimisation", **backlog.figures(), "beta": search.beta}
        text = f"{backlog.target_backlog:,.0f} records must go within {backlog.limit_seconds:.0f} s"
        profile = {k: v for k, v in self.profile.items() if k in search.space and k not in self.refused}
        if (able := profile.get(current)) is not None:
            figures |= {"profiled_throughput": able, "throughput_score": search.score(able)}
            if able >= search.target or search.score(able) >= search.threshold:
                return Proposal(current, ReasonCode.STEADY, f"{text}, as they do", figures)
        chosen = search.found(profile)
        if chosen is None:
            guess = self._linear(observation, search)
            if guess not in self.refused and profile.get(guess, math.inf) >= search.target:
                return Proposal(guess, ReasonCode.EXPLORE, f"{text}: the true rates ask for this", figures)
            step = search.next(profile, self._estimates(observation, search), self.refused)
            if step is not None:
                return Proposal(step.configuration, ReasonCode.EXPLORE, text, {**figures, **step.figures()})
            chosen = max(profile, key=lambda k: profile[k], default=current)
        return Proposal(chosen, direction(observation.plan, plan_of(chosen, observation)), text, figures)

    def _drain_search(self, space: SearchSpace, backlog: BacklogModel) -> DrainSearch:
        target = backlog.target_throughput
        beta = target - backlog.input_rate if self.beta is None else self.beta
        return DrainSearch(space, target, beta, self.throughput_threshold, self.xi, self.nu, self.seed)

    def _linear(self, observation: Observation, search: DrainSearch, times: float = 1.0) -> Configuration:
        """The smallest configuration that would reach `times` the target if rates scaled linearly."""
        rates, load = true_rates(observation), load_of_one(observation)
        throughput = times * search.target
        needed = (instances(throughput * load[n], rates[n].processing) for n in observation.topology.names)
        bounds = zip(needed, search.space.lower, search.space.upper, strict=True)
        return tuple(min(max(k, least), most) for k, least, most in bounds)

    def _estimates(self, observation: Observation, search: DrainSearch) -> dict[Configuration, float]:
        """The throughput of some configurations if rates scaled linearly: the bootstrap set, and those at the target
        and somewhat beyond it, since instances that compete for resources do less."""
        rates, load = true_rates(observation), load_of_one(observation)
        around = (self._linear(observation, search, times) for times in BEYOND_TARGET)
        return {
            k: headroom(by_name(k, observation.topology), rates, load)
            for k in (*bootstrap_set(search.space, self.uniform_samples), *around)
        }

    def _transfer(
        self, old: GaussianProcess, space: SearchSpace, scores: Scores, bootstrap: tuple[Configuration, ...]
    ) -> tuple[Surrogate, float]:
        """The lightweight transfer: predicts over the whole space, estimates no samples."""
        inputs, outputs = arrays(space, scores)
        residual = residual_model(old, inputs, outputs, self.nu)
        return LightweightTransfer(old, residual, self.c0), float(outputs.max())

    # Remember --------------------------------------------------------------------------------------------------

    def state(self) -> State:
        drain = self.drain
        return {
            **super().state(),
            "profile": [[list(k), throughput] for k, throughput in self.profile.items()],
            "drain": None if drain is None else [drain.began, list(drain.steady), drain.latency_ms],
            "returning": None if self.returning is None else list(self.returning),
        }

    def restore(self, state: State) -> None:
        super().restore(state)
        self.profile = {tuple(k): throughput for k, throughput in state["profile"]}
        drain = state["drain"]
        self.drain = None if drain is None else Drain(drain[0], tuple(drain[1]), drain[2])
        self.returning = None if state["returning"] is None else tuple(state["returning"])


def load_of_one(observation: Observation) -> dict[str, float]:
    """Records per second that reach each operator for each one offered to the job; without input, roots are equal."""
    topology, latest = observation.topology, observation.latest
    offered = latest.offered_rate
    shares = {root: (latest.input_rate_of(root) or 0.0) / offered if offered else 1.0 for root in topology.roots}
    return arriving(topology, true_rates(observation), shares)
