"""Dp-Stream's network, and the genetic algorithm with simulated annealing that trains it.

Glossary (Dp-Stream, equations 1 to 5 and Algorithm 1; all individuals of a population are computed together):

    S, D        individuals, genes of each: all weights and thresholds of a network, one after the other
    r           (n, w) inputs: n patterns of w successive rates
    omega       (S, H, w) weights from the inputs to the H hidden units, with thresholds (S, H)
    lambda      (S, H) weights from the hidden units to the output, with thresholds (S,)
    f           1 / (1 + exp(-k x)), the transfer function
    E = b       half the squared error of an individual, averaged over the patterns
    t_k         temperature, multiplied by the cooling factor after each generation
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

TOURNAMENT = 2  # individuals that compete for each place in the next generation
LEAST_STEP = 0.02  # mutations shrink with the temperature, down to this share of their first size


@dataclass(frozen=True, slots=True)
class NeuralNetwork:
    """A neural network with one hidden layer; its weights are genes."""

    inputs: int
    hidden: int
    steepness: float

    @property
    def genes(self) -> int:
        return self.hidden * (self.inputs + 2) + 1

    def outputs(self, genes: Floats, patterns: Floats) -> Floats:
        """The outputs of each of S individuals for each of n patterns: (S, D), (n, w) -> (S, n)."""
        split = self.hidden * self.inputs
        omega = genes[:, :split].reshape(-1, self.inputs)  # the hidden units of all individuals, one below the other
        thresholds, out = genes[:, split : split + self.hidden], genes[:, split + self.hidden : -1]
        hidden = self._transfer(omega @ patterns.T + thresholds.reshape(-1, 1))  # (1)
        hidden = hidden.reshape(-1, self.hidden, len(patterns))
        return self._transfer(np.einsum("shn,sh->sn", hidden, out) + genes[:, -1:])  # (2)

    def energies(self, genes: Floats, patterns: Floats, targets: Floats) -> Floats:
        """E of each individual, by equation 3."""
        error = self.outputs(genes, patterns) - targets
        return np.asarray(0.5 * np.mean(error * error, axis=1))

    def _transfer(self, x: Floats) -> Floats:
        # This is the same curve, written with tanh, which cannot overflow.
        return 0.5 + 0.5 * np.tanh(0.5 * self.steepness * x)


@dataclass(frozen=True, slots=True)
class Annealing:
    """The parameters of Algorithm 1."""

    population: int
    iterations: int
    crossover: float
    mutation: float
    temperature: float
    cooling: float
    enough: float

    def train(
        self,
        network: NeuralNetwork,
        patterns: Floats,
        targets: Floats,
        random: np.random.Generator,
        start: Floats | None = None,
    ) -> Floats:
        """The genes with the least energy found. `start` holds known genes, which join the first population."""
        people = random.normal(0.0, 1.0, (self.population, network.genes))
        if start is not None:
            people[0] = start
        energy = network.energies(people, patterns, targets)
        best: Floats = people[energy.argmin()].copy()
        least, temperature = energy.min(), self.temperature
        for _ in range(self.iterations):
            if least <= self.enough:
                break
            chosen = self._select(energy, random)
            people, energy = people[chosen], energy[chosen]
            step = max(temperature / self.temperature, LEAST_STEP)
            children = self._mutate(self._cross(people, random), step, random)
            energies = network.energies(children, patterns, targets)
            accept = accepted(energies - energy, temperature, random)
            people, energy = np.where(accept[:, None], children, people), np.where(accept, energies, energy)
            if energy.min() < least:
                best, least = people[energy.argmin()].copy(), energy.min()
            temperature *= self.cooling
        return best

    def _select(self, energy: Floats, random: np.random.Generator) -> NDArray[np.intp]:
        rivals = random.integers(0, self.population, (self.population, TOURNAMENT))
        winner = energy[rivals].argmin(axis=1)
        return np.asarray(rivals[np.arange(self.population), winner], dtype=np.intp)

    def _cross(self, people: Floats, random: np.random.Generator) -> Floats:
        """Each pair mixes its genes in one random proportion, or stays as it is."""
        partners = people[random.permutation(self.population)]
        share = random.uniform(0.0, 1.0, (self.population, 1))
        mixes = random.uniform(size=(self.population, 1)) < self.crossover
        return np.where(mixes, share * people + (1.0 - share) * partners, people)

    def _mutate(self, people: Floats, step: float, random: np.random.Generator) -> Floats:
        mutates = random.uniform(size=people.shape) < self.mutation
        return people + mutates * random.normal(0.0, step, people.shape)


def accepted(rise: Floats, temperature: float, random: np.random.Generator) -> NDArray[np.bool_]:
    """Metropolis' test, equation 4: an individual with less energy than its parent passes, another by chance.

    Equation 5 is read as the partition function it is named after: the probabilities of the whole population add up
    to one. As printed, as an inverse, they would exceed it.
    """
    weight = np.exp(-np.maximum(rise, 0.0) / max(temperature, 1e-300))
    chance = weight / weight.sum()
    return np.asarray((rise < 0.0) | (random.uniform(size=rise.shape) < chance))
