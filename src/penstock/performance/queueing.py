"""Queueing theory: how long records wait in front of operators that keep up.

Glossary:

    k    instances that share one queue
    a    offered load in Erlangs: arrival rate / service rate of one instance
    rho  utilisation: a / k
    B    Erlang B: the probability that all instances are busy in a system without a queue
    C    Erlang C: the probability that a record has to wait
"""

from __future__ import annotations


def erlang_b(k: int, a: float) -> float:
    """Blocking probability of M/M/k/k, by the recursion over k.

    Every step stays within (0, 1], so nothing overflows however many instances there are; the factorials of the
    textbook form do from k = 171 on in double precision.

    >>> round(erlang_b(2, 1.0), 6)
    0.2
    """
    b = 1.0
    for n in range(1, k + 1):
        b = a * b / (n + a * b)
    return b


def erlang_c(k: int, a: float, b: float) -> float:
    """The probability that a record has to wait in M/M/k, from its Erlang B; 1 at and beyond saturation.

    >>> round(erlang_c(1, 0.7, erlang_b(1, 0.7)), 6), round(erlang_c(2, 1.0, erlang_b(2, 1.0)), 6)
    (0.7, 0.333333)
    """
    return 1.0 if a >= k else b / (1.0 - (a / k) * (1.0 - b))
