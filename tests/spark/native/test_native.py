"""Stateful queries that change their partitions while data flows: what comes out is what a table would give."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

import nexmark_stream
from nexmark_stream import TARGET, Stream
from patience import wait_for
from penstock.model import Actuation, PenstockError, Plan
from penstock.papers.autrascale.spark.bids import SCHEMA
from penstock.spark import NativeQuery
from penstock.spark.failure import JobFailedError
from penstock.spark.native.engine import STATE, NativeEngine
from penstock.spark.native.state_checkpoint import Checkpoint, Underway

pytestmark = pytest.mark.spark

Build = Callable[[SparkSession, Plan], DataStreamWriter]

TWO = Plan({STATE: 2})


def state_partitions(native: NativeEngine) -> set[int]:
    """Partitions of every state in every batch of the query since its last start; none before its first batch."""
    return {
        int(operator["numShufflePartitions"])
        for progress in native.query.recentProgress
        for operator in progress["stateOperators"]
    }


def test_ten_changes_while_data_flows_leave_the_answer_as_it_is(spark: SparkSession, tmp_path: Path) -> None:
    """Query 5 has two states, one behind the other; a change of Query 11's session windows is killed further below."""
    stream = Stream("nexmark_q5", tmp_path)
    stream.arrive(0, 4)
    native = stream.native(spark)
    native.start(TWO)

    for number, partitions in enumerate((3, 5, 1, 4, 2, 6, 3, 2, 5, 4)):
        stream.arrive(4 + 2 * number, 5 + 2 * number)
        wait_for(lambda: bool(state_partitions(native)))  # it runs
        native.apply(Plan({STATE: partitions}))
        assert native.plan() == Plan({STATE: partitions})
        stream.arrive(5 + 2 * number, 6 + 2 * number)
        wait_for(lambda: bool(state_partitions(native)))
        assert state_partitions(native) == {partitions}
    stream.close(24)
    answer = stream.batch_answer(spark)
    native.query.processAllAvailable()
    wait_for(lambda: stream.results(spark) == answer, every=0.5)
    native.stop()

    assert len(answer) > 30
    assert answer != stream.batch_answer(spark, with_late=True), "some bids must have come too late"
    assert [cost.after for cost in native.changes] == [3, 5, 1, 4, 2, 6, 3, 2, 5, 4]


@pytest.mark.parametrize(("query", "undone"), [("nexmark_q11", False), ("nexmark_q5", True)])
def test_a_repartition_killed_in_the_middle_is_finished_at_the_next_start_or_can_be_undone(
    spark: SparkSession, tmp_path: Path, query: str, undone: bool
) -> None:
    stream = Stream(query, tmp_path)
    stream.arrive(0, 3)
    checkpoint = Checkpoint(spark, stream.checkpoint)
    driver = subprocess.Popen(
        [sys.executable, nexmark_stream.__file__, query, str(tmp_path), "2", "5"],
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        wait_for(lambda: (tmp_path / "checkpoint.penstock.json").exists() or driver.poll() is not None, every=0.001)
        wait_for(lambda: not checkpoint.whole or driver.poll() is not None, every=0.001)
    finally:
        os.killpg(driver.pid, signal.SIGKILL)  # the JVM with it
        driver.wait()

    assert checkpoint.underway == Underway(before=2, after=5)
    assert not checkpoint.whole
    assert checkpoint.partitions == 2

    if undone:
        checkpoint.undo()
    native = stream.native(spark)
    native.start(TWO)
    assert native.plan() == Plan({STATE: 2 if undone else 5})
    assert checkpoint.underway is None
    stream.arrive(3, 5)
    native.query.processAllAvailable()
    native.apply(Plan({STATE: 3}))
    stream.close(5)
    answer = stream.batch_answer(spark)
    native.query.processAllAvailable()
    wait_for(lambda: stream.results(spark) == answer, every=0.5)
    native.stop()
    assert answer


def test_a_batch_that_was_broken_off_is_finished_before_the_state_is_moved(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream("nexmark_q11", tmp_path)
    stream.arrive(0, 6)
    native = stream.native(spark)
    native.start(TWO)
    checkpoint = Checkpoint(spark, stream.checkpoint)
    wait_for(lambda: checkpoint.last_done >= 0 and not checkpoint.whole, every=0.001)
    native.query.stop()  # in the middle of a batch

    again = stream.native(spark)
    again.start(TWO)
    again.apply(Plan({STATE: 3}))

    stream.close(6)
    answer = stream.batch_answer(spark)
    again.query.processAllAvailable()
    wait_for(lambda: stream.results(spark) == answer, every=0.5)
    assert again.plan() == Plan({STATE: 3})
    again.stop()


def test_a_change_that_had_not_begun_is_made_and_one_that_was_done_is_not_made_again(
    spark: SparkSession, tmp_path: Path
) -> None:
    stream = Stream("nexmark_q11", tmp_path)
    stream.arrive(0, 2)
    checkpoint = Checkpoint(spark, stream.checkpoint)
    native = stream.native(spark)
    native.start(TWO)
    native.query.processAllAvailable()
    native.stop()

    for partitions in (2, 3):  # killed before the first file of a repartition, and after the last
        assert checkpoint.partitions == partitions
        checkpoint.begin(Underway(before=2, after=3))
        native = stream.native(spark)
        native.start(TWO)
        native.stop()
        assert native.plan() == Plan({STATE: 3})
        assert checkpoint.underway is None


def test_state_that_a_change_has_written_is_gone_when_it_is_undone(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream("nexmark_q11", tmp_path)
    stream.arrive(0, 3)
    checkpoint = Checkpoint(spark, stream.checkpoint)
    native = stream.native(spark)
    native.start(TWO)
    native.query.processAllAvailable()
    native.stop()
    checkpoint.begin(Underway(before=2, after=3))
    checkpoint.carry_out(Underway(before=2, after=3))
    Path(stream.checkpoint, "commits", str(checkpoint.last_done)).unlink()  # killed before this last file
    assert not checkpoint.whole

    checkpoint.undo()

    assert checkpoint.whole
    assert checkpoint.partitions == 2
    native = stream.native(spark)
    native.start(TWO)
    stream.arrive(3, 5)
    native.query.processAllAvailable()
    native.apply(Plan({STATE: 4}))  # reads what the batches after the undone one have left
    stream.close(5)
    answer = stream.batch_answer(spark)
    native.query.processAllAvailable()
    wait_for(lambda: stream.results(spark) == answer, every=0.5)
    native.stop()


def test_a_broken_off_batch_is_no_change_that_could_be_undone(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream("nexmark_q11", tmp_path)
    stream.arrive(0, 3)
    checkpoint = Checkpoint(spark, stream.checkpoint)
    native = stream.native(spark)
    native.start(TWO)
    native.query.processAllAvailable()
    native.stop()
    Path(stream.checkpoint, "commits", str(checkpoint.last_done)).unlink()
    checkpoint.begin(Underway(before=2, after=3))
    begun = checkpoint.last_begun

    checkpoint.undo()

    assert checkpoint.underway is None
    assert checkpoint.last_begun == begun


def test_where_spark_cannot_repartition_the_query_goes_on_as_it_was(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream("nexmark_q11", tmp_path)
    stream.arrive(0, 1)

    def without_state(session: SparkSession, plan: Plan) -> DataStreamWriter:
        bids = session.readStream.schema(SCHEMA).parquet(str(stream.source))
        return bids.writeStream.format("noop")

    topology = NativeQuery("stateless", without_state).topology()
    native = NativeEngine(spark, without_state, topology, stream.checkpoint)
    native.start(TWO)
    native.query.processAllAvailable()

    with pytest.raises(PenstockError, match=r"^Spark cannot repartition the state: [^\n]+$"):
        native.apply(Plan({STATE: 3}))

    assert native.plan() == Plan({STATE: 2})
    assert native.query.isActive
    assert Checkpoint(spark, stream.checkpoint).underway is None
    native.stop()


def test_another_state_store_is_refused_before_anything_starts(spark: SparkSession, tmp_path: Path) -> None:
    session = spark.newSession()
    session.conf.set(
        "spark.sql.streaming.stateStore.providerClass",
        "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider",
    )
    with pytest.raises(PenstockError, match=r"providerClass must be .*RocksDBStateStoreProvider"):
        Stream("nexmark_q11", tmp_path).native(session).start(TWO)


def test_it_stands_behind_the_doors_of_the_loop(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream("nexmark_q11", tmp_path)
    stream.arrive(0, 2)
    native = stream.native(spark)
    assert native.trigger_seconds == 0.0  # known before the start
    native.start(TWO)
    native.query.processAllAvailable()
    native.read()  # a beginning to measure from
    stream.arrive(2, 4)
    native.query.processAllAvailable()
    (sample,) = native.read()
    native.stop()

    state = sample.operators[STATE]
    assert state.parallelism == 2
    assert state.records_in == 2 * 400
    assert state.useful_seconds == pytest.approx(sum(batch.useful_seconds for batch in sample.batches or ()))
    assert [batch.records for batch in sample.batches or () if batch.records] == [400, 400]
    assert sample.executors is None
    assert native.topology[STATE].actuation is Actuation.STATE_REPARTITION
    with pytest.raises(PenstockError, match="the query has ended"):
        native.read()


def numbers(session: SparkSession, plan: Plan) -> DataStreamWriter:
    return session.readStream.format("rate").load().writeStream.format("noop")


def once(session: SparkSession, plan: Plan) -> DataStreamWriter:
    return numbers(session, plan).trigger(availableNow=True)


def no_writer(session: SparkSession, plan: Plan) -> DataStreamWriter:
    return session.readStream.format("rate").load()  # type: ignore[return-value]


def no_source(session: SparkSession, plan: Plan) -> DataStreamWriter:
    raise LookupError("no such topic")


@pytest.mark.parametrize(
    ("build", "complaint"),
    [
        (once, "^a query with trigger AvailableNowTrigger cannot be steered"),
        (no_writer, "^build must return a DataStreamWriter, not DataFrame$"),
        (no_source, "^build fails for 1 partitions: LookupError: no such topic$"),
    ],
)
def test_what_cannot_be_steered_is_refused_in_one_sentence(
    build: Build, complaint: str, spark: SparkSession, tmp_path: Path
) -> None:
    query = NativeQuery("refused", build)
    with pytest.raises(PenstockError, match=complaint):
        query.start(spark, slo=TARGET, checkpoint=str(tmp_path / "checkpoint"))
    assert not spark.streams.active


def test_a_sink_that_cannot_follow_is_refused_in_one_sentence(spark: SparkSession, tmp_path: Path) -> None:
    def to_files(session: SparkSession, plan: Plan) -> DataStreamWriter:
        return numbers(session, plan).format("parquet").option("path", str(tmp_path / "out"))

    with pytest.raises(PenstockError, match="write with foreachBatch"):
        NativeQuery("refused", to_files).start(spark, slo=TARGET, checkpoint=str(tmp_path / "checkpoint"))
    assert not spark.streams.active


def test_a_start_that_fails_after_a_change_ends_the_job_with_its_reason(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream("nexmark_q11", tmp_path)
    stream.arrive(0, 2)
    other = (
        spark.readStream.format("rate").load().writeStream.format("noop").queryName("taken")
        .option("checkpointLocation", str(tmp_path / "other")).start()
    )  # fmt: skip

    def build(session: SparkSession, plan: Plan) -> DataStreamWriter:
        return stream.build(session, plan).queryName("taken" if plan[STATE] == 3 else "free")

    native = NativeEngine(spark, build, NativeQuery("sessions", build).topology(), stream.checkpoint)
    native.start(TWO)
    native.query.processAllAvailable()
    with pytest.raises(Exception, match="taken"):
        native.apply(Plan({STATE: 3}))
    with pytest.raises(JobFailedError, match=r"^the query was stopped for a change and could not be .*taken"):
        native.wait(60)
    other.stop()


@pytest.mark.parametrize(("most", "allowed"), [(None, 20), (4, 4)])
def test_the_most_partitions_are_those_of_the_checkpoint_unless_its_owner_says_fewer(
    spark: SparkSession, tmp_path: Path, most: int | None, allowed: int
) -> None:
    stream = Stream("nexmark_q11", tmp_path)
    stream.arrive(0, 1)
    first = NativeEngine(spark, stream.build, NativeQuery("q", stream.build, max=20).topology(), stream.checkpoint)
    first.start(Plan({STATE: 20}))
    first.query.processAllAvailable()
    first.stop()
    query = NativeQuery("sessions", stream.build, max=most)
    with query.start(spark, slo=TARGET, checkpoint=stream.checkpoint, mode="off") as job:
        assert job.topology[STATE].max == allowed
        assert job.plan == Plan({STATE: 20})
