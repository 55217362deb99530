"""All configurations within bounds. A configuration is a parallelism for each operator, in the topology's order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from penstock.model import InvalidValueError, Topology
from penstock.performance.bayesian.matern import Floats

Configuration: TypeAlias = tuple[int, ...]
Integers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class SearchSpace:
    """Every whole-numbered configuration from `lower` to `upper`, both included.

    >>> space = SearchSpace((1, 2), (2, 4))
    >>> space.size, (2, 3) in space, (3, 3) in space
    (6, True, False)
    """

    lower: Configuration
    upper: Configuration

    def __post_init__(self) -> None:
        if len(self.lower) != len(self.upper) or any(
            low > high for low, high in zip(self.lower, self.upper, strict=True)
        ):
            raise InvalidValueError("search space", f"must not be empty, but reaches from {self.lower} to {self.upper}")

    @classmethod
    def above(cls, base: Configuration, topology: Topology) -> SearchSpace:
        """The space from a base configuration to the maximum of each operator."""
        return cls(base, ceiling(topology))

    @cached_property
    def size(self) -> int:
        return math.prod(high - low + 1 for low, high in zip(self.lower, self.upper, strict=True))

    def __contains__(self, configuration: Configuration) -> bool:
        return all(low <= k <= high for low, k, high in zip(self.lower, configuration, self.upper, strict=True))

    def unit(self, configurations: Integers | Sequence[Configuration]) -> Floats:
        """Configurations as coordinates for a model: log k / log P_max, from 0 at one instance to 1 at the maximum.

        The operators are the last axis; the other axes are kept. The logarithm is taken because a second instance
        changes more than a twentieth does, while a Gaussian process expects its function to vary equally everywhere.
        The result does not depend on `lower`, so models of different rates share their coordinates.
        """
        most = np.log(np.maximum(self.upper, 2))
        return np.asarray(np.log(np.asarray(configurations, dtype=np.float64)) / most)

    def listed(self) -> Integers:
        """Every point (size, d), the smallest first."""
        ranges = [np.arange(low, high + 1) for low, high in zip(self.lower, self.upper, strict=True)]
        return np.stack([axis.ravel() for axis in np.meshgrid(*ranges, indexing="ij")], axis=1)


def ceiling(topology: Topology) -> Configuration:
    """P_max of each operator."""
    return tuple(topology.ceiling(name) for name in topology.names)


def within_bounds(configuration: Configuration, topology: Topology) -> Configuration:
    """The nearest configuration within the bounds of each operator."""
    return tuple(topology.clamp(name, k) for name, k in zip(topology.names, configuration, strict=True))
