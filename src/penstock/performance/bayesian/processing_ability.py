"""What an operator can process at each parallelism: ContTune's Gaussian process over its own history.

Glossary (ContTune, the Small phase; GPofContTune.py of its repository):

    p       parallelism
    PA(p)   processing ability: records/s that all instances process together, if they never wait
    k(p,q)  sigma_f^2 exp(-(p - q)^2 / (2 l^2)), with a prior mean of 0: far from what was seen nothing is promised
    mu(p)   k_*^T K^-1 y
    l       the most likely length from 1 to 8 instances, where the repository searches from 2.5 on; beyond that the
            matrix is nearly singular and mu misses what was seen. sigma_f follows from l
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from penstock.performance.bayesian.matern import Floats

NOISE = 1e-8
"""On the diagonal, as in the repository: means of several windows are taken for exact."""
LENGTHS = tuple(2.0 ** (exponent / 4) for exponent in range(13))
"""Those that are tried for l."""


@dataclass(frozen=True)
class ProcessingAbility:
    """mu(p), from the abilities seen.

    >>> model = ProcessingAbility.fit({1: 100.0, 2: 195.0, 4: 370.0})
    >>> round(model.at(2)), 270 < model.at(3) < 300
    (195, True)
    """

    seen: Floats
    weights: Floats
    length: float

    @classmethod
    def fit(cls, abilities: Mapping[int, float]) -> ProcessingAbility:
        p, y = np.array(list(abilities), dtype=float), np.array(list(abilities.values()), dtype=float)
        squared = (p[:, None] - p[None, :]) ** 2
        best: tuple[float, float, Floats] = (math.inf, LENGTHS[0], y)
        for length in LENGTHS:
            factor, lower = cho_factor(np.exp(-squared / (2 * length**2)) + NOISE * np.eye(len(p)), lower=True)
            weights = cho_solve((factor, lower), y)
            # The likelihood with its best sigma_f put in: n/2 log(y^T K^-1 y / n) + 1/2 log det K
            loss = len(p) / 2 * math.log(float(y @ weights) / len(p)) + float(np.log(np.diag(factor)).sum())
            if loss < best[0]:
                best = (loss, length, weights)
        return cls(p, best[2], best[1])

    def at(self, parallelism: int) -> float:
        return float(np.exp(-((self.seen - parallelism) ** 2) / (2 * self.length**2)) @ self.weights)
