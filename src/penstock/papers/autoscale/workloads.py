"""Four topologies on Storm: three elementary ones of quick and slow operators, and one that counts advertisements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from penstock.load.curves import fluctuating, steps
from penstock.load.trace import Trace
from penstock.model import Actuation, Operator, Plan, Slo, Topology, Worker
from penstock.runs.workload import ALSO_A_PIPELINE, Workload
from penstock.simulator.job import Behaviour, Change, Engine, Job, Overflow

# Items per second. The paper shows both streams as pictures without a scale. Derived: one sink does 12.5 items/s, so
# the low rate is one that minimal degrees carry; eight do 100, and the expert degrees of eight handle the highest load
# "without wasting resources". The sudden peak is "very high": even an operator that does 500 items/s is scaled out,
# for which replays must pile up, so it is more than eight sinks carry; and no more than they can make up for after the
# fall. Chosen: how long each step lasts.
LOW, MIDDLE, HIGH, VERY_HIGH = 8.0, 40.0, 90.0, 130.0
FLUCTUATION = 0.03  # small and irregular, says the paper; this size is chosen


def three_step(seed: int = 3) -> Trace:
    """The stream is low, climbs slowly, stays high and falls back to low within 100 s."""
    points = ((0.0, LOW), (300.0, LOW), (700.0, HIGH), (1300.0, HIGH), (1400.0, LOW), (1800.0, LOW))
    return fluctuating(Trace("3-step", tuple(t for t, _ in points), tuple(rate for _, rate in points)), 10.0,
                       FLUCTUATION, seed=seed)  # fmt: skip


def five_step(seed: int = 5) -> Trace:
    """The stream is low, and has two sudden peaks that nothing announces."""
    return fluctuating(steps((LOW, VERY_HIGH, LOW, MIDDLE, LOW), 360.0, "5-step"), 10.0, FLUCTUATION, seed=seed)


# From the paper: seven machines of two cores and 4 GB, one of them for the master, with four worker processes each (and
# no two threads of an operator in one process); items time out after 30 s and are sent again. Chosen: how long a
# rebalance interrupts the job, and what a hop between machines takes.
WORKERS = tuple(Worker(f"supervisor-{n}", cores=2.0, memory_mb=4096.0, slots=4) for n in range(1, 7))
ENGINE = Engine(
    overflow=Overflow.REPLAY, change=Change.RESTART, timeout_seconds=30.0, downtime_seconds=5.0, network_ms=1.0
)

# Table III: latency, degrees, CPU and memory of both kinds. Spouts are not scaled by the paper; that they cost as much
# as an intermediate operator and take 0.1 ms is chosen.
QUICK_MS, SLOW_MS = 2.0, 80.0
MOST = 8

# From the paper: a stream of small standard deviation and bolts of a set latency, so that little waits by chance.
# Chosen: how little. Derived: eight sinks on three machines (Fig. 9b) carry the highest load, so that a sink at work
# uses no more than two thirds of a core, whatever it claims.
VARIABILITY = 0.1
SLOW_BUSY_CORES = 0.6


def _spout(name: str) -> Operator:
    return Operator(name, max=1, actuation=Actuation.RESTART, cpu_cores=0.2, memory_mb=256.0)


def _quick(name: str) -> Operator:
    return Operator(name, max=MOST, actuation=Actuation.RESTART, cpu_cores=0.2, memory_mb=256.0)


def _slow(name: str, most: int = MOST) -> Operator:
    return Operator(name, max=most, stateful=True, actuation=Actuation.RESTART, cpu_cores=0.8, memory_mb=512.0)


def expert(topology: Topology) -> Plan:
    """The degrees that carry the highest load: one instance of each quick operator, and the most of each slow one."""
    return Plan({operator.name: operator.max if operator.cpu_cores > 0.5 else 1 for operator in topology.operators})


def _workload(
    name: str,
    operators: Sequence[Operator],
    edges: Sequence[tuple[str, str]],
    trace: Trace,
    summary: str,
    selectivity: Mapping[str, float] | None = None,
) -> Workload:
    topology = Topology(tuple(operators), tuple(edges))
    service = dict.fromkeys(topology.roots, 0.1)
    behaviours = {
        operator.name: Behaviour(
            service_ms=service.get(operator.name, SLOW_MS if operator.cpu_cores > 0.5 else QUICK_MS),
            selectivity=(selectivity or {}).get(operator.name, 1.0),
            variability=VARIABILITY,
            busy_cores=SLOW_BUSY_CORES if operator.cpu_cores > 0.5 else None,
        )
        for operator in operators
    }
    return Workload(
        job=Job(name, topology, behaviours, ENGINE, WORKERS, Plan.smallest(topology), expert(topology)),
        slo=Slo(processing_latency="2 s"),  # chosen: far above 82 ms of work, far below the time-out
        trace=trace,
        summary=summary,
        source="AUTOSCALE (2017), section V",
        runs_on=ALSO_A_PIPELINE,
    )


_LINE = (
    (_spout("spout"), _quick("intermediate"), _slow("sink")),
    (("spout", "intermediate"), ("intermediate", "sink")),
)

LINEAR = _workload("linear", *_LINE, three_step(), "A line on Storm: a quick operator, then a slow one; 3-step stream")
LINEAR_PEAKS = _workload(
    "linear_peaks", *_LINE, five_step(), "The same line under the sudden peaks of the 5-step stream"
)

# Chosen: each branch gets half of the stream, so that the sink sees what it sees in the line.
DIAMOND = _workload(
    "diamond",
    (_spout("spout"), _quick("left"), _quick("right"), _slow("sink")),
    (("spout", "left"), ("spout", "right"), ("left", "sink"), ("right", "sink")),
    three_step(),
    "A diamond on Storm: two quick operators side by side, one slow sink",
    {"spout": 0.5},
)

# Chosen: two spouts bring the whole stream each, two sinks get a quarter of the sum each, half as much as in the line:
# the paper's twelve cores would not carry two sinks of eight busy instances.
STAR = _workload(
    "star",
    (_spout("spout_1"), _spout("spout_2"), _quick("centre"), _slow("sink_1", MOST // 2), _slow("sink_2", MOST // 2)),
    (("spout_1", "centre"), ("spout_2", "centre"), ("centre", "sink_1"), ("centre", "sink_2")),
    three_step(),
    "A star on Storm: two spouts, a quick operator in the centre, two slow sinks",
    {"centre": 0.25},
)

# From the paper: the operators and how they are connected, a very selective filter, slow processors at the end.
# Chosen: which share passes the filter, so that the peak keeps one processor 86 % busy: never congested, nearly full.
# Derived: AUTOSCALE costs 12 % more there than needed, which is one processor doubled while the peak lasts, not two
# (23 % of the CPU). So a quarter of what is joined finds no campaign, and that processor is never nearly full.
ADVERTISING = _workload(
    "advertising",
    (
        _spout("spout"),
        _quick("deserialise"),
        _quick("filter"),
        _quick("ad_projection"),
        _quick("ip_projection"),
        _quick("join"),
        _slow("campaign_processor"),
        _slow("ip_processor"),
    ),
    (
        ("spout", "deserialise"),
        ("deserialise", "filter"),
        ("filter", "ad_projection"),
        ("filter", "ip_projection"),
        ("ad_projection", "join"),
        ("join", "campaign_processor"),
        ("ip_projection", "ip_processor"),
    ),
    three_step(),
    "Advertising topology on Storm: 7 operators behind the spout, a filter that lets 12 % pass",
    {"filter": 0.12, "join": 0.75},
)

WORKLOADS = (LINEAR, LINEAR_PEAKS, DIAMOND, STAR, ADVERTISING)
