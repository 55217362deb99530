"""What the stories of AuTraScale share: a small job that answers by formula, and the course of a run."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar

from penstock.control.think import think
from penstock.guards import Guard
from penstock.model import (
    Cycle,
    Decision,
    Latency,
    Mode,
    Observation,
    Operator,
    OperatorSample,
    Plan,
    ReasonCode,
    Sample,
    Slo,
    Topology,
)
from penstock.policies import Policy
from penstock.policies.autrascale import AuTraScale

WINDOW = 60.0


@dataclass
class Job:
    """A line of operators whose instances each process `speeds` records per second, and a backlog before them.

    Latency is `base_ms`, and `work_ms` of each operator (at the rate of `nominal`, and in proportion at others)
    shared by its instances. Throughput never exceeds `cap`, which stands for a store outside.
    """

    speeds: tuple[float, ...]
    rate: float
    work_ms: tuple[float, ...] = ()
    nominal: float = 150.0
    base_ms: float = 20.0
    cap: float = float("inf")
    ceiling: int = 40
    backlog: float = 0.0
    crowding: float = 0.0
    full_ms: float = 0.0  # what full buffers add while a backlog is worked off
    t: float = 0.0
    plan: Plan = field(init=False)
    topology: Topology = field(init=False)

    def __post_init__(self) -> None:
        names = [f"op{i}" for i in range(len(self.speeds))]
        operators = tuple(Operator(name, max=self.ceiling) for name in names)
        self.topology = Topology(operators, tuple(pairwise(names)))
        self.plan = Plan(dict.fromkeys(names, 1))
        self.work_ms = self.work_ms or (100.0,) * len(self.speeds)

    def set(self, *parallelism: int) -> Job:
        self.plan = Plan(dict(zip(self.topology.names, parallelism, strict=True)))
        return self

    @property
    def configuration(self) -> tuple[int, ...]:
        return tuple(self.plan[name] for name in self.topology.names)

    def speed(self, i: int) -> float:
        return self.speeds[i] / (1.0 + self.crowding * (self.configuration[i] - 1))

    @property
    def capacity(self) -> float:
        return min(self.cap, *(k * self.speed(i) for i, k in enumerate(self.configuration)))

    def run(self, seconds: float = WINDOW) -> Sample:
        before = self.backlog
        throughput = min(self.capacity, self.rate + before / seconds)
        self.backlog = max(0.0, before + (self.rate - throughput) * seconds)
        self.t += seconds
        work = sum(w / k for w, k in zip(self.work_ms, self.configuration, strict=True))
        latency = self.base_ms + work * self.rate / self.nominal + (self.full_ms if self.backlog else 0.0)
        waiting = 1e3 * (before + self.backlog) / 2 / throughput
        operators = {
            name: OperatorSample(
                parallelism=self.plan[name],
                records_in=throughput * seconds,
                records_out=throughput * seconds,
                useful_seconds=throughput * seconds / self.speed(i),
            )
            for i, name in enumerate(self.topology.names)
        }
        return Sample(
            t=self.t - seconds, seconds=seconds, operators=operators, input_rate=self.rate, throughput=throughput,
            backlog=self.backlog, processing_latency_ms=Latency(mean=latency),
            event_latency_ms=Latency(mean=latency + waiting),
        )  # fmt: skip


@dataclass
class Story:
    """A policy steering a job, one decision for each window."""

    job: Job
    policy: Policy
    slo: Slo
    guards: tuple[Guard, ...] = ()
    reborn: Callable[[Policy], Policy] = lambda policy: policy
    samples: list[Sample] = field(default_factory=list)
    history: list[Cycle] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)

    def observe(self) -> Observation:
        return Observation(
            t=self.job.t, topology=self.job.topology, slo=self.slo, plan=self.job.plan,
            samples=tuple(self.samples), history=tuple(self.history),
        )  # fmt: skip

    def turn(self) -> Decision:
        self.samples.append(self.job.run())
        self.policy = self.reborn(self.policy)
        decision = think(self.policy, self.guards, self.observe(), 1)
        decision.plan.check(self.job.topology)
        assert all(1 <= k <= self.job.ceiling for k in decision.plan.parallelism.values())
        json.dumps(decision.figures, default=dict)  # plain values only
        self.history.append(
            Cycle(t=self.job.t, mode=Mode.ACTIVE, before=self.job.plan, decision=decision, applied=True)
        )
        self.decisions.append(decision)
        self.job.plan = decision.plan
        return decision

    def until(self, phase: str, most: int = 60) -> int:
        """Turns until a decision of that phase."""
        for turns in range(1, most + 1):
            if self.turn().figures["phase"] == phase:
                return turns
        raise AssertionError(f"no {phase} in {most} turns: {[d.reason for d in self.decisions[-3:]]}")

    @property
    def tried(self) -> list[tuple[int, ...]]:
        return [tuple(decision.plan[name] for name in self.job.topology.names) for decision in self.decisions]


def through_json(policy: Policy) -> Policy:
    """The same policy in another process."""
    assert isinstance(policy, AuTraScale)
    options = {name: getattr(policy, name) for name in ("seed", "uniform_samples", "num", "policy_running_time")}
    other = type(policy)(**options)
    other.restore(json.loads(json.dumps(policy.state())))
    assert other == policy
    return other


LATENCY_JOB = {"speeds": (100.0, 50.0, 40.0), "rate": 150.0, "work_ms": (100.0, 400.0, 250.0), "ceiling": 20}
LATENCY_SLO = Slo(processing_latency="125 ms")


def latency_job(**changes: object) -> Job:
    return Job(**{**LATENCY_JOB, **changes})  # type: ignore[arg-type]


@dataclass(frozen=True)
class AtMost(Guard):
    """A guard with a quota: it grants nothing beyond `k` instances of any operator."""

    k: int
    name: ClassVar[str] = "quota"

    def vet(self, decision: Decision, observation: Observation) -> Decision:
        smaller = decision.plan.changed({name: min(k, self.k) for name, k in decision.plan.parallelism.items()})
        if smaller == decision.plan:
            return decision
        return decision.vetted("quota", ReasonCode.QUOTA, f"at most {self.k}", smaller)
