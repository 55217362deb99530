"""Describes a job to simulate: how its operators behave, and what kind of engine runs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from penstock.model import Execution, FrozenMap, InvalidValueError, Plan, Topology, Worker
from penstock.model.errors import check_number, check_whole, unknown
from penstock.performance.placement import round_robin


class Grouping(StrEnum):
    """Which instance gets the next record."""

    BALANCED = "balanced"  # the one with the shortest queue: together the instances are one M/M/k queue
    UTILISATION = "utilisation"  # the one least utilised in this interval (PSPS, equation 5 and Algorithm 1)
    SHUFFLE = "shuffle"  # any one, at random: each instance is an M/M/1 queue
    KEYED = "keyed"  # the one that owns the record's key; keys differ in weight


class Overflow(StrEnum):
    """What happens to records that an operator cannot take."""

    BACK_PRESSURE = "back_pressure"  # bounded buffers: parents wait, and finally the source does (Flink, Spark)
    REPLAY = "replay"  # unbounded queues; what times out is replayed by the source (Storm)
    DROP = "drop"  # bounded queues: what does not fit, or times out, is lost (PSPS)


class Change(StrEnum):
    """What it costs to put another plan in force."""

    LIVE = "live"  # nothing: replicas wait in a pool, or the next batch takes the new plan
    RESTART = "restart"  # downtime; queues survive in the savepoint
    LOSSY_RESTART = "lossy_restart"  # downtime; queues are lost


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How one operator behaves.

    service_ms       time one instance spends on a record when it has its core to itself
    selectivity      records sent to each child for each record processed; by child where children differ
    variability      burstiness of arrivals and service, (ca² + cs²)/2; 1 is M/M/k, 0.5 is M/D/k
    coordination     part by which the service time grows with each further instance
    hop_ms           time to hand a record to this operator
    channel_ms       time added to that for each channel between two instances beyond one per instance
    rate_cap         records per second that an outside system lets through, whatever the parallelism
    grouping         which instance gets the next record: balanced, utilisation, shuffle or keyed
    key_skew         exponent of a Zipf law over the instances' weights under keyed grouping; 0 means equal weights
    busy_cores       cores that an instance at work really uses; None means as many as its operator claims
    state_keys       keys of the state that moves when the parallelism changes; 0 means none
    tasks            tasks of its stage in a micro-batch: k instances take ceil(tasks / k) rounds; None means that any
                     number of instances share the records evenly
    """

    service_ms: float
    selectivity: float | Mapping[str, float] = 1.0
    variability: float = 1.0
    coordination: float = 0.0
    hop_ms: float = 0.0
    channel_ms: float = 0.0
    rate_cap: float | None = None
    grouping: Grouping = Grouping.BALANCED
    key_skew: float = 0.0
    busy_cores: float | None = None
    state_keys: int = 0
    tasks: float | None = None

    def __post_init__(self) -> None:
        check_whole("state_keys", self.state_keys)
        check_number("service_ms", self.service_ms, 1e-9)
        for name in (
            "variability",
            "coordination",
            "hop_ms",
            "channel_ms",
            "rate_cap",
            "key_skew",
            "busy_cores",
            "tasks",
        ):
            check_number(name, getattr(self, name))
        shares = self.selectivity if isinstance(self.selectivity, Mapping) else {"": self.selectivity}
        for child, share in shares.items():
            check_number(f"selectivity {child}".rstrip(), share)

    def selectivity_to(self, child: str) -> float:
        if isinstance(self.selectivity, Mapping):
            return self.selectivity.get(child, 0.0)
        return self.selectivity


@dataclass(frozen=True, slots=True)
class Engine:
    """The system that runs a job.

    execution               whether operators run concurrently or sequentially
    overflow                what happens to records that do not fit: back_pressure, replay or drop
    change                  how a new plan is put in force: live, restart or lossy_restart
    queue_records           room in front of one instance, for back-pressure and drops
    timeout_seconds         age at which a record inside the job has failed; None means never
    grouping_seconds        interval in which grouping by utilisation counts what each instance did
    downtime_seconds        how long a restart takes
    network_ms              time between two workers
    entry_ms                time that a record is inside the job besides, whatever the plan: to be read and written
    slots_per_worker        slot sharing as in Flink: the j-th instance of every operator runs in slot j, and slots
                            fill one worker after the other; None means that instances are spread evenly
    batch_seconds           trigger interval of micro-batches
    batch_overhead_seconds  what each micro-batch costs on top of its records, while no instance works
    batch_work_seconds      what each micro-batch costs its instances on top of its records, shared between them
    noise                   relative deviation of service times from minute to minute; 0 means none
    """

    execution: Execution = Execution.CONCURRENT
    overflow: Overflow = Overflow.BACK_PRESSURE
    change: Change = Change.LIVE
    queue_records: int = 10_000
    timeout_seconds: float | None = None
    grouping_seconds: float = 30.0
    downtime_seconds: float = 0.0
    network_ms: float = 0.0
    entry_ms: float = 0.0
    slots_per_worker: int | None = None
    batch_seconds: float = 1.0
    batch_overhead_seconds: float = 0.1
    batch_work_seconds: float = 0.0
    noise: float = 0.0


@dataclass(frozen=True)
class Job:
    """Everything the simulator needs to know about a job.

    `workers` is empty where cores are never short. Saved resources are measured against the plan `over_provisioned`.
    """

    name: str
    topology: Topology
    behaviours: Mapping[str, Behaviour]
    engine: Engine = field(default_factory=Engine)
    workers: tuple[Worker, ...] = ()
    start: Plan | None = None
    over_provisioned: Plan | None = None

    def __post_init__(self) -> None:
        for name in self.behaviours:
            if name not in self.topology.names:
                raise InvalidValueError(f"job {self.name}: behaviours: operator", unknown(name, self.topology.names))
        for name in self.topology.names:
            if name not in self.behaviours:
                raise InvalidValueError(f"job {self.name}: behaviours", f"must contain operator {name}")
        for plan in (self.start, self.over_provisioned):
            if plan is not None:
                plan.check(self.topology)
        object.__setattr__(self, "behaviours", FrozenMap(self.behaviours))

    @property
    def first_plan(self) -> Plan:
        return self.start or Plan.smallest(self.topology)

    @property
    def largest_plan(self) -> Plan:
        return self.over_provisioned or Plan.largest(self.topology)

    def chained(self) -> Job:
        """The same job with operators that share the instances of the one in front of them, where both have as many
        and it does not matter which instance gets a record."""
        anywhere = (Grouping.BALANCED, Grouping.SHUFFLE)
        free = {name for name, each in self.behaviours.items() if each.grouping in anywhere}
        operators = tuple(replace(each, chained=each.name in free) for each in self.topology.operators)
        return replace(self, topology=replace(self.topology, operators=operators))

    def placed(self, plan: Plan) -> Plan:
        """The plan with the placement of the engine, if it has none of its own."""
        workers, slots = self.workers, self.engine.slots_per_worker
        if not workers or plan.placement is not None:
            return plan
        if slots is None:
            placement = round_robin(self.topology, plan.parallelism, workers)
        else:
            slot = [workers[j // slots % len(workers)].name for j in range(plan.widest)]
            placement = {name: tuple(slot[:k]) for name, k in plan.parallelism.items()}
        return Plan(plan.parallelism, plan.executors, placement)
