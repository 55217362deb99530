"""A change that hands segments over to a second query: with a real Spark and a real Kafka."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
from confluent_kafka import Consumer
from pyspark.sql import DataFrame, SparkSession

from numbered_load import NumberedLoad
from penstock.model import Plan, Sample
from penstock.spark.executors.slots import FixedSlots
from penstock.spark.io.kafka_topic import kafka
from penstock.spark.pipeline import Pipeline
from penstock.spark.realtime.engine import RealTimeEngine
from penstock.spark.topics.offsets import Offsets
from realtime_jobs import as_text, diamond, line, running

pytestmark = pytest.mark.spark

Until = Callable[[Callable[[], object]], None]


def a_batch_has_ended(engine: RealTimeEngine, until: Until) -> None:
    """The job runs and is measured."""
    until(lambda: any(sample.throughput and not sample.warm_up for sample in engine.read()))


def arrivals(topic: Any, count: int, until: Until) -> list[tuple[float, bytes]]:
    """Every message of a topic with the time at which it was written, in seconds; at least as many as `count`."""
    consumer = Consumer({
        "bootstrap.servers": topic.broker.servers, "group.id": f"{topic.name}-times", "auto.offset.reset": "earliest",
        "log_level": 0,
    })  # fmt: skip
    consumer.subscribe([topic.name])
    found: list[tuple[float, bytes]] = []

    def all_there() -> bool:
        found.extend((m.timestamp()[1] / 1e3, m.value() or b"") for m in consumer.consume(5000, 0.2) if not m.error())
        return len(found) >= count

    until(all_there)
    consumer.close()
    return sorted(found)


def test_changes_under_load_lose_nothing_and_double_nothing(
    spark: SparkSession, new_topic: Any, checkpoint: str, until: Until
) -> None:
    source, sink = new_topic(2), new_topic(2)
    job = line(source, sink, one=0, two=1)
    with running(spark, job, checkpoint, change="handover", one=1, two=1) as engine:
        load = NumberedLoad(source.broker.servers, source.name, rate=120, partitions=2)
        a_batch_has_ended(engine, until)
        for k in (2, 1, 3, 2):
            engine.apply(engine.plan().changed(two=k))
            a_batch_has_ended(engine, until)
        load.stop()
        seen = arrivals(sink, load.sent, until)
    made = list(engine.changes)
    assert any(change.handed_over == ("two",) for change in made), [change.why for change in made]
    assert engine.plan() == Plan({"one": 1, "two": 2})
    assert {value for _, value in seen} == {b"%d" % i for i in range(load.sent)}
    # On a machine that is busy for seconds a segment is restarted, or told its cut too late: then they are counted.
    written = Offsets(sink.broker.servers).ends([sink.name])
    assert written is not None
    assert written[sink.name] - load.sent <= engine.duplicates
    kept = [path.name for path in Path(checkpoint).iterdir() if path.is_dir()]
    assert len(kept) == 1, "the checkpoints of queries that are no more are deleted"


def test_every_segment_of_a_fan_out_and_a_fan_in_is_handed_over_alone_and_with_others(
    spark: SparkSession, new_topic: Any, checkpoint: str, until: Until
) -> None:
    source, sink = new_topic(2), new_topic(2)
    samples: list[Sample] = []
    with running(
        spark, diamond(source, sink), checkpoint, change="handover", read=1, left=1, right=1, join=1
    ) as engine:
        load = NumberedLoad(source.broker.servers, source.name, rate=200, partitions=2)
        a_batch_has_ended(engine, until)
        for change in ({"left": 2}, {"read": 2, "join": 2}, {"left": 1}, {"read": 1, "join": 1}):
            engine.apply(engine.plan().changed(change))
            samples.extend(engine.read())
        load.stop()
        until(lambda: len(sink.read()) >= 2 * load.sent)
    assert {"left", "read", "join"} <= {name for change in engine.changes for name in change.handed_over}
    seen = Counter(sink.read())
    assert seen.keys() == {b"%d%s" % (i, mark) for i in range(load.sent) for mark in (b"l", b"r")}
    # A cut that was told late may have been passed: as many are counted as may have come twice.
    assert seen.total() - len(seen) <= engine.duplicates
    backlogs = [sample.backlog for sample in samples if sample.backlog is not None]
    assert max(backlogs) < load.sent / 2, "two queries of one segment are not taken for a backlog"


def test_where_two_queries_have_no_slots_or_state_a_segment_is_restarted_and_that_is_said(
    spark: SparkSession, new_topic: Any, checkpoint: str, until: Until
) -> None:
    source, sink = new_topic(), new_topic()

    def without_doubles(frame: DataFrame) -> DataFrame:
        return as_text(frame).dropDuplicates(["value"])

    job = Pipeline(source.name, source=kafka(source.name, servers=source.broker.servers))
    narrow = job.operator("narrow", as_text)
    job.operator("left", lambda frame: frame, after=narrow)
    job.operator("keeps", without_doubles, after=narrow)
    for name in ("left", "keeps"):
        job.sink(kafka(sink.name, servers=sink.broker.servers), after=name)
    with running(spark, job, checkpoint, change="handover", narrow=1, left=1, keeps=1) as engine:
        source.send(b"x", b"x")
        until(lambda: sorted(sink.read()) == [b"x"] * 3)
        until(lambda: engine._segments[-1].queries[0].committed())  # Spark goes on with state from its first commit on
        engine.apply(engine.plan().changed(keeps=2))
        assert engine.changes[-1].restarted == ("keeps",)
        assert engine.changes[-1].why == "keeps keeps state, which one query has"
        engine.apply(engine.plan().changed(left=4))
        assert engine.changes[-1].handed_over == ("left",)
        engine.apply(engine.plan().changed(left=3))  # 4 and 3 instances are more than the slots that are left
        assert engine.changes[-1].restarted == ("left",)
        assert (engine.changes[-1].why or "").startswith("there are no slots for two queries: the plan needs")
        assert any("restarted by a change: there are no slots" in note for note in engine.notes())
        source.send(b"y", b"y")
        until(lambda: set(sink.read()) == {b"x", b"y"} and sink.seen.count(b"y") == 3)


@pytest.mark.parametrize("change", ["restart", "handover"])
def test_executors_for_two_queries_are_asked_for_with_those_of_the_plan(
    spark: SparkSession, new_topic: Any, checkpoint: str, until: Until, change: str
) -> None:
    class Recorded(FixedSlots):
        asked: ClassVar[list[tuple[int, int]]] = []

        def require(self, slots: int, ahead: int = 0) -> None:
            self.asked.append((slots, ahead))

    source, sink = new_topic(), new_topic()
    slots = Recorded(spark)
    with running(spark, line(source, sink, one=0), checkpoint, change=change, slots=slots, one=1) as engine:
        load = NumberedLoad(source.broker.servers, source.name, rate=100)
        a_batch_has_ended(engine, until)
        slots.asked.clear()
        before, after = engine.plan(), engine.plan().changed(one=2)
        old, new = engine.slots_needed(before), engine.slots_needed(after)
        engine.apply(after)
        load.stop()
        assert slots.asked == ([(new, 0)] if change == "restart" else [(new, old + new), (old + new, 0)])


def test_a_new_query_that_does_not_start_brings_the_old_plan_back(
    spark: SparkSession, new_topic: Any, checkpoint: str, until: Until
) -> None:
    """Somebody else took the slots between counting and starting."""

    class Promised(FixedSlots):
        def require(self, slots: int, ahead: int = 0) -> None: ...

    source, sink = new_topic(), new_topic()
    job = line(source, sink, one=0)
    with running(spark, job, checkpoint, change="handover", slots=Promised(spark), one=1) as engine:
        load = NumberedLoad(source.broker.servers, source.name, rate=100)
        a_batch_has_ended(engine, until)
        with pytest.raises(Exception, match="the old plan is in force again"):
            engine.apply(Plan({"one": 20}))
        assert engine.plan() == Plan({"one": 1})
        load.stop()
        until(lambda: len(set(sink.read())) == load.sent)


def test_a_load_that_ends_before_the_cut_ends_the_hand_over_too(
    spark: SparkSession, new_topic: Any, checkpoint: str, until: Until
) -> None:
    source, sink = new_topic(), new_topic()
    with running(spark, line(source, sink, one=0), checkpoint, batch_seconds=0.5, change="handover", one=1) as engine:
        load = NumberedLoad(source.broker.servers, source.name, rate=200)
        a_batch_has_ended(engine, until)
        load.stop()
        engine.apply(Plan({"one": 2}))
        assert engine.plan() == Plan({"one": 2})
        until(lambda: len(engine._segments[0].queries) == 1)
        until(lambda: len(sink.read()) >= load.sent)
        source.send(b"later")
        until(lambda: b"later" in sink.read())


def test_new_records_pass_a_backlog_and_the_old_query_works_it_off(
    spark: SparkSession, new_topic: Any, checkpoint: str, until: Until
) -> None:
    source, sink = new_topic(), new_topic()
    with running(spark, line(source, sink, slow=10), checkpoint, change="handover", slow=1) as engine:
        source.send(b"first")
        until(lambda: b"first" in sink.read())
        waiting = [b"%d" % i for i in range(6000)]
        source.send(*waiting)
        until(lambda: any((sample.backlog or 0) > 1000 and sample.input_rate == 0 for sample in engine.read()))
        engine.apply(Plan({"slow": 4}))
        assert engine.changes[-1].handed_over == ("slow",)
        source.send(b"new")
        until(lambda: b"new" in sink.read())
        assert len(set(sink.seen)) < len(waiting), "it did not wait for what was there before it"
        assert len(engine._segments[0].queries) == 2
        until(lambda: len(engine._segments[0].queries) == 1)
        until(lambda: len(sink.read()) >= len(waiting) + 2)
    assert sorted(sink.read()) == sorted([b"first", *waiting, b"new"])


def test_a_segment_is_handed_over_again_while_old_queries_work_off_what_waits(
    spark: SparkSession, new_topic: Any, checkpoint: str, until: Until
) -> None:
    source, sink = new_topic(), new_topic()
    with running(spark, line(source, sink, slow=10), checkpoint, change="handover", slow=1) as engine:
        source.send(b"first")
        until(lambda: b"first" in sink.read())
        waiting = [b"%d" % i for i in range(3000)]
        source.send(*waiting)
        until(lambda: any((sample.backlog or 0) > 1000 and sample.input_rate == 0 for sample in engine.read()))
        for k in (2, 3):
            engine.apply(Plan({"slow": k}))
            assert engine.changes[-1].handed_over == ("slow",)
            source.send(b"under %d" % k)
            until(lambda k=k: b"under %d" % k in sink.read())  # type: ignore[misc]
        assert len(engine._segments[0].queries) == 3
        assert len(set(sink.seen)) < len(waiting), "nobody waited for what was there before"
        until(lambda: len(engine._segments[0].queries) == 1)
        until(lambda: len(sink.read()) >= len(waiting) + 3)
        assert engine.duplicates == 0
    assert sorted(sink.read()) == sorted([b"first", *waiting, b"under 2", b"under 3"])
    kept = [path.name for path in Path(checkpoint).iterdir() if path.is_dir()]
    assert len(kept) == 1


def test_three_queries_that_were_stopped_go_on_as_one(
    spark: SparkSession, new_topic: Any, checkpoint: str, until: Until
) -> None:
    source, sink = new_topic(), new_topic()
    waiting = [b"%d" % i for i in range(1500)]
    with running(spark, line(source, sink, slow=10), checkpoint, change="handover", slow=1) as engine:
        source.send(b"first")
        until(lambda: b"first" in sink.read())
        source.send(*waiting)
        until(lambda: any((sample.backlog or 0) > 500 and sample.input_rate == 0 for sample in engine.read()))
        for k in (2, 3):
            engine.apply(Plan({"slow": k}))
            source.send(b"under %d" % k)
            until(lambda k=k: b"under %d" % k in sink.read())  # type: ignore[misc]
        assert len(engine._segments[0].queries) == 3
    with running(spark, line(source, sink, slow=10), checkpoint, change="handover", slow=3) as engine:
        assert len(engine._segments[0].queries) == 1
        until(lambda: set(sink.read()) == {b"first", *waiting, b"under 2", b"under 3"})
