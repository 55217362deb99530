"""The autoscaler of Flink's Kubernetes operator: true rates with a target utilisation, lag and restarts in the target.

After a change the job stabilises, then metrics are collected until their window is full. From then on, for each vertex
(operator), with its metrics over that window (`_flink_metrics`):

    target        the capacity at `utilization_target`, restart included
    scale factor  target / TRUE_PROCESSING_RATE, over the scaling coefficient where that is observed (`scalability`),
                  between 1 - `scale_down_max_factor` and 1 + `scale_up_max_factor`
    wanted        ceil(factor * parallelism) within the limits; for a keyed vertex (a stateful operator) a number that
                  suits its key groups (its max), for a source one that suits its partitions (`key_groups`)
    up            not if the last growth brought less than `scaling_effectiveness_threshold` of what was expected of it
                  and `scaling_effectiveness_detection_enabled`
    down          only once it was wanted for `scale_down_interval`, and then to the most that was wanted meanwhile

All changes are made together, if one of the vertices that would change is outside its utilisation bounds: able to do
less than the capacity at `utilization_max` asks for, or more than the one at `utilization_min`.

Each option's meaning gives its key; they all begin with job.autoscaler. Not here, as there is nothing to decide or to
measure: excluded.periods (a guard of Penstock), memory and CPU quotas, heap and GC limits, memory tuning, tracked
restart times (off by default), metrics.busy-time.aggregator (see `_flink_metrics`).

Read from commits of the main branch before FLIP-586, which came with 1.16, not from the tag of 1.15. Not verified:
that 1.15 already keeps the parallelism where alignment would turn growth into shrinkage, or the other way round.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from penstock.model import Decision, InvalidValueError, MissingFigureError, Observation, Sample
from penstock.model.errors import check_choice, check_required_number, check_whole
from penstock.model.options import option
from penstock.performance.key_groups import aligned
from penstock.performance.scalability import scaling_coefficient
from penstock.policies import Policy, State
from penstock.policies._flink_metrics import Targets, Vertex, evaluate

ADJUST_MODES = ("EVENLY_SPREAD", "MAXIMIZE_UTILISATION")
IN_TIME = 1e-6
"""Window ends are sums: what is this near in seconds is the same moment."""


@dataclass(frozen=True, slots=True)
class Rescaling:
    """A change of a vertex that was made: when, from and to what, what it could do before, what it should do after."""

    t: float
    before: int
    after: int
    true_processing_rate: float
    expected_processing_rate: float


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a vertex should have, what it could process then, and whether it is outside its bounds."""

    parallelism: int
    expected_processing_rate: float
    outside_bounds: bool


@dataclass
class FlinkAutoscaler(Policy):
    """Sizes every operator for its rate, lag and restart at 70 % utilisation; shrinks what was too much for an hour."""

    name: ClassVar[str] = "flink_autoscaler"
    source: ClassVar[str] = (
        "Apache Flink Kubernetes operator 1.15, module flink-autoscaler: ScalingMetricEvaluator, JobVertexScaler, "
        "ScalingExecutor, DelayedScaleDown, AutoScalerOptions"
    )

    utilization_target: float = option(0.7, "how busy instances should be (utilization.target)", "ratio")
    target_utilization_boundary: float = option(
        0.3, "how far utilisation may leave the target (target.utilization.boundary)", "ratio"
    )
    utilization_max: float | None = option(None, "upper bound instead of target + boundary (utilization.max)", "ratio")
    utilization_min: float | None = option(None, "lower bound instead of target - boundary (utilization.min)", "ratio")
    metrics_window: float = option(900.0, "length of the metric window (metrics.window)", "s")
    stabilization_interval: float = option(300.0, "what is left out after a change (stabilization.interval)", "s")
    catch_up_duration: float = option(
        1800.0, "time to work off lag and a restart (catch-up.duration); 0: neither counts", "s"
    )
    restart_time: float = option(300.0, "how long a restart takes (restart.time)", "s")
    backlog_processing_lag_threshold: float = option(
        300.0, "with more lag than this nothing shrinks (backlog-processing.lag-threshold)", "s"
    )
    scale_up_max_factor: float = option(100_000.0, "the most it grows at once (scale-up.max-factor)", "ratio")
    scale_down_max_factor: float = option(0.6, "the most it shrinks at once (scale-down.max-factor)", "ratio")
    scale_down_interval: float = option(3600.0, "how long shrinking is put off (scale-down.interval); 0: not", "s")
    vertex_min_parallelism: int = option(1, "least parallelism (vertex.min-parallelism)")
    vertex_max_parallelism: int = option(200, "most parallelism (vertex.max-parallelism)")
    vertex_exclude_ids: tuple[str, ...] = option((), "operators that stay as they are (vertex.exclude.ids)")
    scaling_key_group_partitions_adjust_mode: str = option(
        "EVENLY_SPREAD",
        "EVENLY_SPREAD, or MAXIMIZE_UTILISATION (scaling.key-group.partitions.adjust.mode)",
    )
    scaling_effectiveness_detection_enabled: bool = option(
        False, "whether growth that did not help ends growth (scaling.effectiveness.detection.enabled)"
    )
    scaling_effectiveness_threshold: float = option(
        0.1, "share of the expected increase that counts as help (scaling.effectiveness.threshold)", "ratio"
    )
    observed_scalability_enabled: bool = option(
        False, "whether rates may grow less than parallelism (observed-scalability.enabled)"
    )
    observed_scalability_min_observations: int = option(
        3, "rescalings needed for that (observed-scalability.min-observations)"
    )
    observed_scalability_coefficient_min: float = option(
        0.5, "least coefficient of that (observed-scalability.coefficient-min)", "ratio"
    )
    observed_true_processing_rate_lag_threshold: float = option(
        30.0, "lag from which a source shows what it can do (observed-true-processing-rate.lag-threshold)", "s"
    )
    observed_true_processing_rate_switch_threshold: float = option(
        0.15, "busy time is off by this much: what it showed counts (observed-true-processing-rate.switch-threshold)",
        "ratio",
    )  # fmt: skip
    observed_true_processing_rate_min_observations: int = option(
        2, "observations needed for that (observed-true-processing-rate.min-observations)"
    )
    history_max_count: int = option(3, "rescalings remembered of each operator (history.max.count)")
    history_max_age: float = option(86_400.0, "how long they are remembered (history.max.age)", "s")

    _running: Mapping[str, int] | None = field(init=False, repr=False, default=None)
    _since: float = field(init=False, repr=False, default=0.0)  # when the job began to run so
    _stable: float | None = field(init=False, repr=False, default=None)  # when the first window began that counts
    _proposed: dict[str, tuple[float, float]] = field(init=False, repr=False, default_factory=dict)
    _history: dict[str, list[Rescaling]] = field(init=False, repr=False, default_factory=dict)
    _delayed: dict[str, list[tuple[float, int, bool]]] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        for each in ("utilization_target", "utilization_max", "utilization_min"):
            share = getattr(self, each)
            least = 0 if each == "utilization_min" else 1e-9
            if share is not None and not least <= share <= 1:
                raise InvalidValueError(each, f"must be more than 0 and at most 1, not {share!r}")
        for each in (
            "metrics_window", "stabilization_interval", "catch_up_duration", "restart_time", "scale_down_interval",
            "backlog_processing_lag_threshold", "scale_up_max_factor", "scale_down_max_factor", "history_max_age",
        ):  # fmt: skip
            check_required_number(each, getattr(self, each))
        check_whole("history_max_count", self.history_max_count, 1)
        check_whole("vertex_min_parallelism", self.vertex_min_parallelism, 1)
        check_whole("vertex_max_parallelism", self.vertex_max_parallelism, self.vertex_min_parallelism)
        check_choice(
            "scaling_key_group_partitions_adjust_mode", self.scaling_key_group_partitions_adjust_mode, ADJUST_MODES
        )

    @property
    def utilisation(self) -> float:
        return self.utilization_target

    # Collect ---------------------------------------------------------------------------------------------------

    def learn(self, observation: Observation) -> None:
        latest = observation.latest
        running = {name: operator.parallelism for name, operator in latest.operators.items()}
        oldest = latest.t - self.history_max_age
        self._history = {name: [e for e in history if e.t >= oldest] for name, history in self._history.items()}
        if running != self._running:
            self._remember_change(running, latest)
            self._running, self._since, self._stable = running, latest.t, None
        if self._stable is None and latest.t >= self._since + self.stabilization_interval - IN_TIME:
            self._stable = latest.t
        if not self._collected(observation):
            return
        try:
            vertices = evaluate(observation, self._window(observation), self._targets)
        except MissingFigureError:
            return  # `decide` says what is missing
        self._proposed = {}
        for name, vertex in vertices.items():
            self._learn(observation, name, vertex)

    def _remember_change(self, running: Mapping[str, int], latest: Sample) -> None:
        for name, after in running.items():
            before = after if self._running is None else self._running.get(name, after)
            if before != after and name in self._proposed:
                done = Rescaling(latest.t, before, after, *self._proposed[name])
                self._history[name] = [*self._history.get(name, ()), done][-self.history_max_count :]
        self._proposed, self._delayed = {}, {}

    def _learn(self, observation: Observation, name: str, vertex: Vertex) -> None:
        """Take down what a vertex should have, and for how long it should have had less."""
        proposal, now = self._propose(observation, name, vertex), observation.latest.end
        if math.isfinite(vertex.true_processing_rate):
            self._proposed[name] = (vertex.true_processing_rate, proposal.expected_processing_rate)
        if proposal.parallelism >= vertex.parallelism:
            self._delayed.pop(name, None)
        else:
            first, *later = self._delayed.get(name, ((now, proposal.parallelism, proposal.outside_bounds),))
            recent = [each for each in later if each[0] >= now - self.scale_down_interval - IN_TIME]
            newest = (now, proposal.parallelism, proposal.outside_bounds)
            self._delayed[name] = [first, *recent, newest]  # the first says since when, the others how much

    def _collected(self, observation: Observation) -> bool:
        return self._stable is not None and observation.latest.end >= self._stable + self.metrics_window - IN_TIME

    def _window(self, observation: Observation) -> Sequence[Sample]:
        begin = max(self._since, observation.latest.end - self.metrics_window) - IN_TIME
        return observation.since(begin)

    @property
    def _targets(self) -> Targets:
        target, boundary = self.utilization_target, self.target_utilization_boundary
        return Targets(
            self.catch_up_duration, self.restart_time,
            target + boundary if self.utilization_max is None else self.utilization_max,
            target - boundary if self.utilization_min is None else self.utilization_min,
            self.backlog_processing_lag_threshold, self.observed_true_processing_rate_lag_threshold,
            self.observed_true_processing_rate_switch_threshold, self.observed_true_processing_rate_min_observations,
        )  # fmt: skip

    # Propose ---------------------------------------------------------------------------------------------------

    def _propose(self, observation: Observation, name: str, vertex: Vertex) -> Proposal:
        """What a vertex should have now, whatever it had before."""
        rate = vertex.true_processing_rate
        target = self._targets.capacity(
            vertex.target_data_rate, vertex.catch_up_data_rate, self.utilization_target, restart=True
        )
        factor = target / rate / self._coefficient(name)
        factor = min(max(factor, 1 - self.scale_down_max_factor), 1 + self.scale_up_max_factor)
        parallelism = self._scaled(observation, name, vertex.parallelism, factor)
        if parallelism > vertex.parallelism and self._ineffective(name, vertex):
            parallelism = vertex.parallelism
        return Proposal(parallelism, rate * factor if math.isfinite(rate) else 0.0, vertex.outside_bounds)

    def _coefficient(self, name: str) -> float:
        history = self._history.get(name, ())
        if not self.observed_scalability_enabled or len(history) < max(1, self.observed_scalability_min_observations):
            return 1.0
        observed = [(each.before, each.true_processing_rate) for each in history]
        return scaling_coefficient(observed, self.observed_scalability_coefficient_min)

    def _scaled(self, observation: Observation, name: str, current: int, factor: float) -> int:
        topology = observation.topology
        operator, partitions = topology[name], topology.source_partitions if name in topology.roots else None
        least = min(current, self.vertex_min_parallelism)
        most = min(operator.max, max(current, self.vertex_max_parallelism))
        wanted = min(max(least, math.ceil(min(factor * current, most))), most)
        groups = partitions if partitions is not None else operator.max if operator.stateful else None
        if groups is not None:
            even = self.scaling_key_group_partitions_adjust_mode == "EVENLY_SPREAD"
            wanted = aligned(wanted, current, groups, least, most, even=even)
        return topology.clamp(name, wanted)

    def _ineffective(self, name: str, vertex: Vertex) -> bool:
        """Whether the growth that led here brought too little, where that ends growth."""
        last = next(reversed(self._history.get(name, ())), None)
        if not self.scaling_effectiveness_detection_enabled or last is None or last.after <= last.before:
            return False
        expected = last.expected_processing_rate - last.true_processing_rate
        actual = vertex.true_processing_rate - last.true_processing_rate
        return last.after == vertex.parallelism and actual < self.scaling_effectiveness_threshold * expected

    # Decide ----------------------------------------------------------------------------------------------------

    def decide(self, observation: Observation) -> Decision:
        plan = observation.plan
        if not self._collected(observation):
            return Decision.move(plan, plan, "the metric window is not full yet")
        vertices = evaluate(observation, self._window(observation), self._targets)
        now, wanted, outside = observation.latest.end, dict(plan.parallelism), []
        proposals = {name: self._propose(observation, name, vertex) for name, vertex in vertices.items()}
        for name, proposal in proposals.items():
            decided = self._delay(name, proposal, vertices[name], now)
            if decided.parallelism != vertices[name].parallelism and name not in self.vertex_exclude_ids:
                wanted[name] = decided.parallelism
                outside += [name] if decided.outside_bounds else []
        tightest = max(vertices, key=lambda name: vertices[name].load)
        why = f"{tightest} is busy {vertices[tightest].load:.0%} of the time at {self.utilization_target:.0%} targeted"
        return Decision.move(
            plan,
            plan.changed(wanted) if outside else plan,
            why,
            figures={
                "true_processing_rate": {name: _finite(each.true_processing_rate) for name, each in vertices.items()},
                "target_data_rate": {name: each.target_data_rate for name, each in vertices.items()},
                "catch_up_data_rate": {name: each.catch_up_data_rate for name, each in vertices.items()},
                "scale_up_rate_threshold": {n: _finite(each.scale_up_threshold) for n, each in vertices.items()},
                "scale_down_rate_threshold": {n: _finite(each.scale_down_threshold) for n, each in vertices.items()},
                "recommended_parallelism": {name: each.parallelism for name, each in proposals.items()},
                "outside_bounds": outside,
            },
        )

    def _delay(self, name: str, proposal: Proposal, vertex: Vertex, now: float) -> Proposal:
        """The proposal, or what is left of one to shrink: nothing for a while, then the most that was wanted."""
        if proposal.parallelism >= vertex.parallelism or self.scale_down_interval <= 0:
            return proposal
        wanted = self._delayed.get(name, ())
        begin = now - self.scale_down_interval
        if not wanted or wanted[0][0] > begin + IN_TIME:
            return Proposal(vertex.parallelism, proposal.expected_processing_rate, False)
        recent = [each for each in wanted if each[0] >= begin - IN_TIME]
        _, parallelism, outside = max(recent, key=lambda each: (each[1], each[0]))
        return Proposal(parallelism, proposal.expected_processing_rate, outside)

    # Remember --------------------------------------------------------------------------------------------------

    def state(self) -> State:
        return {
            "running": None if self._running is None else dict(self._running),
            "since": self._since,
            "stable": self._stable,
            "proposed": {name: list(pair) for name, pair in self._proposed.items()},
            "history": {
                name: [[e.t, e.before, e.after, e.true_processing_rate, e.expected_processing_rate] for e in history]
                for name, history in self._history.items()
            },
            "delayed": {name: [list(each) for each in wanted] for name, wanted in self._delayed.items()},
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        self._running, self._since, self._stable = state["running"], state["since"], state["stable"]
        self._proposed = {name: (pair[0], pair[1]) for name, pair in state["proposed"].items()}
        self._history = {name: [Rescaling(*each) for each in history] for name, history in state["history"].items()}
        self._delayed = {name: [(t, k, o) for t, k, o in wanted] for name, wanted in state["delayed"].items()}


def _finite(rate: float) -> float | None:
    return rate if math.isfinite(rate) else None
