"""True rates: what an instance could do if it never waited, and the load each operator would then see.

Glossary (AuTraScale, equations 2 and 3; DS2 uses the same quantities):

    v_i       true processing rate: records one instance of operator i processes per second of useful time
    o_i       true output rate: records it emits meanwhile
    s_pi      share of parent p's output that child i receives; 1 unless `records_from` says otherwise
    arriving  records per second offered to an operator
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import fmean

from penstock.model import FrozenMap, MissingFigureError, Observation, OperatorSample, Sample, Topology

ROUNDING = 1e-9
"""Measured rates are quotients: 2.0000000001 instances are 2."""


@dataclass(frozen=True, slots=True)
class TrueRates:
    """One operator's rates, per instance and second of useful time, and the shares it gets of its parents."""

    processing: float
    output: float
    shares: Mapping[str, float]

    @property
    def selectivity(self) -> float:
        """Records emitted for each record processed."""
        return self.output / self.processing


def true_rates(observation: Observation, by_instance: bool = False) -> dict[str, TrueRates]:
    """The rates of every operator, each from the newest sample in which it had work.

    AuTraScale (2021) divides sums over all instances. AuTraScale+ (2024) takes the mean of the instances' own rates:
    with `by_instance`, where they were measured one by one. A slow instance weighs less there: 100 records in 1 s and
    100 in 4 s are 40 records/s by sums, and 62.5 by instances. Raises MissingFigureError for an operator that had work
    in no sample.
    """
    topology = observation.topology
    return {name: _rates_of(name, topology, observation.samples, by_instance) for name in topology.names}


def _rates_of(name: str, topology: Topology, samples: tuple[Sample, ...], by_instance: bool) -> TrueRates:
    emits = ("records_out",) if topology.children[name] else ()
    sample, operator, records, seconds = newest_work(name, samples, also=emits)
    if by_instance and operator.instance_rates:
        seconds = records / fmean(
            operator.instance_rates
        )  # as if every instance had been as fast as they are on average
    return TrueRates(
        processing=records / seconds,
        output=(operator.records_out or 0.0) / seconds,
        shares=_shares(operator, topology.parents[name], sample),
    )


def newest_work(
    name: str, samples: tuple[Sample, ...], also: tuple[str, ...] = ()
) -> tuple[Sample, OperatorSample, float, float]:
    """The newest sample in which an operator had work, its part in it, records processed and useful seconds.

    `also` names further figures that must have been measured.
    """
    missing = "useful_seconds"
    for sample in reversed(samples):
        operator = sample.operators.get(name)
        if operator is None or operator.useful_seconds is None:
            continue
        lacking = next((figure for figure in ("records_in", *also) if getattr(operator, figure) is None), None)
        if lacking is not None:
            missing = lacking
        elif operator.records_in and operator.useful_seconds > 0:
            return sample, operator, operator.records_in, operator.useful_seconds
        else:  # it had no work
            missing = "true rate"
    raise MissingFigureError(missing, name)


def _shares(operator: OperatorSample, parents: tuple[str, ...], sample: Sample) -> Mapping[str, float]:
    received = operator.records_from or FrozenMap()
    shares = {}
    for parent in parents:
        emitted = sample.operators[parent].records_out if parent in sample.operators else None
        shares[parent] = received[parent] / emitted if parent in received and emitted else 1.0
    return shares


def input_rates(observation: Observation) -> dict[str, float]:
    """Records per second offered to each root: the forecast where there is one, else the last measurement."""
    latest = observation.latest
    rates = {}
    for root in observation.topology.roots:
        rate = latest.input_rate_of(root)
        if rate is None:
            raise MissingFigureError("input_rate", root)
        rates[root] = rate
    offered = latest.offered_rate
    if observation.forecast is not None and offered > 0:
        growth = observation.forecast.input_rate / offered
        return {root: rate * growth for root, rate in rates.items()}
    return rates


def arriving(
    topology: Topology,
    rates: Mapping[str, TrueRates],
    inputs: Mapping[str, float],
    emitted: Callable[[str, float], float] | None = None,
) -> dict[str, float]:
    """Records per second that reach each operator, walking the graph from its roots.

    `emitted(name, arriving)` is what an operator passes on; by default all that arrives, times its selectivity.
    """
    load: dict[str, float] = {}
    output: dict[str, float] = {}
    for name in topology.order:
        parents = topology.parents[name]
        load[name] = sum(output[p] * rates[name].shares[p] for p in parents) if parents else inputs[name]
        output[name] = emitted(name, load[name]) if emitted else load[name] * rates[name].selectivity
    return load


def headroom(
    parallelism: Mapping[str, int],
    rates: Mapping[str, TrueRates],
    load: Mapping[str, float],
    topology: Topology | None = None,
) -> float:
    """How many times the load the job could carry, limited by its tightest operator; infinite without a load.

    With a topology, operators that share their instances under the plan are one.
    """
    if topology is None or not topology.may_chain:
        return min((parallelism[n] * rates[n].processing / load[n] for n in load if load[n] > 0), default=math.inf)
    work = {chain[0]: sum(load[n] / rates[n].processing for n in chain) for chain in topology.chains(parallelism)}
    return min((parallelism[first] / busy for first, busy in work.items() if busy > 0), default=math.inf)


def instances(load: float, true_processing_rate: float) -> int:
    """How many instances carry a load; at least one.

    >>> instances(100, 50), instances(101, 50), instances(0, 50)
    (2, 3, 1)
    """
    return max(1, math.ceil(load / true_processing_rate - ROUNDING))
