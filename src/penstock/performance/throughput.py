"""Throughput optimisation: the least parallelism that keeps up with the input, found in a few steps.

Glossary (AuTraScale, equation 3):

    v_i   true processing rate of one instance of operator i
    k'_1  ceil(input rate / v_1)
    k'_i  ceil(what the parents emit at their *new, rounded* parallelism / v_i)

Each step is run and measured, since rates fall as instances compete for shared resources.
"""

from __future__ import annotations

from collections.abc import Mapping

from penstock.model import Topology
from penstock.performance.bayesian.search_space import Configuration
from penstock.performance.true_rates import TrueRates, arriving, instances


def throughput_parallelism(
    topology: Topology, rates: Mapping[str, TrueRates], inputs: Mapping[str, float]
) -> Configuration:
    """The parallelism of equation 3, for any graph and selectivity, within the bounds of each operator.

    >>> from penstock.model import Operator
    >>> line = Topology((Operator("read"), Operator("count")), (("read", "count"),))
    >>> rates = {"read": TrueRates(60, 60, {}), "count": TrueRates(50, 50, {"read": 1.0})}
    >>> throughput_parallelism(line, rates, {"read": 100})  # two readers can emit 120, so count needs three, not two
    (2, 3)
    """
    parallelism: dict[str, int] = {}

    def emitted(name: str, load: float) -> float:
        parallelism[name] = topology.clamp(name, instances(load, rates[name].processing))
        return rates[name].output * parallelism[name]

    arriving(topology, rates, inputs, emitted)
    return tuple(parallelism[name] for name in topology.names)


def keeps_up(throughput: float, input_rate: float, tolerance: float) -> bool:
    """Whether a throughput reaches the input rate, give or take `tolerance` of it: both are measured."""
    return throughput >= input_rate * (1.0 - tolerance)


def look_back(steps: Mapping[Configuration, float], input_rate: float, tolerance: float, noise: float) -> Configuration:
    """The best of the configurations tried, given their throughputs.

    Where some keep up, it is the one with the least parallelism among them. Otherwise something outside limits the
    job: then it is the one with the least parallelism among those within `noise` of the highest throughput.

    >>> look_back({(1, 1): 9e3, (4, 34): 34.7e3, (40, 40): 35.3e3}, 60e3, tolerance=0.01, noise=0.05)
    (4, 34)
    """
    enough = [step for step, throughput in steps.items() if keeps_up(throughput, input_rate, tolerance)]
    if not enough:
        highest = max(steps.values())
        enough = [step for step, throughput in steps.items() if throughput >= highest * (1.0 - noise)]
    return min(enough, key=sum)
