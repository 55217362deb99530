"""Event latency optimisation: which configuration drains a backlog in time (AuTraScale+, Algorithm 3).

The paper profiles configurations offline, before the drain, and then runs the one it found. So here: the choice is made
once, from what is known when the drain begins, and stands until it ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from penstock.model import Observation
from penstock.performance.backlog import BacklogModel
from penstock.performance.bayesian.bootstrap import bootstrap_set
from penstock.performance.bayesian.drain_search import DrainSearch
from penstock.performance.bayesian.search_space import Configuration
from penstock.performance.true_rates import TrueRates, arriving, headroom, instances, true_rates
from penstock.policies._reading import by_name, configuration_of

BEYOND_TARGET = (1.0, 1.1, 1.25, 1.5, 2.0)
"""Multiples of the target throughput for which configurations are estimated."""

Profiler = Callable[[Configuration], float]
"""The throughput of a configuration under a load that it cannot exhaust, by a run of its own."""


@dataclass(frozen=True, slots=True)
class Drain:
    """A backlog being drained: since when, from which steady state (pi_p), with which plan (pi_e), and how fast."""

    began: float
    steady: Configuration
    plan: Configuration
    backlog: BacklogModel

    def to_json(self) -> list[Any]:
        return [self.began, list(self.steady), list(self.plan), self.backlog.to_json()]

    @classmethod
    def from_json(cls, plain: list[Any]) -> Drain:
        began, steady, plan, backlog = plain
        return cls(began, tuple(steady), tuple(plan), BacklogModel(*backlog))


@dataclass(frozen=True)
class EventLatencySearch:
    """The choice of one plan. `profile` is what configurations have been seen to do; `refused` cannot be had."""

    search: DrainSearch
    observation: Observation
    profile: Mapping[Configuration, float]
    refused: Collection[Configuration]
    uniform_samples: int
    by_instance: bool = False

    def offline(self, profiler: Profiler, trials: int) -> Configuration:
        """Algorithm 3 against an offline profile, with at most `trials` runs beyond the bootstrap set.

        Throughput comes in steps as large as an operator's instance, so the threshold may lie between two of them, and
        the paper's loop would go through the whole space: then the least plan that reaches the target is taken.
        """
        search, bootstrap = self.search, bootstrap_set(self.search.space, self.uniform_samples)
        profile = search.run(profiler, bootstrap, trials)
        tried = {k: throughput for k, throughput in profile.items() if k not in bootstrap}
        return search.found(tried) or self._fastest_enough(profile)

    def online(self) -> Configuration:
        """The same without runs of its own: by what busy windows showed, and by the true rates where they did not."""
        search = self.search
        profile = {k: v for k, v in self.profile.items() if k in search.space and k not in self.refused}
        if (found := search.found(profile)) is not None:
            return found
        guess = self._linear()
        if guess not in self.refused and profile.get(guess, math.inf) >= search.target:
            return guess
        step = search.next(profile, self._estimates(), self.refused)
        return self._fastest_enough(profile) if step is None else step.configuration

    def able(self, configuration: Configuration) -> float:
        """What a configuration can do: as it was seen to, or else by its true rates."""
        seen = self.profile.get(configuration)
        return self._estimate(configuration) if seen is None else seen

    def _fastest_enough(self, profile: Mapping[Configuration, float]) -> Configuration:
        enough = [k for k, throughput in profile.items() if throughput >= self.search.target]
        return (
            min(enough, key=sum) if enough else max(profile, key=lambda k: profile[k], default=self.search.space.lower)
        )

    def _linear(self, times: float = 1.0) -> Configuration:
        """The smallest configuration that would reach `times` the target if rates scaled linearly."""
        rates, load, space = self._rates, load_of_one(self.observation), self.search.space
        throughput = times * self.search.target / self._kept
        needed = (instances(throughput * load[n], rates[n].processing) for n in self.observation.topology.names)
        bounds = zip(needed, space.lower, space.upper, strict=True)
        return tuple(min(max(k, least), most) for k, least, most in bounds)

    def _estimates(self) -> dict[Configuration, float]:
        """The throughput of some configurations if rates scaled linearly: the bootstrap set, and those at the target
        and somewhat beyond it, since instances that compete for resources do less."""
        around = (self._linear(times) for times in BEYOND_TARGET)
        return {k: self._estimate(k) for k in (*bootstrap_set(self.search.space, self.uniform_samples), *around)}

    def _estimate(self, configuration: Configuration) -> float:
        return self._kept * self._promised(configuration)

    def _promised(self, configuration: Configuration) -> float:
        return headroom(by_name(configuration, self.observation.topology), self._rates, load_of_one(self.observation))

    @property
    def _kept(self) -> float:
        """How much of what its true rates promise the plan in force was seen to do, at most all of it.

        What a record costs outside of the operators, between two of them or in front of the first, is in no true rate,
        and will cost other plans as much.
        """
        current = configuration_of(self.observation.plan, self.observation.topology)
        seen = self.profile.get(current)
        return 1.0 if not seen else min(1.0, seen / self._promised(current))

    @property
    def _rates(self) -> dict[str, TrueRates]:
        return true_rates(self.observation, self.by_instance)


def load_of_one(observation: Observation) -> dict[str, float]:
    """Records per second that reach each operator for each one offered to the job; without input, roots are equal."""
    topology, latest = observation.topology, observation.latest
    offered = latest.offered_rate
    shares = {root: (latest.input_rate_of(root) or 0.0) / offered if offered else 1.0 for root in topology.roots}
    return arriving(topology, true_rates(observation), shares)
