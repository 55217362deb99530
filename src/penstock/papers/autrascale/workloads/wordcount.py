"""WordCount on Flink: source, flat map, count, sink. Calibrated twice, as the paper's two settings differ."""

from __future__ import annotations

from penstock.load.curves import steps, surge
from penstock.model import Actuation, Operator, Plan, Slo, Topology, Worker
from penstock.runs.workload import ALSO_A_PIPELINE, Workload
from penstock.simulator.job import Behaviour, Change, Engine, Job

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

# The evaluation (AuTraScale, section V). From the paper: equation 3 ends at (3, 4, 12, 10) for 350k records/s, and
# count's 12 instances carry 405k. Derived: with a parent's output at its rounded parallelism, that leaves each rate a
# range of some hundredths; these lie in the middle, where the noise does not reach the next instance. The base misses
# 180 ms, and so does it with any one operator at its most; (7, 8, 12, 38) and (10, 16, 12, 10) meet it, as in Table II.
# Chosen: hops such that those two come out between 150 and 170 ms, and channels that make very many instances slower.
_EVALUATION = {
    "source": Behaviour(service_ms=1 / 124, variability=2200.0, coordination=0.001),
    "flat_map": Behaviour(service_ms=1 / 97, variability=1800.0, coordination=0.001, hop_ms=42.0, channel_ms=0.01),
    "count": Behaviour(service_ms=1 / 33.75, variability=1500.0, coordination=0.001, hop_ms=42.0, channel_ms=0.01),
    "sink": Behaviour(service_ms=1 / 42.6, variability=1000.0, coordination=0.001, hop_ms=42.0, channel_ms=0.01),
}

EVALUATION = Workload(
    job=Job(
        name="wordcount",
        topology=_topology(40),
        behaviours=_EVALUATION,
        engine=Engine(change=Change.RESTART, downtime_seconds=20.0, queue_records=4_000, noise=0.02),
        over_provisioned=Plan(dict.fromkeys(CHAIN, 14)),
    ),
    slo=Slo(processing_latency="180 ms"),
    trace=surge(120e3, 350e3, 7200.0),
    summary="WordCount on three large machines: 4 operators, throughput optimum (3, 4, 12, 10) at 350k records/s",
    source="AuTraScale (2021), section V; AuTraScale+ (2024)",
    runs_on=ALSO_A_PIPELINE,
)

WORKLOADS = (EVALUATION, CASE_STUDY)
