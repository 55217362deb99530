"""Tweets and DNS queries on a Storm whose replicas wait in a pool: three applications, one also with raw input."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from penstock.load.curves import constant, fluctuating
from penstock.load.trace import Trace
from penstock.model import Operator, Plan, Slo, Topology
from penstock.runs.workload import ALSO_A_PIPELINE, Workload
from penstock.simulator.job import Behaviour, Change, Engine, Grouping, Job, Overflow

# From the paper: a queue holds 100,000 events, one older than 30 s has failed, a change wakes replicas up and costs
# nothing, and each event goes to the replica that is least utilised in the interval of 30 s. Chosen: how long a system
# without a pool takes to restart.
ENGINE = Engine(
    overflow=Overflow.DROP, change=Change.LIVE, queue_records=100_000, timeout_seconds=30.0, downtime_seconds=4.0
)
POOL = 3
"""The pool holds so many times r_over: the paper saw more replicas awake than r_over while queues were worked off."""

DNS_MEAN, DNS_DEVIATION, DNS_EVERY = 28.0, 0.6, 60.0  # events/s, of the logarithm, s
TWEETS_LOW, SECONDS = 375.0, 1100
TWEETS_PEAKS = ((200.0, 2850.0, 52.0), (500.0, 2850.0, 52.0), (900.0, 3465.0, 58.0))  # s, events/s above the low, s
RAW_EVERY, RAW_DEVIATION = 10.0, 0.6  # s, of the logarithm


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


def raw_tweets(seed: int = 0, deviation: float = RAW_DEVIATION) -> Trace:
    """The same stream before it was smoothed: log-normal around it, by a seeded generator.

    Chosen: deviation, and ten seconds between points, so that it changes within an interval of 30 s.
    """
    return replace(fluctuating(tweets(), RAW_EVERY, deviation, seed), name="raw_tweets")


def dns(seed: int = 4, mean: float = DNS_MEAN, deviation: float = DNS_DEVIATION, every: float = DNS_EVERY) -> Trace:
    """DNS queries: restless from one moment to the next, log-normal around a constant, by a seeded generator.

    Derived: one replica of each operator loses a few hundredths. Chosen: mean, deviation, and a minute between points.
    """
    return fluctuating(constant(mean, 1200.0), every, deviation, seed)


def _workload(
    name: str,
    service_ms: Mapping[str, float],
    edges: tuple[tuple[str, str], ...],
    replicas: int,
    trace: Trace,
    summary: str,
    selectivity: Mapping[str, float | Mapping[str, float]] | None = None,
    hop_ms: float = 1.0,
) -> Workload:
    """`replicas` of each operator are r_over; `hop_ms` is the way from one operator to the next."""
    names = tuple(service_ms)
    return Workload(
        job=Job(
            name=name,
            topology=Topology(tuple(Operator(each, max=POOL * replicas) for each in names), edges),
            behaviours={
                each: Behaviour(
                    service_ms=service_ms[each],
                    selectivity=(selectivity or {}).get(each, 1.0),
                    hop_ms=hop_ms,
                    grouping=Grouping.UTILISATION,
                )
                for each in names
            },
            engine=ENGINE,
            over_provisioned=Plan(dict.fromkeys(names, replicas)),
        ),
        slo=Slo(processing_latency="5 s"),  # chosen: above the paper's mean of 2.1 s, well below the time-out
        trace=trace,
        summary=summary,
        source="PSPS (2022), section V",
        runs_on=ALSO_A_PIPELINE,
    )


# Derived: one replica whose queue of 100,000 stays full shows a latency of 197 s, so an event takes about 2 ms; with
# eight replicas nothing waits and a tweet takes 154 ms, so the rest is its way; and with 44 % of r_over awake on
# average, the same share as the load, the four must be about equally slow.
TWITTER = _workload(
    "twitter",
    {"parse": 2.0, "content": 2.0, "author": 2.0, "store": 2.0},
    (("parse", "content"), ("content", "author"), ("author", "store")),
    replicas=8,
    trace=tweets(),
    summary="Classifies tweets: 4 operators, three surges up to 3,840 events/s, r_over 32",
    hop_ms=48.0,
)

# From the paper: the same application and r_over; only the stream differs.
RAW = replace(
    TWITTER,
    job=replace(TWITTER.job, name="twitter_raw"),
    trace=raw_tweets(),
    summary="Classifies tweets as they come: the stream of twitter, not smoothed",
)

# From the paper: eight operators, a flow that is split by the kind of information, the same stream, r_over 40.
# Derived: a quarter of r_over awake on average, hence the service times; 32 ms for an event that waits nowhere, over a
# path of six operators. Chosen: the shape of the graph.
COMPLEX = _workload(
    "twitter_complex",
    {
        "parse": 0.4,
        "kind": 0.4,
        "news": 0.4,
        "topics": 0.4,
        "opinions": 0.4,
        "sentiment": 0.4,
        "merge": 0.2,
        "store": 0.4,
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
    hop_ms=6.0,
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

WORKLOADS = (TWITTER, RAW, COMPLEX, DNS)
