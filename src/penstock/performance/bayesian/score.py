"""What a configuration is worth: latency against its target, and parallelism against the least that keeps up.

Glossary:

    a   alpha: the weight of latency against resources
    k'  the least parallelism that keeps up with the input (throughput optimisation)
    k   the parallelism that was tried
    w   over-allocation ratio: how much more than needed the user accepts
    V   target throughput; v the throughput of a configuration
"""

from __future__ import annotations

from collections.abc import Sequence


def benefit_score(
    alpha: float, target_ms: float, latency_ms: float, base: Sequence[int], parallelism: Sequence[int]
) -> float:
    """AuTraScale (4): a * min(1, l_target / l) + (1 - a) * mean(k' / k).

    >>> round(benefit_score(0.8, 180, 172, base=(3, 4, 12, 10), parallelism=(7, 8, 12, 38)), 4)
    0.9096
    """
    met = 1.0 if latency_ms <= target_ms else target_ms / latency_ms
    return alpha * met + (1.0 - alpha) * allocation_ratio(base, parallelism)


def allocation_ratio(base: Sequence[int], parallelism: Sequence[int]) -> float:
    """C_opt / C_now: mean of k' / k over the operators."""
    return sum(least / k for least, k in zip(base, parallelism, strict=True)) / len(base)


def score_threshold(alpha: float, over_allocation_ratio: float) -> float:
    """AuTraScale (9): a + (1 - a) / (1 + w).

    >>> score_threshold(0.8, over_allocation_ratio=1.0)
    0.9
    """
    return alpha + (1.0 - alpha) / (1.0 + over_allocation_ratio)


def throughput_score(throughput: float, target: float, beta: float) -> float:
    """AuTraScale+ (13): beta / (|v - V| + beta); 1 at the target, and less on either side of it.

    >>> throughput_score(90, target=100, beta=10), throughput_score(100, target=100, beta=10)
    (0.5, 1.0)
    """
    return beta / (abs(throughput - target) + beta)
