"""Processing latency optimisation: which configuration to run next at one input rate.

The order is AuTraScale's: stay if the end (8, 9) is reached; else take bootstrap samples, or transfer where a model
of another rate can help; then optimise by Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from penstock.model import ReasonCode
from penstock.performance.bayesian.acquisition import Surrogate
from penstock.performance.bayesian.bayesian_search import best_first, recommend, trained
from penstock.performance.bayesian.bootstrap import bootstrap_set
from penstock.performance.bayesian.gaussian_process import GaussianProcess
from penstock.performance.bayesian.rate_library import RateRecord
from penstock.performance.bayesian.score import benefit_score, score_threshold
from penstock.performance.bayesian.search_space import Configuration, SearchSpace
from penstock.performance.throughput import keeps_up

if TYPE_CHECKING:
    from penstock.policies.autrascale import AuTraScale

Scores = dict[Configuration, float]
Transfer = Callable[[GaussianProcess, SearchSpace, Scores, tuple[Configuration, ...]], tuple[Surrogate, float]]
"""Makes a surrogate, and the best value it knows, from the old model, the space, real samples and the bootstrap set."""


@dataclass(frozen=True)
class Proposal:
    """The configuration to run next, why, and the figures behind it."""

    configuration: Configuration
    code: ReasonCode
    text: str
    figures: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class LatencySearch:
    """The search at one rate for one latency target, with the options of its policy.

    `source` is the record of another rate to transfer from, if there is one.
    """

    record: RateRecord
    space: SearchSpace
    target_ms: float
    options: AuTraScale
    source: RateRecord | None = None

    @property
    def threshold(self) -> float:
        return score_threshold(self.options.alpha, self.options.over_allocation_ratio)

    def scores(self, record: RateRecord | None = None) -> Scores:
        """Equation 4 for every configuration measured at a rate, from that rate's own base upwards."""
        record = self.record if record is None else record
        if record.base is None:
            return {}
        inside = SearchSpace(record.base, self.space.upper)
        return {
            k: benefit_score(self.options.alpha, self.target_ms, measured.latency_ms, record.base, k)
            for k, measured in record.measured.items()
            if measured.latency_ms is not None and k in inside
        }

    def can_teach(self, other: RateRecord) -> bool:
        """Whether that rate has enough samples for a model: the base and one more for each operator."""
        return len(self.scores(other)) > len(self.space.lower)

    def fulfils(self, configuration: Configuration) -> bool:
        """Whether a configuration kept up and met the latency when it was last measured."""
        measured, record = self.record.measured.get(configuration), self.record
        if measured is None or measured.latency_ms is None or measured.latency_ms > self.target_ms:
            return False
        if record.attainable is None:
            return keeps_up(measured.throughput, measured.input_rate, self.options.keep_up_tolerance)
        # Something outside limits the job: no configuration can be expected to do more than the best one did.
        return keeps_up(measured.throughput, min(measured.input_rate, record.attainable), self.options.throughput_noise)

    def settle(self, current: Configuration, refused: Collection[Configuration]) -> Proposal | None:
        """The configuration to stay with, if the search is over: one that meets the target, or the best of all."""
        scores, bootstrap = self.scores(), self._bootstrap
        if (ended := self._ended(current, scores, refused)) is not None:
            return self._stay(current, ended, "the latency is met without waste", {"phase": "steady"})
        ran = sum(not self.record.measured[k].training for k in scores)
        if ran >= len(bootstrap) + self.options.max_iterations:
            return self._best(current, scores, refused, f"{ran} configurations were tried")
        return None

    def transfers(self, scores: Scores) -> RateRecord | None:
        """The record that is transferred from now; None where Algorithm 1 goes on alone.

        A transfer ends after `num` samples of its own, or else with more real samples than the bootstrap set has.
        """
        num, taken = self.options.num, len(scores) - self.record.begun_with
        goes_on = len(scores) <= len(self._bootstrap) if num is None else taken < num
        return self.source if goes_on else None

    def explore(self, current: Configuration, refused: Collection[Configuration], transfer: Transfer) -> Proposal:
        """The next configuration to try."""
        scores, bootstrap = self.scores(), self._bootstrap
        if self.source is None:
            for number, k in enumerate(bootstrap, 1):
                if k not in scores and k not in refused:
                    text = f"bootstrap sample {number} of {len(bootstrap)}"
                    return Proposal(k, ReasonCode.EXPLORE, text, {"phase": "bootstrap"})
        if not scores:  # no sample from the base upwards is remembered: begin with the base again
            return Proposal(self.space.lower, ReasonCode.EXPLORE, "the base must be measured", {"phase": "bootstrap"})
        surrogate: Surrogate
        source, tried = self.transfers(scores), {*scores, *refused}
        if source is not None:
            old = trained(self.space, self.scores(source), self.options.nu)
            surrogate, f_best = transfer(old, self.space, scores, bootstrap)
            figures = {"phase": "transfer", "source_rate": source.rate, "f_best": f_best}
            if self.options.lightweight:  # its Algorithm 2 looks at the space without P_c
                tried |= set(bootstrap)
        else:
            surrogate, f_best = trained(self.space, scores, self.options.nu), max(scores.values())
            figures = {"phase": "bayesian optimisation", "f_best": f_best}
        step = recommend(self.space, surrogate, f_best, tried, best_first(scores), self.options.xi, self.options.seed)
        if step is None:
            return self._best(current, scores, refused, "every configuration was tried")
        text = f"expected to improve the score by {step.expected_improvement:.3g} over {f_best:.3f}"
        return Proposal(step.configuration, ReasonCode.EXPLORE, text, {**figures, **step.figures()})

    def figures(self, current: Configuration) -> dict[str, Any]:
        scores = self.scores()
        return {
            "score": scores.get(current),
            "score_threshold": self.threshold,
            "iteration": len(scores),
            "bootstrap_set": [list(k) for k in self._bootstrap],
        }

    @property
    def _bootstrap(self) -> tuple[Configuration, ...]:
        return bootstrap_set(self.space, self.options.uniform_samples)

    def _ended(
        self, current: Configuration, scores: Scores, refused: Collection[Configuration]
    ) -> Configuration | None:
        """The configuration at which the search ends: the one in force, or one where it would have ended before.

        Samples that a model was trained with before the job began are no plans that were in force. A lightweight
        transfer ends on latency alone (AuTraScale+, sections IV-D and V-D).
        """
        on_latency = self.options.lightweight and self.transfers(scores) is not None
        threshold = 0.0 if on_latency else self.threshold
        good = [k for k in scores if scores[k] >= threshold and self.fulfils(k) and k not in refused]
        if current in good:
            return current
        ran = [k for k in good if not self.record.measured[k].training]
        return max(ran, key=lambda k: scores[k], default=None)

    def _best(self, current: Configuration, scores: Scores, refused: Collection[Configuration], why: str) -> Proposal:
        """The best configuration of a search that gives up; those that meet the latency come first."""
        seen = [k for k in scores if k not in refused]
        best = max(seen, key=lambda k: (self.fulfils(k), scores[k]), default=current)
        return self._stay(current, best, f"{why}; this is the best of them", {"phase": "exhausted"})

    @staticmethod
    def _stay(current: Configuration, target: Configuration, text: str, figures: dict[str, Any]) -> Proposal:
        code = ReasonCode.STEADY if target == current else ReasonCode.RESTORE
        return Proposal(target, code, text, figures)
