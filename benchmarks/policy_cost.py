"""What one decision costs, for every policy and up to 100 operators; linear where the time per operator is flat.

A chain at 70 % utilisation, twelve samples, default options, CPU time of one core. A learner has learnt from all
samples but the last, which it learns from within the time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from penstock.control.think import learn, think
from penstock.model import Latency, Observation, Operator, OperatorSample, Plan, Sample, Slo, Topology
from penstock.policies import POLICIES, Learner

OPERATORS = (5, 10, 25, 50, 100)
SAMPLES = 12
RATE, TRUE_RATE, PARALLELISM = 14_000.0, 5_000.0, 4
REPEATS = 40
"""The best of so many is that of a decision whose code is warm; the best of five was up to twice as long, by chance."""


@dataclass(frozen=True)
class Row:
    policy: str
    ms_5: float
    ms_10: float
    ms_25: float
    ms_50: float
    ms_100: float


def observation(operators: int) -> Observation:
    names = [f"op{i}" for i in range(operators)]
    samples = tuple(sample(names, 10.0 * i, RATE * (1.0 + 0.01 * i)) for i in range(SAMPLES))
    return Observation(
        t=samples[-1].end,
        topology=Topology.chain(*(Operator(name, max=40) for name in names)),
        slo=Slo(processing_latency="1 s", event_latency="2 s", drain="5 min"),
        plan=Plan(dict.fromkeys(names, PARALLELISM)),
        samples=samples,
    )


def sample(names: list[str], t: float, rate: float) -> Sample:
    records = 10.0 * rate
    operators = {
        name: OperatorSample(
            PARALLELISM,
            records_in=records,
            records_out=records,
            useful_seconds=records / TRUE_RATE,
            waiting_seconds=10.0 * PARALLELISM - records / TRUE_RATE,
            queue=10,
            latency_ms=1.0,
        )
        for name in names
    }
    return Sample(
        t=t,
        seconds=10.0,
        operators=operators,
        input_rate=rate,
        throughput=rate,
        backlog=100,
        processing_latency_ms=Latency(900, 850, 1500, 1900),
        event_latency_ms=Latency(950, 900, 1600, 2000),
    )


def milliseconds(name: str, operators: int) -> float:
    seen = observation(operators)
    best = float("inf")
    for _ in range(REPEATS):
        policy = POLICIES.create(name)
        if isinstance(policy, Learner):
            learn(policy, replace(seen, samples=seen.samples[:-1]), SAMPLES - 1)
        began = time.process_time()
        think(policy, (), seen, fresh=1)
        best = min(best, time.process_time() - began)
    return 1e3 * best


def rows() -> Iterator[Row]:
    for name in POLICIES.names():
        yield Row(name, *(milliseconds(name, operators) for operators in OPERATORS))
