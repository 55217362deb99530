"""Tweets and DNS queries on a Storm whose replicas wait in a pool: three applications of few events and much work."""

from __future__ import annotations

import math
from collections.abc import Mapping

from penstock.model import Operator, Plan, Slo, Topology
from penstock.simulator.job import Behaviour, Change, Engine, Job, Overflow
from penstock.simulator.trace import Trace
from penstock.workloads import Workload
from penstock.workloads.rates import constant, fluctuating

# From the paper: a queue holds 100,000 events, one older than 30 s has failed, a change wakes replicas up and costs
# nothing. Chosen: what a system without a pool pays for a restart, and the way from one operator to the next.
ENGINE = Engine(
    overflow=Overflow.DROP, change=Change.LIVE, queue_records=100_000, timeout_seconds=30.0, downtime_seconds=10.0
)
POOL = 3
"""The pool holds so many times r_over: the paper saw more replicas awake than r_over while queues were worked off."""

DNS_MEAN, DNS_DEVIATION = 28.0, 0.6  # events/s, of the logarithm
TWEETS_LOW, SECONDS = 25.0, 1100
TWEETS_PEAKS = ((200.0, 190.0, 52.0), (500.0, 190.0, 52.0), (900.0, 231.0, 58.0))  # s, events/s above the low, s


def tweets() -> Trace:
    """A quiet stream with three surges, each a bell: low + sum of height * exp(-((t - moment) / width)² / 2).

    From the paper: surges around 200, 500 and 900 s, of which four replicas work off the first by 350 s and the
    second by 700 s. Derived: eight replicas of each operator carry the highest, one carries a third of all events.
    """
    times = [float(t) for t in range(0, SECONDS + 1, 5)]
    rates = [
        TWEETS_LOW
        + sum(height * math.exp(-(((t - moment) / width) ** 2) / 2) for moment, height, width in TWEETS_PEAKS)
        for t in times
    ]
    return Trace("tweets", tuple(times), tuple(rates))


def dns() -> Trace:
    """DNS queries: restless from one moment to the next, log-normal around a constant, by a seeded generator.

    Derived: one replica of each operator loses a few hundredths. Chosen: mean, deviation, and a minute between points.
    """
    return fluctuating(constant(DNS_MEAN, 1200.0), 60.0, DNS_DEVIATION, seed=4)


def _workload(
    name: str,
    service_ms: Mapping[str, float],
    edges: tuple[tuple[str, str], ...],
    replicas: int,
    trace: Trace,
    summary: str,
    selectivity: Mapping[str, float | Mapping[str, float]] | None = None,
) -> Workload:
    """`replicas` of each operator are r_over."""
    names, hop_ms = tuple(service_ms), 1.0
    return Workload(
        job=Job(
            name=name,
            topology=Topology(tuple(Operator(each, max=POOL * replicas) for each in names), edges),
            behaviours={
                each: Behaviour(
                    service_ms=service_ms[each], selectivity=(selectivity or {}).get(each, 1.0), hop_ms=hop_ms
                )
                for each in names
            },
            engine=ENGINE,
            start=Plan(dict.fromkeys(names, 1)),
            over_provisioned=Plan(dict.fromkeys(names, replicas)),
        ),
        slo=Slo(processing_latency="5 s"),  # chosen: above the paper's mean of 2.1 s, well below the time-out
        trace=trace,
        summary=summary,
        source="PSPS (2022), section V",
    )


# Derived: with eight replicas of each operator nothing waits and a tweet takes 154 ms, so about 30 ms in each; and
# with 44 % of r_over awake on average, the same share as the load, the four must be about equally slow.
TWITTER = _workload(
    "twitter",
    {"parse": 30.0, "content": 30.0, "author": 30.0, "store": 30.0},
    (("parse", "content"), ("content", "author"), ("author", "store")),
    replicas=8,
    trace=tweets(),
    summary="Classifies tweets: 4 operators, three surges up to 256 events/s, r_over 32",
)

# From the paper: eight operators, a flow that is split by the kind of information, the same stream, r_over 40.
# Derived: 32 ms for an event that waits nowhere, over a path of five operators. Chosen: the shape of the graph.
COMPLEX = _workload(
    "twitter_complex",
    {
        "parse": 6.0,
        "kind": 6.0,
        "news": 6.0,
        "topics": 6.0,
        "opinions": 6.0,
        "sentiment": 6.0,
        "merge": 3.0,
        "store": 6.0,
    },
    (
        ("parse", "kind"),
        ("kind", "news"),
        ("kind", "opinions"),
        ("news", "topics"),
        ("opinions", "sentiment"),
        ("topics", "merge"),
        ("sentiment", "merge"),
        ("merge", "store"),
    ),
    replicas=5,
    trace=tweets(),
    summary="Splits tweets into news and opinions: 8 operators, r_over 40",
    selectivity={"kind": {"news": 0.4, "opinions": 0.6}},
)

# From the paper: four operators, r_over 12, a very restless stream that one replica of each nearly carries.
DNS = _workload(
    "dns",
    {"parse": 12.0, "resolve": 25.0, "classify": 25.0, "store": 12.0},
    (("parse", "resolve"), ("resolve", "classify"), ("classify", "store")),
    replicas=3,
    trace=dns(),
    summary="Classifies DNS queries: 4 operators, a restless stream, r_over 12",
)

WORKLOADS = (TWITTER, COMPLEX, DNS)
