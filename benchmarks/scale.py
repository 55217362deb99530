"""How what Penstock costs grows: with operators, jobs, cycles in a store and series.

Milliseconds are CPU time of one core. `exponent` is the power with which they grow from the row before: 1 is linear.
"""

from __future__ import annotations

import json
import math
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sql
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import generate_latest

from penstock.control.controller import Controller
from penstock.control.loop import Loop, Settings
from penstock.control.ports import Store
from penstock.dashboard import answers
from penstock.guards import chain
from penstock.metrics.job_figures import JobFigures
from penstock.metrics.server import JobCollector
from penstock.model import Latency, Operator, OperatorSample, Plan, Sample, Slo, Topology
from penstock.policies import POLICIES
from penstock.stores.history import History
from penstock.stores.memory import MemoryStore
from penstock.stores.sql import SqlStore
from penstock.stores.tables import cycles as cycle_table
from penstock.stores.tables import points as point_table

OPERATORS = (10, 100, 1_000)
JOBS = (1, 10, 100, 1_000)
INTERVAL_SECONDS = 10.0
DAYS = (1, 30, 365)
TWO_YEARS = timedelta(days=730)
BEGAN = 1.8e9

Measure = Callable[[int], tuple[float, float | None]]
"""Milliseconds, and kilobytes where that means something, of so many."""


@dataclass(frozen=True)
class Growth:
    what: str
    of: str
    count: int
    ms: float
    exponent: float | None
    kilobytes: float | None = None


class Wave:
    """A job without a cluster: monitor, actuator and clock. Its load goes up and down with the hours."""

    def __init__(self, operators: int, seconds: float = INTERVAL_SECONDS) -> None:
        self.names = tuple(f"operator{number}" for number in range(operators))
        self.t, self.seconds = BEGAN, seconds
        self.in_force = Plan(dict.fromkeys(self.names, 4))

    def now(self) -> float:
        return self.t

    def plan(self) -> Plan:
        return self.in_force

    def apply(self, plan: Plan) -> None:
        self.in_force = plan

    def read(self) -> Sequence[Sample]:
        rate = 1_000.0 + 600.0 * math.sin(self.t / 3_600)
        records = rate * self.seconds
        operators = {
            name: OperatorSample(
                self.in_force[name], records, records, 0.002 * records, 4 * self.seconds, queue=0.0, latency_ms=2.0
            )
            for name in self.names
        }
        window = Sample(
            t=self.t - self.seconds, seconds=self.seconds, operators=operators, input_rate=rate, throughput=rate,
            backlog=0.0, processing_latency_ms=Latency(80.0, 70.0, 150.0, 200.0),
            event_latency_ms=Latency(100.0, 90.0, 200.0, 300.0),
        )  # fmt: skip
        return [window]

    def loop(self, policy: str, store: Store | None = None) -> Loop:
        return Loop(
            topology=Topology.chain(*(Operator(name, max=40) for name in self.names)), slo=Slo(event_latency="500 ms"),
            policy=POLICIES.create(policy), monitor=self, actuator=self, store=store or MemoryStore(), clock=self,
            guards=chain(), settings=Settings(interval_seconds=self.seconds, policy_limit_seconds=None),
        )  # fmt: skip

    def cycle(self, loop: Loop) -> Any:
        self.t += self.seconds
        return loop.run_once()


def rows() -> Iterator[Growth]:
    for policy in ("predictive", "ds2"):
        yield from _grown("a cycle", f"operators, {policy}", OPERATORS, partial(_cycle_ms, policy=policy))
    yield from _grown("reading the topology", "operators", OPERATORS, _topology_ms)
    yield from _grown("a scrape of Prometheus", "jobs of ten operators", JOBS[:3], _scrape_ms)
    yield from _grown("the list of jobs on the page", "jobs", JOBS[:3], _jobs_ms)
    yield from _years()


def _grown(what: str, of: str, counts: Sequence[int], measure: Measure) -> Iterator[Growth]:
    before: tuple[int, float] | None = None
    for count in counts:
        ms, kilobytes = measure(count)
        exponent = None if before is None else round(math.log(ms / before[1]) / math.log(count / before[0]), 2)
        before = (count, ms)
        yield Growth(what, of, count, round(ms, 3), exponent, kilobytes)


def cpu_ms(work: Callable[[], Any], rounds: int = 5) -> float:
    """The least of some rounds: others are disturbed."""
    best = math.inf
    for _ in range(rounds):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return 1e3 * best


def _cycle_ms(operators: int, policy: str) -> tuple[float, float | None]:
    job = Wave(operators)
    loop = job.loop(policy)
    for _ in range(20):
        job.cycle(loop)
    return cpu_ms(lambda: job.cycle(loop), rounds=10), None


def _topology_ms(operators: int) -> tuple[float, float | None]:
    names = [f"operator{number}" for number in range(operators)]
    return cpu_ms(lambda: Topology.chain(*names).leaves), None


def _scrape_ms(jobs: int) -> tuple[float, float | None]:
    collector, registry = JobCollector(), CollectorRegistry()
    registry.register(collector)
    for number in range(jobs):
        job = Wave(10)
        loop = job.loop("ds2")
        figures = JobFigures("app-1", f"query{number}", Controller(loop))
        collector.add(figures)
        figures(job.cycle(loop))
    return cpu_ms(lambda: generate_latest(registry)), round(len(generate_latest(registry)) / 1e3, 1)


def _jobs_ms(jobs: int) -> tuple[float, float | None]:
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder, 'penstock.db')}"
        for number in range(jobs):
            with closing(SqlStore(url, f"query{number}")) as store:
                job = Wave(10)
                loop = job.loop("ds2", store)
                for _ in range(10):
                    job.cycle(loop)
        with closing(History(url)) as history:
            size = len(json.dumps(answers.jobs(history)))
            return cpu_ms(lambda: answers.jobs(history)), round(size / 1e3, 1)


def _years() -> Iterator[Growth]:
    """One job of three operators that decides every half minute; the cycles of an hour are repeated by the database."""
    found: dict[str, list[tuple[int, float, float | None]]] = {}
    for days in DAYS:
        count = round(days * 86_400 / 30)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "penstock.db")
            for what, ms, kilobytes in _of_a_store(f"sqlite:///{file}", count):
                found.setdefault(what, []).append((count, ms, kilobytes))
    for what, each in found.items():
        by_count = {count: (ms, kilobytes) for count, ms, kilobytes in each}
        yield from _grown(what, "cycles in the store", list(by_count), by_count.__getitem__)


def _of_a_store(url: str, count: int) -> Iterator[tuple[str, float, float | None]]:
    store, job = SqlStore(url, "query", retention=TWO_YEARS), Wave(3, 30.0)
    loop = job.loop("ds2", store)
    for _ in range(120):
        job.cycle(loop)
    store.close()
    _repeat(url, 120, count)
    job.t += 30.0 * (count - 120)
    store = SqlStore(url, "query", retention=TWO_YEARS)
    loop = job.loop("ds2", store)
    yield "taking up what was recorded", cpu_ms(loop.resume, rounds=1), None
    yield "recording a cycle", cpu_ms(lambda: job.cycle(loop), rounds=20), None
    store.close()
    with closing(History(url)) as history:
        end = job.t
        asked: dict[str, Callable[[], Any]] = {
            "page: the list of jobs": lambda: answers.jobs(history),
            "page: a job, all of it": lambda: answers.job(history, "query"),
            "page: a job, its last day": lambda: answers.job(history, "query", begin=end - 86_400, end=end),
            "page: the newest decisions": lambda: answers.decisions(history, "query"),
        }
        for what, ask in asked.items():
            yield what, cpu_ms(ask, rounds=3), round(len(json.dumps(ask())) / 1e3, 1)


def _repeat(url: str, recorded: int, count: int) -> None:
    """Let the database copy what was recorded until it has so many cycles, thirty seconds apart."""
    engine = sql.create_engine(url)
    with engine.begin() as connection:
        for table in (cycle_table, point_table):
            others = [column.name for column in table.columns if column.name not in ("job", "number", "t")]
            names = ", ".join(others)
            done = recorded
            while done < count:
                shift, many = done, min(done, count - done)
                connection.execute(
                    sql.text(
                        f"INSERT INTO {table.name} (job, number, t, {names}) SELECT job, number + :shift, "
                        f"t + 30.0 * :shift, {names} FROM {table.name} WHERE number <= :many"
                    ),
                    {"shift": shift, "many": many},
                )
                done += many
    engine.dispose()
