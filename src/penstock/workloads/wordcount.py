"""WordCount on Flink: source, flat map, count, sink. Calibrated twice, as the paper's two settings differ."""

from __future__ import annotations

from penstock.model import Actuation, Operator, Plan, Slo, Topology, Worker
from penstock.simulator.job import Behaviour, Change, Engine, Job
from penstock.workloads import Workload
from penstock.workloads.rates import steps, surge

CHAIN = ("source", "flat_map", "count", "sink")


def _topology(most: int) -> Topology:
    return Topology.chain(
        *(Operator(name, max=most, stateful=name == "count", actuation=Actuation.RESTART) for name in CHAIN)
    )


# The case studies (AuTraScale, section II). One instance of the slowest operator does 150k records/s. A second one
# brings it to 250k only, so each further instance costs a fifth in coordination; the third one shares its worker's six
# cores with the first two, which then carry 275k together; the fourth is on another worker. Buffers are handed over
# between all pairs of instances, so that latency is best at 5 and grows again at 6.
_CASE = {
    "source": Behaviour(service_ms=0.0020, coordination=0.2, variability=2500.0),
    "flat_map": Behaviour(service_ms=0.0039, coordination=0.2, variability=2500.0, hop_ms=1.5, channel_ms=1.2),
    "count": Behaviour(service_ms=1 / 150, coordination=0.2, variability=7000.0, hop_ms=1.5, channel_ms=1.2),
    "sink": Behaviour(service_ms=0.0030, coordination=0.2, variability=2500.0, hop_ms=1.5, channel_ms=1.2),
}

CASE_STUDY = Workload(
    job=Job(
        name="wordcount_case_study",
        topology=_topology(8),
        behaviours=_CASE,
        engine=Engine(
            change=Change.RESTART, downtime_seconds=20.0, queue_records=20_000, network_ms=0.2, slots_per_worker=3
        ),
        workers=tuple(Worker(f"worker-{n}", cores=6) for n in range(3)),
        start=Plan(dict.fromkeys(CHAIN, 2)),
    ),
    slo=Slo(processing_latency="150 ms"),
    trace=steps((100e3, 150e3, 200e3, 250e3, 300e3), 600.0, "rising"),
    summary="WordCount on three small workers: 4 operators, saturates at 150k, 250k, 275k records/s",
    source="AuTraScale (2021), section II, Fig. 1 and 2",
)

# The evaluation (AuTraScale, section V). True rates such that throughput optimisation at 350k records/s ends at
# (3, 4, 12, 10): equation 3 counts a parent's output at its rounded parallelism, so 3 sources ask for 3.6 flat maps,
# these 4 for 11.5 counts, these 12 for 9.5 sinks, each as far from the next instance as noise allows. DS2, which does
# not round on the way, needs about (3, 4, 9, 8). The base keeps up but misses 180 ms: sources and flat maps are nearly
# nine and eight tenths busy. Latency falls with parallelism while waiting dominates, and rises slowly with the
# number of channels, as it does from (10, 16, 12, 10) on in the paper's Table II.
_EVALUATION = {
    "source": Behaviour(service_ms=1 / 134, variability=4000.0, coordination=0.001),
    "flat_map": Behaviour(service_ms=1 / 112, variability=5000.0, coordination=0.001, hop_ms=45.0, channel_ms=0.004),
    "count": Behaviour(service_ms=1 / 39, variability=2500.0, coordination=0.001, hop_ms=45.0, channel_ms=0.004),
    "sink": Behaviour(service_ms=1 / 49, variability=2000.0, coordination=0.001, hop_ms=45.0, channel_ms=0.004),
}

EVALUATION = Workload(
    job=Job(
        name="wordcount",
        topology=_topology(40),
        behaviours=_EVALUATION,
        engine=Engine(change=Change.RESTART, downtime_seconds=20.0, queue_records=4_000, noise=0.02),
        start=Plan(dict.fromkeys(CHAIN, 1)),
        over_provisioned=Plan(dict.fromkeys(CHAIN, 14)),
    ),
    slo=Slo(processing_latency="180 ms"),
    trace=surge(120e3, 350e3, 7200.0),
    summary="WordCount on three large machines: 4 operators, throughput optimum (3, 4, 12, 10) at 350k records/s",
    source="AuTraScale (2021), section V; AuTraScale+ (2024)",
)

WORKLOADS = (EVALUATION, CASE_STUDY)
