"""A surge takes a job on a real standalone cluster from one executor to three and back, and one of them is killed
meanwhile. Prints what it saw as JSON.

A process of its own: a second Spark context cannot live beside the one that the other tests share. Each step waits
for what it wants to see; the limit only ends a hang.

usage: executors_story.py microbatch|realtime|native MASTER BROKERS FOLDER
"""

from __future__ import annotations

import json
import sys
import time
from base64 import b64decode
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from confluent_kafka import Consumer
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.readwriter import DataStreamWriter

from cluster_story import kill_executor
from numbered_load import NumberedLoad
from penstock import Slo
from penstock.model import Cycle, Origin, PenstockError, Plan
from penstock.spark import NativeQuery, Pipeline, files, kafka
from penstock.spark.executors.executor_slots import ExecutorSlots
from penstock.spark.job import RunningJob
from penstock.spark.realtime.engine import RealTimeEngine
from penstock.spark.topics.offsets import Offsets
from penstock.testbed.jars import connector_jars
from penstock.testbed.session import local_session
from spark_events import core_seconds, event_log_settings
from spark_jobs import until, working

CALM, SURGE = 4.0, 85.0  # records per second; a slot carries 25
MILLISECONDS, BATCH = 40, 90  # of one record, and records of one batch
SLOTS_EACH, MOST = 2, 3
WIDEST = MOST * SLOTS_EACH
KEYS = 60
SETTINGS = {
    "spark.executor.cores": str(SLOTS_EACH),
    "spark.cores.max": str(WIDEST),
    "spark.executor.memory": "512m",
    # Two cores are a whole cluster here. The compiler and the collector of a large machine would take both of them for
    # as long as an executor starts, which then takes twice as long.
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.decommission.enabled": "true",
    "spark.storage.decommission.replicationReattemptInterval": "3s",
}
OPTIONS: dict[str, Any] = {
    "slo": Slo(event_latency="5 s"),
    "executors": (1, MOST),
    "interval": "500 ms",
    "policy": "ds2",  # the story is about executors: this one decides within seconds
    "policy_options": {"utilisation": 0.8},
    "guards": {"patience": {"seconds": 3.0}, "stabilisation": {"seconds": 2.0}, "max_step": None},
}


@dataclass(frozen=True)
class Account:
    """Of the records sent: those that have not arrived, and how often one came again."""

    missing: int
    twice: int


def account(sent: int, arrived: Counter[int]) -> Account:
    return Account(sum(number not in arrived for number in range(sent)), arrived.total() - len(arrived))


def number(value: str) -> int:
    """JSON has bytes as base64."""
    return int(b64decode(value))


def pipeline(servers: str, topic: str) -> Pipeline:
    job = Pipeline(topic, source=kafka(topic, servers=servers, max_records_per_batch=BATCH))
    job.operator("work", lambda frame: working(MILLISECONDS)(frame).select("value", "stamp"), max=WIDEST)
    return job


class MicroBatch:
    """Files say which records came, each once."""

    def __init__(self, spark: SparkSession, servers: str, topic: str, folder: Path) -> None:
        self._spark = spark
        self._out = folder / "out"
        self._job = pipeline(servers, topic)
        self._job.sink(files(str(self._out), "json"), after="work")

    def start(self, **options: Any) -> RunningJob:
        return self._job.start(self._spark, **options)

    def account(self, sent: int) -> Account:
        written = (part.read_text() for part in self._out.glob("batch=*/*.json"))
        return account(
            sent, Counter(number(json.loads(line)["value"]) for text in written for line in text.splitlines())
        )


class RealTime:
    """The topic at the end has each record at least once."""

    def __init__(self, spark: SparkSession, servers: str, topic: str, folder: Path) -> None:
        self._spark = spark
        self._job = pipeline(servers, topic)
        Offsets(servers).create(f"{topic}-out", 1)
        self._job.sink(kafka(f"{topic}-out", servers=servers), after="work")
        self._consumer = Consumer({"bootstrap.servers": servers, "group.id": topic, "auto.offset.reset": "earliest"})
        self._consumer.subscribe([f"{topic}-out"])
        self._seen: Counter[int] = Counter()

    def start(self, **options: Any) -> RunningJob:
        return self._job.start(self._spark, engine="realtime", batch="2 s", **options)

    def account(self, sent: int) -> Account:
        messages = self._consumer.consume(5000, 0.5)
        self._seen.update(int(value) for m in messages if not m.error() and (value := m.value()))
        return account(sent, self._seen)


class Native:
    """State counts the records of each key and adds up their numbers; each batch writes what it changed."""

    def __init__(self, spark: SparkSession, servers: str, topic: str, folder: Path) -> None:
        self._spark = spark
        self._out = folder / "out"
        self._source = kafka(topic, servers=servers, max_records_per_batch=BATCH)

    def build(self, spark: SparkSession, plan: Plan) -> DataStreamWriter:
        records = self._source.stream(spark).selectExpr("value", f"cast(value as string) % {KEYS} as user")
        # The optimiser does not move the work in front of the shuffle, past a condition that is not deterministic.
        moved = records.repartition(plan["state"], "user").where(F.spark_partition_id() >= 0)
        total = F.sum(F.col("value").cast("string").cast("long")).alias("sum")
        counted = working(MILLISECONDS)(moved).groupBy("user").agg(F.count("*").alias("n"), total)
        return counted.writeStream.outputMode("update").foreachBatch(self._keep)

    def _keep(self, rows: DataFrame, batch: int) -> None:
        self._out.mkdir(exist_ok=True)
        part = self._out / f"{batch}.part"
        part.write_text(json.dumps([row.asDict() for row in rows.collect()]))
        part.rename(self._out / f"{batch}.json")  # whole, or not there

    def start(self, **options: Any) -> RunningJob:
        return NativeQuery("numbers", self.build, max=WIDEST).start(self._spark, batch="1 s", **options)

    def account(self, sent: int) -> Account:
        """By the state of each key: how many records are not in it yet, and how many too many."""
        state = dict.fromkeys(range(KEYS), (0, 0))
        for part in self._out.glob("*.json"):
            for row in json.loads(part.read_text()):
                state[int(row["user"])] = max(state[int(row["user"])], (row["n"], row["sum"]))
        numbers = {key: range(key, sent, KEYS) for key in range(KEYS)}
        missing = sum(max(0, len(numbers[key]) - count) for key, (count, _) in state.items())
        twice = sum(max(0, count - len(numbers[key])) for key, (count, _) in state.items())
        if missing == twice == 0:
            assert {key: total for key, (_, total) in state.items()} == {key: sum(n) for key, n in numbers.items()}
        return Account(missing, twice)


WIDE = {"microbatch": Plan({"work": 4}), "realtime": Plan({"work": 4}), "native": Plan({"state": 4})}
"""Needs more than one executor."""


class Story(Protocol):
    def start(self, **options: Any) -> RunningJob: ...

    def account(self, sent: int) -> Account: ...


STORIES: dict[str, Callable[[SparkSession, str, str, Path], Story]] = {
    "microbatch": MicroBatch,
    "realtime": RealTime,
    "native": Native,
}


def trace(job: RunningJob) -> list[dict[str, int]]:
    """What is seen of each change from now on: slots needed before and after it, and there when it begins and ends."""
    changes: list[dict[str, int]] = []
    engine = job.engine
    change = engine._change

    def seen(plan: Plan) -> None:
        before, began = engine.slots_needed(engine.plan()), engine.slots.slots()
        change(plan)
        changes.append(
            {"before": before, "after": engine.slots_needed(plan), "began": began, "ended": engine.slots.slots()}
        )

    engine._change = seen  # type: ignore[method-assign]
    return changes


def tell(kind: str, spark: SparkSession, servers: str, folder: Path) -> dict[str, Any]:
    topic = f"{kind}-surge"
    Offsets(servers).create(topic, 1)
    story = STORIES[kind](spark, servers, topic, folder)
    executors, cycles = ExecutorSlots(spark.sparkContext), list[Cycle]()
    told: dict[str, Any] = {"executors": []}

    def reached(what: str, count: int) -> float:
        took = see(f"{what}: {count} executors", lambda: executors.executors() == job.plan.executors == count)
        told["executors"].append(count)
        return took

    def see(what: str, condition: Callable[[], object]) -> float:
        began = time.monotonic()
        until(condition, what, job)
        print(f"{what}: {time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)
        return time.monotonic() - began

    def tasks_of_others(known: set[str]) -> bool:
        return any(executor.tasks for executor in executors.present() if executor.id not in known)

    def on_cycle(cycle: Cycle) -> None:
        cycles.append(cycle)
        reason, seen = cycle.decision.reason, cycle.samples[-1] if cycle.samples else None
        figures = "" if seen is None else f", {seen.job_input_rate} records/s, backlog {seen.backlog}"
        took = "" if cycle.change_seconds is None else f" in {cycle.change_seconds:.1f} s: {cycle.problem or 'changed'}"
        print(f"{cycle.t:.1f} {cycle.decision.plan}{took}, {reason.text}{figures}", file=sys.stderr, flush=True)

    def refusal(executors: tuple[int, int]) -> str:
        try:
            story.start(checkpoint=str(folder / "refused"), plan=WIDE[kind], **{**OPTIONS, "executors": executors})
        except PenstockError as error:
            return str(error)
        return "nothing was refused"

    told["refused"] = {"most": refusal((1, MOST + 1))}
    if kind == "realtime":
        told["refused"]["plan"] = refusal((1, 1))
    load = NumberedLoad(servers, topic, CALM)
    with story.start(checkpoint=str(folder / "checkpoint"), on_cycle=on_cycle, **OPTIONS) as job:
        changes = trace(job)
        see("records flow", lambda: story.account(sent := load.sent).missing < sent)
        reached("calm", 1)
        see("the job is measured", lambda: any(cycle.decision.reason.code.origin is Origin.POLICY for cycle in cycles))
        known = {executor.id for executor in executors.present()}
        load.rate = SURGE
        told["seconds_to_first_task"] = see("a new executor works", lambda: tasks_of_others(known))
        reached("surge", MOST)
        victim = executors.present()[0].id
        kill_executor(victim, spark.sparkContext.applicationId)
        see("the victim is gone", lambda: victim not in {executor.id for executor in executors.present()})
        reached("surge, without the victim", MOST)
        load.rate = CALM
        sent = load.sent
        see("the records of the surge have arrived", lambda: story.account(sent).missing == 0)
        reached("calm again", 1)
        load.stop()
        see("every record has arrived", lambda: story.account(load.sent).missing == 0)
    counted = job.engine.duplicates if isinstance(job.engine, RealTimeEngine) else 0
    report = job.report()
    last = report.cycles[-1].t
    told["cost"] = {"taken": report.taken, "since": last - report.seconds, "until": last, "text": str(report)}
    told["changes"] = changes
    told["plans"] = [str(cycle.decision.plan) for cycle in cycles if cycle.changed]
    told["problems"] = [cycle.problem for cycle in cycles if cycle.problem is not None]
    told["records"] = {"sent": load.sent, **asdict(story.account(load.sent)), "counted": counted}
    return told


def main(kind: str, master: str, servers: str, folder: str) -> None:
    events = Path(folder) / "events"
    spark = local_session(master, jars=connector_jars(), settings={**SETTINGS, **event_log_settings(events)})
    try:
        told = tell(kind, spark, servers, Path(folder))
    finally:
        spark.stop()
    told["cost"]["events"] = core_seconds(events, told["cost"]["since"], told["cost"]["until"])
    print(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
