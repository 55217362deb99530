"""Queueing theory: how long records wait in front of operators that keep up.

Glossary:

    k    instances that share one queue
    a    offered load in Erlangs: arrival rate / service rate of one instance
    rho  utilisation: a / k
    B    Erlang B: the probability that all instances are busy in a system without a queue
    C    Erlang C: the probability that a record has to wait
"""

from __future__ import annotations

import math


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


def erlang_c(k: int, a: float) -> float:
    """The probability that a record has to wait in M/M/k; 1 at and beyond saturation.

    >>> round(erlang_c(1, 0.7), 6), round(erlang_c(2, 1.0), 6)
    (0.7, 0.333333)
    """
    return 1.0 if a >= k else erlang_c_from_b(k, a, erlang_b(k, a))


def erlang_c_from_b(k: int, a: float, b: float) -> float:
    """Erlang C of M/M/k below saturation, where Erlang B is known already: no recursion over k."""
    return b / (1.0 - (a / k) * (1.0 - b))


def mean_wait(k: int, arrival_rate: float, service_rate: float) -> float:
    """Mean seconds in the queue of M/M/k; infinite at and beyond saturation.

    >>> round(mean_wait(1, 9.0, 10.0), 6)
    0.9
    """
    if arrival_rate <= 0:
        return 0.0
    spare = k * service_rate - arrival_rate
    if spare <= 0:
        return math.inf
    return erlang_c(k, arrival_rate / service_rate) / spare


def mean_sojourn(k: int, arrival_rate: float, service_rate: float) -> float:
    """Mean seconds from arrival to departure in M/M/k."""
    return mean_wait(k, arrival_rate, service_rate) + 1.0 / service_rate
