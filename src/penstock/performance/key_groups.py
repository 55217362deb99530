"""A parallelism that spreads key groups, or the partitions of a source, evenly over the instances.

Glossary (Flink Kubernetes operator, JobVertexScaler.scale):

    groups      key groups of a keyed operator (its max parallelism), or partitions of a source
    even        an instance more does not help unless the instances divide the groups: 128 groups on 25 instances leave
                some with 6 and some with 5, as would 26 to 31; 32 have 4 each
    utilised    the fewest instances on which the largest share of groups is smaller than on the wanted number
"""

from __future__ import annotations


def aligned(wanted: int, current: int, groups: int, least: int, most: int, *, even: bool = True) -> int:
    """The parallelism nearest to the wanted one that suits the groups; the current one if none keeps the direction.

    Upwards first, as far as `most` (a shrinking operator as far as where it is now), then downwards to the smallest
    parallelism on which nobody has more groups than on the wanted one.

    >>> aligned(25, current=10, groups=128, least=1, most=128), aligned(25, 10, 128, 1, 128, even=False)
    (32, 26)
    >>> aligned(5, current=6, groups=36, least=1, most=36)  # nothing divides 36 between 5 and 6: it stays
    6
    >>> aligned(15, current=10, groups=10, least=1, most=10)  # no more than the partitions
    10
    """
    if wanted == current:
        return current
    grows = wanted > current
    upper = min(groups, most) if grows else min(groups, most, current)
    for k in range(wanted, upper + 1):
        if groups % k == 0 or (not even and groups // k < groups // wanted):
            return k
    below = next((k for k in range(wanted, 0, -1) if groups // k > groups // wanted), 0)
    if below and groups % below != 0:
        below += 1
    found = max(below, least)
    return found if (found > current) is grows and found != current else current
