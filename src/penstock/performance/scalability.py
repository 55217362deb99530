"""How well an operator scales, as its own rescalings showed: the observed scalability of Flink's autoscaler.

Glossary (AutoScalerUtils.optimizeLinearScalingCoefficient, JobVertexScaler.calculateObservedScalingCoefficient):

    P_i    parallelism before rescaling i
    R_i    true processing rate of all its instances then
    beta   baseline: the rate of one instance at the smallest P_i, the newest of those
    alpha  sum(P_i R_i) / (sum(P_i^2) beta): the coefficient with the least squared error of R = beta * alpha * P
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def scaling_coefficient(observed: Sequence[tuple[int, float]], least: float) -> float:
    """alpha for pairs of P_i and R_i, oldest first: between `least` and 1, rounded up to two digits.

    >>> scaling_coefficient([(4, 200.0), (2, 100.0), (8, 400.0)], least=0.5)  # linear
    1.0
    >>> scaling_coefficient([(4, 160.0), (2, 96.0), (8, 240.0)], least=0.5)
    0.69
    """
    smallest = min(parallelism for parallelism, _ in observed)
    beta = next(rate / k for k, rate in reversed(observed) if k == smallest)
    alpha = sum(k * rate for k, rate in observed) / (sum(k * k for k, _ in observed) * beta)
    return math.ceil(round(100 * max(least, min(1.0, alpha)), 9)) / 100
