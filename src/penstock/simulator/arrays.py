"""The job as arrays, for the compiled inner loop. Operators are numbered in topological order.

n, e, w, r   operators, edges, workers, roots
m            the largest parallelism of any operator
l            steps until a record has surely timed out
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple, TypeVar, get_type_hints

import numpy as np
import numpy.typing as npt

from penstock.model import Plan
from penstock.simulator.job import Grouping, Job, Overflow

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

T = TypeVar("T")

GROUPINGS = (Grouping.BALANCED, Grouping.SHUFFLE, Grouping.KEYED, Grouping.UTILISATION)
BALANCED, SHUFFLE, KEYED, UTILISATION = range(4)
OVERFLOWS = (Overflow.BACK_PRESSURE, Overflow.REPLAY, Overflow.DROP)
BACK_PRESSURE, REPLAY, DROP = range(3)

COHORTS = 4096  # the backlog is kept in at most this many groups of records of about one age
BINS_PER_E_FOLD = 50.0  # a latency bin is 2 % wide
SMALLEST_MS = 0.01
BATCH = 5  # entries of State.batch
FINISHED = 4  # entries of State.finished
BINS = 1280  # from 0.01 ms to four years


class Network(NamedTuple):
    """The job's graph and engine, which never change while it runs."""

    root: Ints  # (r,) operators without a parent
    edge_parent: Ints  # (e,) sorted by parent
    edge_child: Ints  # (e,)
    edge_selectivity: Floats  # (e,)
    first_out: Ints  # (n + 1,) edges first_out[i] .. first_out[i + 1] leave operator i
    into: Ints  # (e,) edges sorted by child
    first_in: Ints  # (n + 1,) edges into[first_in[i]] .. enter operator i
    service: Floats  # (n,) seconds a record
    variability: Floats  # (n,)
    coordination: Floats  # (n,)
    hop: Floats  # (n,) seconds
    channel: Floats  # (n,) seconds
    rate_cap: Floats  # (n,) records a second, inf where there is none
    grouping: Ints  # (n,)
    cpu: Floats  # (n,) cores that a busy instance uses
    tasks: Floats  # (n,) tasks of a stage in a micro-batch, 0 where any number of instances share the records evenly
    visits: Floats  # (n,) records that reach an operator for each one that enters the job
    home: Ints  # (n,) the parent by which a record that timed out here is traced to its source; -1 at a root
    home_visits: Floats  # (n,) records that reach an operator for each one that enters at that source
    cores: Floats  # (w,)
    leaf_visits: float  # records that leave the job for each one that enters
    overflow: int
    queue_records: float
    timeout: float  # seconds; inf means never
    grouping_seconds: float  # of the interval for grouping by utilisation; 0 where no operator has it
    network_delay: float  # seconds
    batch_seconds: float
    batch_overhead: float  # seconds
    batch_work: float  # seconds of one instance


class Layout(NamedTuple):
    """Parallelism and placement, which follow from a plan."""

    parallelism: Ints  # (n,)
    weight: Floats  # (n, m) share of an operator's records that an instance gets under keyed grouping
    worker: Ints  # (n, m) where each instance runs; -1 means on a core of its own
    remote: Floats  # (e,) probability that a record goes from one worker to another
    share: Floats  # (n,) part of the time of its instances that is an operator's own; 1 unless others share them
    follows: Ints  # (n,) 1 where an operator shares the instances of the one in front of it
    entry: Floats  # (n,) seconds inside the job before a root has a record


class State(NamedTuple):
    """Where the records are, and everything else that is kept from step to step."""

    queue: Annotated[Ints, "n", "m"]  # records waiting in front of each instance
    credit: Annotated[Floats, "n", "m"]  # part of a record that an instance has already worked on
    turn: Annotated[Ints, "n"]  # the instance that gets the next odd record
    carry: Annotated[Floats, "e"]  # part of a record still to be sent to a child
    flow: Annotated[Floats, "e"]  # records that took this edge in the last step
    speed: Annotated[Floats, "w"]  # share of a core that a busy instance gets
    wait: Annotated[Floats, "n"]  # mean stochastic wait, seconds
    age: Annotated[Floats, "n", 3]  # mean age on arrival, seconds: inside the job, its random part, in the source
    owed: Annotated[Floats, "r"]  # part of a record still to be replayed
    backlog: Annotated[Ints, "r"]  # records in the source
    cohort_count: Annotated[Ints, "r", COHORTS]  # the backlog by age, oldest at cohort_first
    cohort_time: Annotated[Floats, "r", COHORTS]  # mean creation time
    cohort_first: Annotated[Ints, "r"]
    cohort_size: Annotated[Ints, "r"]  # cohorts in use
    batch: Annotated[Floats, BATCH]  # the micro-batch under way: see `sequential`
    finished: Annotated[Floats, FINISHED]  # the micro-batch that ended last: see `sequential`
    noise: Annotated[Floats, "n"]  # log of the present factor on service times


class Waiting(NamedTuple):
    """When the records that wait came, where records may time out; and whose turn it is, by utilisation.

    It is apart from the state since most jobs need none of it, and every call of the inner loop hands on all arrays.
    """

    replays: Annotated[Ints, "r"]  # records that failed in the last step, which the source sends again in the next one
    entry: Annotated[Ints, 1]  # the entry of the present step where something is kept by step
    queued: Annotated[Ints, "n", "m"]  # records in front of each instance when the step began
    arrived: Annotated[Ints, "n", "m"]  # records that ever came to each instance, where records may time out
    arrived_by: Annotated[Ints, "n", "m", "l"]  # the same at the end of each of the last steps
    entered: Annotated[Floats, "n", "l"]  # when the records that came in each of these steps entered the job
    late: Annotated[Ints, "n"]  # the newest entry whose records are late by now, those before it included
    given: Annotated[Ints, "n", "m"]  # utilisation in records: processed in the last interval, and given in this one
    worked: Annotated[Ints, "n", "m"]  # records that each instance processed in this interval
    interval: Annotated[Floats, 1]  # seconds of this interval that have passed


class Scratch(NamedTuple):
    """Arrays that hold intermediate results of one step."""

    service: Annotated[Floats, "n"]  # seconds a record, with noise and coordination
    seconds: Annotated[Floats, "n", "m"]  # the same for each instance, slowed by its worker's load and by rate caps
    capacity: Annotated[Ints, "n", "m"]  # records that an instance can finish
    busy: Annotated[Floats, "n", "m"]  # seconds that it had work
    allowance: Annotated[Ints, "n"]  # records that an operator may still receive
    incoming: Annotated[Ints, "n"]
    ages: Annotated[Floats, "n", 3]  # sums of which State.age holds the means
    runnable: Annotated[Floats, "w"]  # cores asked for
    pushed: Annotated[Ints, "r"]  # records of this step that are in the source already
    finished: Annotated[Ints, "n", "m"]  # records that an instance finished
    failed: Annotated[Floats, "n"]  # source records that timed out here or further down in this step


class Tally(NamedTuple):
    """Counts and sums since the tally was last cleared."""

    received: Annotated[Ints, "n"]
    processed: Annotated[Ints, "n"]
    emitted: Annotated[Ints, "n"]  # records sent to the child that got the most; at a leaf, records that left
    dropped: Annotated[Ints, "n"]  # lost or timed out in front of an operator
    sent: Annotated[Ints, "e"]
    busy: Annotated[Floats, "n"]  # seconds
    sojourn: Annotated[Floats, "n"]  # seconds, summed over processed records
    offered: Annotated[Ints, "r"]  # records created
    taken: Annotated[Ints, "r"]  # records that entered the job
    replayed: Annotated[Ints, 1]
    left: Annotated[Floats, 3]  # records that left the job; their processing and event latency, summed, seconds
    processing: Annotated[Floats, BINS]  # records by processing latency
    event: Annotated[Floats, BINS]  # records by event latency
    seconds: Annotated[Floats, 4]  # simulated seconds; seconds in violation; sum of |in - out|; sum of in


class Arrays(NamedTuple):
    """All that an inner loop reads and writes."""

    network: Network
    layout: Layout
    state: State
    waiting: Waiting
    tally: Tally
    scratch: Scratch


def network_of(job: Job) -> Network:
    topology, engine = job.topology, job.engine
    order = topology.order
    index = {name: i for i, name in enumerate(order)}
    edges = sorted((index[p], index[c]) for p, c in topology.edges)
    parent = np.array([p for p, _ in edges], dtype=np.int64)
    child = np.array([c for _, c in edges], dtype=np.int64)
    selectivity = np.array([job.behaviours[order[p]].selectivity_to(order[c]) for p, c in edges], dtype=np.float64)

    def column(field: str, scale: float = 1.0, missing: float = 0.0) -> Floats:
        values = (getattr(job.behaviours[name], field) for name in order)
        return np.array([missing if value is None else value * scale for value in values], dtype=np.float64)

    roots = [index[name] for name in topology.roots]
    visits, home = np.zeros(len(order)), np.full(len(order), -1, dtype=np.int64)
    visits[roots] = 1.0 / len(roots)
    by_root = np.zeros((len(roots), len(order)))
    by_root[range(len(roots)), roots] = 1.0
    for (p, c), share in zip(edges, selectivity, strict=True):
        visits[c] += visits[p] * share
        by_root[:, c] += by_root[:, p] * share
        home[c] = p
    source = list(range(len(order)))  # of each operator, the root that it is traced to
    for i in range(len(order)):
        source[i] = i if home[i] < 0 else source[home[i]]
    home_visits = np.array([by_root[roots.index(root), i] for i, root in enumerate(source)])
    grouping = np.array([GROUPINGS.index(job.behaviours[name].grouping) for name in order], dtype=np.int64)
    return Network(
        root=np.array(roots, dtype=np.int64),
        edge_parent=parent,
        edge_child=child,
        edge_selectivity=selectivity,
        first_out=np.searchsorted(parent, np.arange(len(order) + 1)).astype(np.int64),
        into=np.argsort(child, kind="stable").astype(np.int64),
        first_in=np.searchsorted(np.sort(child), np.arange(len(order) + 1)).astype(np.int64),
        service=column("service_ms", 1e-3),
        variability=column("variability"),
        coordination=column("coordination"),
        hop=column("hop_ms", 1e-3),
        channel=column("channel_ms", 1e-3),
        rate_cap=column("rate_cap", missing=np.inf),
        grouping=grouping,
        cpu=np.array([_cores_at_work(job, name) for name in order], dtype=np.float64),
        tasks=column("tasks"),
        visits=visits,
        home=home,
        home_visits=home_visits,
        cores=np.array([worker.cores for worker in job.workers], dtype=np.float64),
        leaf_visits=float(sum(visits[index[name]] for name in topology.leaves)),
        overflow=OVERFLOWS.index(engine.overflow),
        queue_records=float(engine.queue_records),
        timeout=np.inf if engine.timeout_seconds is None else engine.timeout_seconds,
        grouping_seconds=engine.grouping_seconds if (grouping == UTILISATION).any() else 0.0,
        network_delay=engine.network_ms * 1e-3,
        batch_seconds=engine.batch_seconds,
        batch_overhead=engine.batch_overhead_seconds,
        batch_work=engine.batch_work_seconds,
    )


def _cores_at_work(job: Job, name: str) -> float:
    used = job.behaviours[name].busy_cores
    return job.topology[name].cpu_cores if used is None else used


def layout_of(job: Job, plan: Plan, network: Network) -> Layout:
    """The arrays of a plan; without a placement, every instance has a core of its own."""
    order = job.topology.order
    m = max(job.topology[name].max for name in order)
    m = max(m, plan.widest)
    worker_index = {worker.name: i for i, worker in enumerate(job.workers)}
    weight = np.zeros((len(order), m))
    worker = np.full((len(order), m), -1, dtype=np.int64)
    for i, name in enumerate(order):
        k = plan[name]
        zipf = 1.0 / np.arange(1, k + 1) ** job.behaviours[name].key_skew
        weight[i, :k] = zipf / zipf.sum()
        if plan.placement is not None and worker_index:
            worker[i, :k] = [worker_index[at] for at in plan.placement[name]]
    remote = np.zeros(len(network.edge_parent))
    for edge, (p, c) in enumerate(zip(network.edge_parent, network.edge_child, strict=True)):
        remote[edge] = _remote_probability(worker[p, : plan[order[p]]], worker[c, : plan[order[c]]])
    parallelism = np.array([plan[name] for name in order], dtype=np.int64)
    share, follows = np.ones(len(order)), np.zeros(len(order), dtype=np.int64)
    if job.topology.may_chain:
        index = {name: i for i, name in enumerate(order)}
        for chain in job.topology.chains(plan.parallelism):
            ids = [index[name] for name in chain]
            work = (
                network.visits[ids] * network.service[ids] * (1.0 + network.coordination[ids] * (parallelism[ids] - 1))
            )
            if work.sum() > 0.0:
                share[ids] = np.maximum(work / work.sum(), 1e-9)  # of one that no record reaches, next to nothing
            follows[ids[1:]] = 1
    return Layout(parallelism, weight, worker, remote, share, follows, _entry(job, plan))


def _entry(job: Job, plan: Plan) -> Floats:
    """Where tasks read for a root, they hand its records on to it."""
    entry = np.zeros(len(job.topology.order))
    for i, name in enumerate(job.topology.order):
        if not job.topology.parents[name]:
            read_for = job.topology[name].readers not in (0, plan[name])
            entry[i] = 1e-3 * (job.engine.entry_ms + (job.behaviours[name].hop_ms if read_for else 0.0))
    return entry


def _remote_probability(senders: Ints, receivers: Ints) -> float:
    if senders.min() < 0 or receivers.min() < 0:
        return 0.0
    most = int(max(senders.max(), receivers.max())) + 1
    here, there = np.bincount(senders, minlength=most), np.bincount(receivers, minlength=most)
    return 1.0 - float((here / here.sum()) @ (there / there.sum()))


def zeros(kind: type[T], network: Network, m: int = 1, dt: float = 1.0) -> T:
    """A state, scratch or tally in which every array has the shape of its annotation and is filled with 0."""
    sizes = {
        "n": len(network.service), "e": len(network.edge_parent), "w": len(network.cores), "r": len(network.root),
        "m": m, "l": math.ceil(network.timeout / dt) + 2 if network.timeout < np.inf else 1,
    }  # fmt: skip
    arrays = []
    for hint in get_type_hints(kind, include_extras=True).values():
        shape = [sizes.get(size, size) for size in hint.__metadata__]
        arrays.append(np.zeros(shape, dtype=np.int64 if hint.__origin__ == Ints else np.float64))
    return kind(*arrays)


def clear(tally: Tally) -> None:
    for counts in tally:
        counts.fill(0)


def add(total: Tally, window: Tally) -> None:
    for sums, counts in zip(total, window, strict=True):
        np.add(sums, counts, out=sums)
