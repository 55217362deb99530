"""The real-time engine with a real Spark and a real Kafka."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import NewPartitions  # type: ignore[attr-defined]
from pyspark.sql import SparkSession

from penstock.model import Plan, Sample
from penstock.spark.dry_run import dry_run
from penstock.spark.executors.slots import FixedSlots, NotEnoughSlotsError
from penstock.spark.io.kafka_topic import kafka
from penstock.spark.realtime.engine import RealTimeEngine
from penstock.spark.topics.offsets import Offsets
from penstock.testbed.broker import Broker
from realtime_jobs import diamond, line, running

pytestmark = pytest.mark.spark

Until = Callable[[Callable[[], object]], None]


def test_every_record_arrives_through_random_changes_of_every_operator(
    spark: SparkSession, new_topic: Any, checkpoint: str, until: Until
) -> None:
    source, sink = new_topic(2), new_topic(2)
    records = 30_000
    choose = random.Random(7)
    changed = threading.Event()

    def send() -> None:
        """A steady stream while the plan changes; then the rest at once."""
        for first in range(0, records, 50):
            source.send(*(b"%d" % i for i in range(first, first + 50)))
            changed.wait(0.04)

    sender = threading.Thread(target=send)
    with running(
        spark, diamond(source, sink), checkpoint, batch_seconds=0.5, read=1, left=1, right=1, join=1
    ) as engine:
        sender.start()
        until(sink.read)
        changes = [*engine.topology.names, *engine.topology.names]
        choose.shuffle(changes)
        for name in changes:  # each gets a second instance, and later loses it
            engine.apply(engine.plan().changed({name: 3 - engine.plan()[name]}))
        changed.set()
        sender.join()
        until(lambda: len(sink.read()) >= 2 * records and len(set(sink.seen)) == 2 * records)
        assert len(engine.changes) == len(changes)
        assert all(len(change.segments) == 1 for change in engine.changes)
    until(lambda: Offsets(sink.broker.servers).ends([sink.name]) == {sink.name: len(sink.read())})
    seen = Counter(sink.read())
    assert seen.keys() == {b"%d%s" % (i, mark) for i in range(records) for mark in (b"l", b"r")}
    assert engine.duplicates == seen.total() - len(seen)


def test_an_overload_is_seen_while_its_batch_still_runs(
    spark: SparkSession, new_topic: Any, checkpoint: str, until: Until
) -> None:
    source, sink = new_topic(), new_topic()
    with running(spark, line(source, sink, slow=5), checkpoint, slow=1) as engine:
        source.send(*(b"%d" % i for i in range(3000)))
        samples: list[Sample] = []

        def is_late(sample: Sample) -> bool:
            """Much is waiting, and no batch has ended that could have told the latency."""
            return (sample.backlog or 0) > 1000 and sample.event_latency_ms is None

        def is_seen() -> bool:
            samples.extend(engine.read())
            return any(map(is_late, samples))

        until(is_seen)
        seen = next(filter(is_late, samples))
        assert seen.operators["slow"].queue == 0  # what waits for a root is the job's backlog
        assert seen.throughput is not None
        assert seen.throughput < 250  # 5 ms a record


@pytest.mark.parametrize(("long", "slots"), [(2, 3), (1, 1)])
def test_useful_time_is_that_of_the_operator_apart_or_in_a_chain(
    spark: SparkSession, new_topic: Any, checkpoint: str, until: Until, long: int, slots: int
) -> None:
    source, sink = new_topic(), new_topic()
    job = line(source, sink, short=4, long=20)
    with running(spark, job, checkpoint, batch_seconds=2, short=1, long=long) as engine:
        assert engine.slots_needed(engine.plan()) == slots
        samples: list[Sample] = []

        def is_measured() -> bool:
            source.send(b"one", b"more")
            samples.extend(s for s in engine.read() if not s.warm_up and s.operators["long"].records_in)
            return len(samples) >= 4

        until(is_measured)
        sample = samples[-1]
        for name, seconds in (("short", 0.004), ("long", 0.020)):
            operators = [each.operators[name] for each in samples]
            assert operators[-1].records_out == operators[-1].records_in
            a_record = [each.useful_seconds / (each.records_in or 1.0) for each in operators if each.useful_seconds]
            assert min(a_record) >= seconds  # it sleeps as long as that: it is known, or it is not, but never less
            assert min(a_record) < 1.25 * seconds  # in the least disturbed of the windows
        assert sample.processing_latency_ms is not None
        assert sample.event_latency_ms is not None
        assert sample.processing_latency_ms.p50 is not None
        assert sample.processing_latency_ms.p50 >= 24
        assert sample.event_latency_ms.p50 is not None
        assert sample.event_latency_ms.p50 >= sample.processing_latency_ms.p50


def test_a_change_restarts_only_the_segments_that_it_touches(
    spark: SparkSession, new_topic: Any, checkpoint: str, until: Until
) -> None:
    source, sink = new_topic(), new_topic()
    with running(spark, diamond(source, sink), checkpoint, read=1, left=1, right=1, join=1) as engine:

        def runs() -> dict[str, str]:
            return {q.name.split(": ")[1]: str(q.runId) for q in spark.streams.active if q.name is not None}

        before = runs()
        engine.apply(engine.plan().changed(left=3))
        after = runs()
        assert {name for name in before if before[name] != after[name]} == {"left"}
        assert engine.changes[-1].segments == ("left",)
        source.send(b"x")
        until(lambda: sorted(sink.read()) == [b"xl", b"xr"])


def test_more_slots_than_there_are_is_refused_and_the_old_plan_runs_on(
    spark: SparkSession, new_topic: Any, checkpoint: str, until: Until
) -> None:
    source, sink = new_topic(2), new_topic()
    with running(spark, line(source, sink, one=0, two=0), checkpoint, one=1, two=1) as engine:
        with pytest.raises(NotEnoughSlotsError, match="needs 19 slots, but only 16 are available"):
            engine.apply(Plan({"one": 9, "two": 8}))
        assert engine.plan() == Plan({"one": 1, "two": 1})
        source.send(b"still here")
        until(lambda: sink.read() == [b"still here"])


def test_a_start_that_fails_for_lack_of_slots_brings_the_old_plan_back(
    spark: SparkSession, new_topic: Any, checkpoint: str, until: Until
) -> None:
    """Somebody else took the slots between counting and starting."""

    class Promised(FixedSlots):
        def require(self, slots: int, ahead: int = 0) -> None: ...

    source, sink = new_topic(), new_topic()
    job = line(source, sink, one=0)
    engine = RealTimeEngine(
        spark, job, dry_run(spark, job), checkpoint, batch_seconds=1, slots=Promised(spark), change="restart"
    )
    engine.start(Plan({"one": 1}))
    try:
        with pytest.raises(Exception, match="the old plan is in force again"):
            engine.apply(Plan({"one": 20}))
        source.send(b"still here")
        until(lambda: sink.read() == [b"still here"])
    finally:
        engine.stop()


def test_a_broker_that_goes_away_and_comes_back_costs_no_record(
    spark: SparkSession, own_broker: Broker, new_topic: Any, checkpoint: str, until: Until
) -> None:
    source, sink = new_topic(on=own_broker), new_topic(on=own_broker)
    with running(spark, line(source, sink, one=0), checkpoint, one=1) as engine:
        source.send(*(b"%d" % i for i in range(500)))
        until(lambda: len(sink.read()) >= 100)
        own_broker.kill()
        until(lambda: engine._offsets.ends([source.name]) is None)
        assert engine.read() is not None  # the controller goes on as well
        own_broker.restart()
        source.send(*(b"%d" % i for i in range(500, 1000)))
        until(lambda: len(set(sink.read())) == 1000)
        assert engine.failure is None


def test_a_job_goes_on_from_its_checkpoint(spark: SparkSession, new_topic: Any, checkpoint: str, until: Until) -> None:
    source, sink = new_topic(), new_topic()
    with running(spark, diamond(source, sink), checkpoint, read=1, left=1, right=1, join=1) as engine:
        source.send(b"before")
        until(lambda: len(sink.read()) == 2 and any(s.throughput for s in engine.read()))
    source.send(b"between")
    with running(spark, diamond(source, sink), checkpoint, read=2, left=1, right=2, join=1):
        until(lambda: {b"betweenl", b"betweenr"} <= set(sink.read()))
    assert {b"beforel", b"beforer"} <= set(sink.read())


def test_partitions_added_to_a_topic_are_read_and_have_slots(
    spark: SparkSession, broker: Broker, new_topic: Any, checkpoint: str, until: Until
) -> None:
    source, sink = new_topic(1), new_topic(1)
    job = line(source, sink, only=0)
    soon: Any = {"kafka.metadata.max.age.ms": "500"}
    job.source = kafka(source.name, servers=broker.servers, **soon)
    with running(spark, job, checkpoint, only=1) as engine:
        source.send(b"first")
        until(lambda: b"first" in sink.read())
        assert engine.slots_needed(engine.plan()) == 1  # the operator runs where the topic is read
        broker.admin.create_partitions([NewPartitions(source.name, 3)])[source.name].result(30)
        until(lambda: engine.slots_needed(engine.plan()) == 4)
        until(lambda: engine.changes and engine._segments[0].runs(engine.plan()))
        producer = Producer({"bootstrap.servers": broker.servers, "log_level": 0})
        producer.produce(source.name, b"later", partition=2)
        producer.flush()
        until(lambda: b"later" in sink.read())
        until(lambda: any(sample.backlog == 0 for sample in engine.read()))
