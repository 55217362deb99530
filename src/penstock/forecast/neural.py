"""A small neural network, trained by a genetic algorithm with simulated annealing, predicts the next rates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from penstock.forecast._annealed import Annealing, Floats, NeuralNetwork
from penstock.forecast._base import OnlineForecaster
from penstock.model.errors import InvalidValueError, check_required_number, check_whole
from penstock.model.options import option

LOW, HIGH = 0.2, 0.8
"""The lowest and the highest rate trained on are mapped to these: the sigmoid reaches a third of the span further."""

EXACT = 1e-9
"""Rates that differ by a smaller share than this count as equal."""

FURTHEST = 200
"""An iterated prediction looks at most this many steps ahead."""


@dataclass
class Neural(OnlineForecaster):
    """Dp-Stream's predictor: the last few rates go in, the next one comes out; further ahead, its own answers go in.

    The last rate is its prediction until it has seen enough to train on, and while the rate never changes. It
    trains again at intervals, from what it knew before, and immediately when a rate leaves the range it can express.
    """

    name: ClassVar[str] = "neural"
    source: ClassVar[str] = "Dp-Stream (2022): equations 1 to 5, Algorithm 1"

    inputs: int = option(4, "how many past rates the network sees", "rates")
    hidden: int = option(4, "units in the hidden layer", "units")
    steepness: float = option(1.0, "k of the transfer function 1 / (1 + exp(-k x))")
    population: int = option(40, "individuals of the genetic algorithm", "individuals")
    iterations: int = option(600, "generations of one training", "generations")
    crossover: float = option(0.9, "chance that an individual mixes its genes with another's", "probability")
    mutation: float = option(0.2, "chance that a gene changes", "probability")
    temperature: float = option(0.01, "temperature at which annealing starts", "squared error")
    cooling: float = option(0.985, "factor on the temperature after each generation", "ratio")
    enough: float = option(1e-6, "energy at which a training ends early", "squared error")
    training_seconds: float = option(200.0, "history needed before the first training", "s")
    retrain_seconds: float = option(600.0, "how often it trains again", "s")
    remembered: int = option(400, "rates kept to train on", "rates")
    seed: int = option(1, "seed of the random numbers")

    _points: list[tuple[float, float]] = field(init=False, default_factory=list)
    _began: float | None = field(init=False, default=None)
    _trainings: int = field(init=False, default=0)
    _trained_at: float = field(init=False, default=0.0)
    _genes: list[float] | None = field(init=False, default=None)
    _range: tuple[float, float] = field(init=False, default=(0.0, 1.0))

    def __post_init__(self) -> None:
        for name in ("inputs", "hidden", "iterations"):
            check_whole(name, getattr(self, name), 1)
        check_whole("population", self.population, 2)
        check_whole("seed", self.seed)
        check_whole("remembered", self.remembered, self._fewest)
        for name in ("steepness", "temperature", "enough", "training_seconds", "retrain_seconds"):
            check_required_number(name, getattr(self, name))
        for name in ("crossover", "mutation", "cooling"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise InvalidValueError(name, f"must be between 0 and 1, not {getattr(self, name)!r}")

    @property
    def trained(self) -> bool:
        return self._genes is not None

    @property
    def _fewest(self) -> int:
        """The fewest rates to train on: there must be more patterns than a pattern has inputs."""
        return 3 * self.inputs

    @property
    def _network(self) -> NeuralNetwork:
        return NeuralNetwork(self.inputs, self.hidden, self.steepness)

    def _take(self, t: float, rate: float) -> None:
        self._began = t if self._began is None else self._began
        self._points = [*self._points[1 - self.remembered :], (t, rate)]
        if t - self._began >= self.training_seconds and len(self._points) >= self._fewest and self._due(t, rate):
            self._train(t)

    def _ahead(self, seconds: float) -> float:
        (last, rate), recent = self._points[-1], [rate for _, rate in self._points[-self.inputs :]]
        if self._genes is None:
            return rate
        spacing = (last - self._points[-1 - self.inputs][0]) / self.inputs
        steps = min(seconds / spacing, float(FURTHEST))
        before = after = rate
        for _ in range(math.ceil(steps)):
            before, after = after, self._next(recent)
            recent = [*recent[1:], after]
        return before + (after - before) * (steps - math.ceil(steps) + 1)

    def _memory(self) -> dict[str, Any]:
        return {
            "points": [list(point) for point in self._points],
            "began": self._began,
            "trainings": self._trainings,
            "trained_at": self._trained_at,
            "genes": None if self._genes is None else list(self._genes),
            "range": list(self._range),
        }

    def _remember(self, memory: Mapping[str, Any]) -> None:
        self._points = [(t, rate) for t, rate in memory["points"]]
        self._began, self._trainings, self._trained_at = (memory[k] for k in ("began", "trainings", "trained_at"))
        self._genes = None if memory["genes"] is None else list(memory["genes"])
        low, high = memory["range"]
        self._range = (low, high)

    def _due(self, t: float, rate: float) -> bool:
        if self._genes is None or t - self._trained_at >= self.retrain_seconds:
            return True
        return not 0.0 < self._shrunk(rate) < 1.0  # no answer of the network could be this rate

    def _train(self, t: float) -> None:
        rates = [rate for _, rate in self._points]
        low, high = min(rates), max(rates)
        if high - low <= EXACT * high:
            self._genes = None  # a rate that never changes teaches nothing, and needs no network
            return
        self._range = (low, high)
        series = np.array([self._shrunk(rate) for rate in rates])
        patterns = np.lib.stride_tricks.sliding_window_view(series[:-1], self.inputs)
        annealing = Annealing(
            self.population, self.iterations, self.crossover, self.mutation, self.temperature, self.cooling, self.enough
        )
        random = np.random.default_rng([self.seed, self._trainings])
        known = None if self._genes is None else np.array(self._genes)
        best: Floats = annealing.train(self._network, patterns, series[self.inputs :], random, known)
        self._genes, self._trained_at, self._trainings = best.tolist(), t, self._trainings + 1

    def _next(self, recent: list[float]) -> float:
        low, high = self._range
        shrunk = np.array([[self._shrunk(rate) for rate in recent]])
        answer = float(self._network.outputs(np.array([self._genes]), shrunk)[0, 0])
        return low + (answer - LOW) / (HIGH - LOW) * (high - low)

    def _shrunk(self, rate: float) -> float:
        low, high = self._range
        return LOW + (rate - low) / (high - low) * (HIGH - LOW)
