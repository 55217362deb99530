"""AuTraScale+: AuTraScale with a lighter transfer, and a solver that drains a backlog within a time limit."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

from penstock.model import InvalidValueError, MissingFigureError, Observation, ReasonCode, direction
from penstock.model.errors import check_whole
from penstock.model.options import option
from penstock.performance.backlog import BacklogModel, backlog_model, met, saturated
from penstock.performance.bayesian.acquisition import Surrogate
from penstock.performance.bayesian.bayesian_search import arrays
from penstock.performance.bayesian.drain_search import DrainSearch
from penstock.performance.bayesian.gaussian_process import GaussianProcess
from penstock.performance.bayesian.rate_library import REMEMBERED, RateRecord
from penstock.performance.bayesian.search_space import Configuration, SearchSpace
from penstock.performance.bayesian.transfer import LightweightTransfer, residual_model
from penstock.performance.downtime import downtime_of
from penstock.policies import State
from penstock.policies._event_latency import Drain, EventLatencySearch, Profiler
from penstock.policies._latency_search import Proposal, Scores
from penstock.policies._reading import Reading, configuration_of, plan_of
from penstock.policies.autrascale import AuTraScale


@dataclass
class AuTraScalePlus(AuTraScale):
    """Three solvers in order: throughput (TO), processing latency (PLO), event latency (ELO).

    The paper's: once PLO has settled and the event latency is above its target, the backlog model (9 to 12) says what
    throughput drains in time; ELO (13, Algorithm 3) finds a configuration for it, which runs until the event latency is
    met or the limit has passed; then the job goes back. The lightweight transfer (Algorithm 2) trains no samples, looks
    at the space without the bootstrap set, and ends on latency alone (sections IV-D and V-D).

    Ours, beside what `AuTraScale` lists:
      - Its equation 3 lacks a division; the first paper's is used.
      - V allows for d, how long a change stops the job, as its own changes showed it:
        lambda + (R + lambda d) / (T - d). It is reckoned once, when a drain begins, and no other plan follows in it.
      - No drain begins that its own two changes would undo: where the steady configuration is fast enough, or no more
        waits than comes in d seconds.
      - `profiler` runs configurations offline, as in the paper. Without one, no load is ever injected: the profile is
        learnt from the job's own busy windows, and the true rates stand in for what was never busy, in the proportion
        in which the plan in force keeps what its own true rates promise.
      - beta is what the target exceeds the input by; a score of 0.99 is close enough, as a throughput that is too low
        by a tenth of what must go comes late by as much.
      - A job that is still late when the limit has passed goes back, as in the paper; then another drain may begin.
    """

    lightweight: ClassVar[bool] = True
    name: ClassVar[str] = "autrascale_plus"
    source: ClassVar[str] = "AuTraScale+ (TPDS 2024): equations 2 to 13, Algorithms 1 to 3"

    by_instance: bool = option(
        True, "true rates as the mean of the instances' own, where they are measured one by one; else sum over sum"
    )
    c0: float = option(1.0, "weight of a new sample against an old one in the transferred deviation", "ratio")
    beta: float | None = option(
        None,
        "gap to the target throughput that halves its score; none: what the target exceeds the input by",
        "records/s",
    )
    throughput_threshold: float = option(0.99, "score at which a throughput is close enough to its target", "score")
    drain_limit: float = option(600.0, "time to drain a backlog where the SLO names none", "seconds")
    profile_trials: int = option(10, "runs of the offline profile beyond the bootstrap set", "trials")

    profiler: Profiler | None = field(init=False, repr=False, compare=False, default=None)
    downtime: float = field(init=False, repr=False, default=0.0)
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
        check_whole("profile_trials", self.profile_trials)

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

    def _settling(self, observation: Observation) -> bool:
        """While the job drains, what counts is when the event latency is met, not what its plan usually does."""
        return self.drain is None and self.returning is None and super()._settling(observation)

    def _add_window(
        self, observation: Observation, record: RateRecord, reading: Reading, recommended: Configuration
    ) -> None:
        """Add the newest window; while the job drains or returns, only its throughput is recorded."""
        if saturated(observation.latest, observation.slo):
            self.profiled(reading.configuration, reading.measurement.throughput)
            self.downtime = self._downtime(observation)
        if self.drain is not None:
            self._follow(observation, self.drain, reading)
            return
        if self.returning == reading.configuration or self.returning in self.refused:
            self.returning = None
        if self.returning is None:
            super()._add_window(observation, record, reading, recommended)
            self.drain = self._beginning(observation, record, reading)

    def _downtime(self, observation: Observation) -> float:
        seen = downtime_of(observation)
        return self.downtime if seen is None else seen

    def _follow(self, observation: Observation, drain: Drain, reading: Reading) -> None:
        """End a drain whose target is met or whose limit has passed; else go on, with what was granted of its plan."""
        latest, over = observation.latest, drain.began + drain.backlog.limit_seconds
        if met(latest, observation.slo) or latest.t >= over:  # a window that begins within the limit still counts
            self.drain, self.returning = None, drain.steady
        elif drain.plan in self.refused:
            self.drain = replace(drain, plan=reading.configuration)

    def _beginning(self, observation: Observation, record: RateRecord, reading: Reading) -> Drain | None:
        """The drain that begins now: in a steady state whose event latency is too high and that has a backlog."""
        steady, earlier = reading.configuration, record.measured.get(reading.configuration)
        settled = self._settled(observation, record)
        if earlier is None or earlier.latency_ms is None or settled is None or settled.configuration != steady:
            return None
        slo = observation.slo
        limit = self.drain_limit if slo.drain_seconds is None else slo.drain_seconds
        try:
            backlog = backlog_model(observation.latest, slo, limit, earlier.latency_ms, self.downtime)
        except MissingFigureError:  # the backlog is unknown
            return None
        if backlog is None or backlog.target_backlog <= backlog.own_backlog:
            return None
        search = self._event_latency_search(observation, record, backlog)
        if search.able(steady) >= backlog.target_throughput:
            return None
        plan = self._drained_by(search, steady)
        return None if plan == steady else Drain(observation.latest.end, steady, plan, backlog)

    def _event_latency_search(
        self, observation: Observation, record: RateRecord, backlog: BacklogModel
    ) -> EventLatencySearch:
        assert record.base is not None  # a drain begins in a steady state
        space = SearchSpace.above(record.base, observation.topology)
        return EventLatencySearch(
            self._drain_search(space, backlog),
            observation,
            self.profile,
            self.refused,
            self.uniform_samples,
            self.by_instance,
        )

    def _drained_by(self, search: EventLatencySearch, steady: Configuration) -> Configuration:
        """pi_e: the configuration that drains."""
        return search.online() if self.profiler is None else search.offline(self.profiler, self.profile_trials)

    def _drain_search(self, space: SearchSpace, backlog: BacklogModel) -> DrainSearch:
        target = backlog.target_throughput
        beta = target - backlog.input_rate if self.beta is None else self.beta
        return DrainSearch(space, target, beta, self.throughput_threshold, self.xi, self.nu, self.seed)

    # Decide ----------------------------------------------------------------------------------------------------

    def _propose(self, observation: Observation, record: RateRecord) -> Proposal:
        current = configuration_of(observation.plan, observation.topology)
        if self.drain is not None:
            return self._draining(observation, record, self.drain, current)
        if self.returning is None or self.returning == current:
            return super()._propose(observation, record)
        text = "the event latency is met, or the limit has passed: back to the steady configuration"
        return Proposal(self.returning, ReasonCode.RESTORE, text, {"phase": "steady"})

    def _draining(self, observation: Observation, record: RateRecord, drain: Drain, current: Configuration) -> Proposal:
        backlog = drain.backlog
        search = self._event_latency_search(observation, record, backlog).search
        figures = {"phase": "event latency optimisation", **backlog.figures(), "beta": search.beta}
        if (able := self.profile.get(drain.plan)) is not None:
            figures |= {"profiled_throughput": able, "throughput_score": search.score(able)}
        text = f"{backlog.target_backlog:,.0f} records must go within {backlog.limit_seconds:.0f} s"
        code = direction(observation.plan, plan_of(drain.plan, observation))
        return Proposal(drain.plan, code, text if current != drain.plan else f"{text}, as they do", figures)

    def _transfer(
        self, old: GaussianProcess, space: SearchSpace, scores: Scores, bootstrap: tuple[Configuration, ...]
    ) -> tuple[Surrogate, float]:
        """The lightweight transfer: predicts over the whole space, estimates no samples."""
        inputs, outputs = arrays(space, scores)
        residual = residual_model(old, inputs, outputs, self.nu)
        return LightweightTransfer(old, residual, self.c0), float(outputs.max())

    # Remember --------------------------------------------------------------------------------------------------

    def state(self) -> State:
        return {
            **super().state(),
            "profile": [[list(k), throughput] for k, throughput in self.profile.items()],
            "downtime": self.downtime,
            "drain": None if self.drain is None else self.drain.to_json(),
            "returning": None if self.returning is None else list(self.returning),
        }

    def restore(self, state: State) -> None:
        super().restore(state)
        self.profile = {tuple(k): throughput for k, throughput in state["profile"]}
        self.downtime = state["downtime"]
        self.drain = None if state["drain"] is None else Drain.from_json(state["drain"])
        self.returning = None if state["returning"] is None else tuple(state["returning"])
