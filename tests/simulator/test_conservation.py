"""No record is made or lost by the simulator: what went in came out, waits, or was dropped and counted."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.load.trace import Trace
from penstock.model import Execution, Plan, Slo, Topology
from penstock.simulator.arrays import Ints
from penstock.simulator.cluster import SimulatedCluster
from penstock.simulator.job import Behaviour, Change, Engine, Grouping, Job, Overflow
from strategies import plans, topologies


@st.composite
def jobs(draw: st.DrawFn) -> Job:
    """Any graph, with any mixture of speeds, selectivities, groupings and ways to overflow."""
    topology = draw(topologies(most=5))
    behaviours = {
        name: Behaviour(
            service_ms=draw(st.sampled_from([0.05, 1.0, 7.0, 80.0, 1500.0])),
            selectivity=draw(st.sampled_from([0.0, 0.3, 1.0, 2.7])),
            coordination=draw(st.sampled_from([0.0, 0.1])),
            rate_cap=draw(st.sampled_from([None, 40.0])),
            grouping=draw(st.sampled_from(Grouping)),
            key_skew=draw(st.sampled_from([0.0, 1.0])),
        )
        for name in topology.names
    }
    engine = Engine(
        execution=draw(st.sampled_from(Execution)),
        overflow=draw(st.sampled_from(Overflow)),
        change=draw(st.sampled_from(Change)),
        queue_records=draw(st.sampled_from([1, 30, 1000])),
        timeout_seconds=draw(st.sampled_from([None, 2.0])),
        downtime_seconds=draw(st.sampled_from([0.0, 3.0])),
        noise=draw(st.sampled_from([0.0, 0.2])),
    )
    return Job("any", topology, behaviours, engine, start=draw(plans(topology)))


@settings(max_examples=60, deadline=None)
@given(job=jobs(), data=st.data())
def test_every_record_is_accounted_for_at_every_step(job: Job, data: st.DataObject) -> None:
    rates = data.draw(st.lists(st.floats(0.0, 900.0), min_size=3, max_size=8), label="rates")
    trace = Trace("any", tuple(3.0 * i for i in range(len(rates))), tuple(rates))
    cluster = SimulatedCluster(job, trace, Slo(), seed=data.draw(st.integers(0, 9)), measure_seconds=1.0)
    while not cluster.over:
        cluster.advance(1.0)
        check_books(cluster, job.topology)
        if data.draw(st.booleans(), label="change"):
            cluster.apply(data.draw(plans(job.topology), label="plan"))
            check_books(cluster, job.topology)


def check_books(cluster: SimulatedCluster, topology: Topology) -> None:
    total, state = cluster.total, cluster.state
    queued: Ints = state.queue.sum(axis=1)
    assert (state.queue >= 0).all()
    assert (total.received == total.processed + queued + total.dropped).all()
    for i, name in enumerate(topology.order):
        sent_here = sum(
            int(count) for edge, count in zip(sorted_edges(topology), total.sent, strict=True) if edge[1] == name
        )
        taken_here = int(total.taken[topology.roots.index(name)]) if name in topology.roots else 0
        assert int(total.received[i]) == sent_here + taken_here
    assert int(total.offered.sum() + total.replayed[0]) == int(total.taken.sum() + state.backlog.sum())
    assert (state.cohort_count.clip(min=0).sum(axis=1) >= state.backlog).all()


def sorted_edges(topology: Topology) -> list[tuple[str, str]]:
    """Edges in the order of the simulator's arrays."""
    return sorted(topology.edges, key=lambda edge: (topology.order.index(edge[0]), topology.order.index(edge[1])))


def test_arrivals_add_up_to_the_area_under_the_curve() -> None:
    job = Job("one", Topology.chain("a"), {"a": Behaviour(service_ms=0.001)})
    cluster = SimulatedCluster(job, Trace("ramp", (0.0, 1000.0), (0.0, 10.0)), Slo())
    cluster.advance(1000.0)
    assert int(cluster.total.offered.sum()) == 5000


def test_the_same_seed_gives_the_same_run_byte_for_byte_and_another_does_not() -> None:
    def trajectory(seed: int) -> bytes:
        job = Job(
            "noisy",
            Topology.chain("a", "b"),
            {"a": Behaviour(service_ms=1.0), "b": Behaviour(service_ms=1.9)},
            Engine(noise=0.1),
        )
        cluster = SimulatedCluster(job, Trace("flat", (0.0, 600.0), (500.0, 500.0)), Slo(), seed=seed)
        cluster.advance(300.0)
        cluster.apply(Plan({"a": 2, "b": 3}))
        cluster.advance(300.0)
        return b"".join(np.ascontiguousarray(array).tobytes() for array in cluster.total)

    assert trajectory(7) == trajectory(7)
    assert trajectory(7) != trajectory(8)
