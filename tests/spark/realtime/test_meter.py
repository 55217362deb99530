from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.spark.dry_run import dry_run
from penstock.spark.io.kafka_topic import kafka
from penstock.spark.measure.accumulators import VALUES_IN_A_CALL, Gathered, Remembered, SumAccumulator
from penstock.spark.measure.jvm_clock import nanoseconds, now
from penstock.spark.measure.operator_meter import Inside
from penstock.spark.measure.stamp import STAMP, stamped
from penstock.spark.microbatch.creation import SAMPLED, TimesOfCreation
from penstock.spark.pipeline import Pipeline
from penstock.spark.realtime.generations import Generation
from penstock.spark.realtime.meter import TIMED, Meter, latency_of
from penstock.spark.realtime.segment_query import SegmentQuery
from penstock.spark.realtime.wiring import wire

pytestmark = pytest.mark.spark

NOTHING = Inside(0, 0, 0.0)


def test_an_operators_filter_stays_behind_its_shuffle(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1,)], "id long")
    nodes = optimised(Meter(spark).around("few", lambda frame: frame.where("id > 5"), frame.repartition(3)))
    assert nodes.index("Filter (isnotnull(id") < nodes.index("Repartition 3")


def test_operators_are_counted_and_timed_whether_they_select_filter_or_multiply(spark: SparkSession) -> None:
    names = ("even", "slow", "twice")
    meter, waits = Meter(spark), "reflect('java.lang.Thread', 'sleep', cast(2 + 0 * id as bigint))"
    copies = F.explode(F.array(F.lit(1), F.lit(2)))
    frame = meter.around("even", lambda frame: frame.where("id % 2 = 0"), numbers(spark, 100))
    frame = meter.around("slow", lambda frame: frame.select("*", F.expr(waits).alias("waited")), frame)
    run(meter.around("twice", lambda frame: frame.withColumn("copy", copies), frame, last=True))
    inside = [meter.inside(name) for name in names]
    assert [each.records_out for each in inside] == [50, 50, 100]
    quick, slow, _ = (each.seconds_per_record or 0.0 for each in inside)
    assert slow >= 0.002
    assert slow > quick
    assert all(meter.latency().values())
    assert [meter.inside(name) for name in names] == [NOTHING] * 3
    assert (NOTHING.seconds_per_record, meter.latency()) == (None, {"event": None, "processing": None})


def test_records_of_a_batch_that_was_stopped_are_not_taken_for_those_of_the_next(spark: SparkSession) -> None:
    """Some of its tasks may have ended before it was stopped: their records come again."""
    job = Pipeline("job", source=kafka("clicks", servers="here:9092"))
    job.operator("some", lambda frame: frame.where("length(value) > 3"))
    job.sink(kafka("counts", servers="here:9092"), after="some")
    [wiring] = wire(job, dry_run(spark, job), "checkpoint")
    query = SegmentQuery(spark, job, wiring, 1.0, True, Generation(), "checkpoint/some", False, lambda plan: ())
    assert query._meter is not None
    run(query._meter.around("some", lambda frame: frame.where("id < 7"), numbers(spark, 100), last=True))
    query.rewind(0)
    run(query._meter.around("some", lambda frame: frame.where("id < 2"), numbers(spark, 100), last=True))
    assert query._meter.inside("some").records_out == 2


def test_of_several_records_made_of_one_the_first_is_timed(spark: SparkSession) -> None:
    """Until the next one leaves, all operators behind have worked on the first."""
    meter, waits = Meter(spark), "reflect('java.lang.Thread', 'sleep', cast(2 + 0 * id as bigint))"
    copies = F.explode(F.array(F.lit(1), F.lit(2)))
    frame = meter.around("twice", lambda frame: frame.withColumn("copy", copies), numbers(spark, 50))
    run(meter.around("slow", lambda frame: frame.select("*", F.expr(waits).alias("waited")), frame))
    twice, slow = (meter.inside(name) for name in ("twice", "slow"))
    assert (twice.records_out, twice.timed) == (100, 50)
    assert twice.seconds < slow.seconds / 2


def test_nothing_is_put_into_a_plain_operator_but_latency_behind_the_last(spark: SparkSession) -> None:
    meter = Meter(spark)
    frame = meter.around(
        "more", lambda frame: frame.withColumn("more", F.col("id") + 1), numbers(spark, 100), metered=False
    )
    assert "Filter" not in optimised(frame)
    frame = frame.withColumn(STAMP, F.when(F.col("id") < 20, F.col(STAMP)))
    most = F.col("more") + 1
    run(meter.around("most", lambda frame: frame.withColumn("most", most), frame, metered=False, last=True))
    assert [len(gathered.taken()) for gathered in meter._latency.values()] == [20, 20]


def test_what_an_operator_computes_is_done_before_it_is_left(spark: SparkSession) -> None:
    """Generated code would put off a column until somebody needs it."""
    meter = Meter(spark)
    costly = F.expr("aggregate(sequence(1, 20000), 0L, (a, x) -> a + x * id)")
    one_task = numbers(spark, 200).coalesce(1)  # many on few cores wait for each other, wherever they are
    frame = meter.around("computes", lambda frame: frame.withColumn("sum", costly), one_task)
    run(meter.around("adds", lambda frame: frame.withColumn("more", F.col("sum") + 1), frame))
    computes, adds = (meter.inside(name) for name in ("computes", "adds"))
    assert computes.seconds > adds.seconds


def test_columns_that_nobody_needs_are_not_carried_along_to_be_measured(spark: SparkSession) -> None:
    meter, wide = Meter(spark), numbers(spark, 1).withColumn("old", F.col("id") + 1)
    frame = meter.around("first", lambda frame: frame.withColumn("new", F.col("old") + 1), wide.repartition(2))
    frame = meter.around("second", lambda frame: frame.withColumn("newer", F.col("new") + 1), frame.repartition(3))
    behind, ahead = optimised(frame.select("newer", STAMP)).split("Repartition 3")
    assert "old" in ahead
    assert "old" not in behind + ahead.splitlines()[1]


def test_all_are_counted_and_those_with_a_stamp_are_timed(spark: SparkSession) -> None:
    meter = Meter(spark)
    sampled = numbers(spark, 10_000).withColumn(STAMP, F.when(F.col("id") % 20 == 0, F.col(STAMP)))
    run(meter.around("same", lambda frame: frame, sampled, last=True))
    inside = meter.inside("same")
    assert inside.records_out == 10_000
    assert inside.timed == len(meter._latency["event"].taken()) == 500


def test_a_record_that_was_timed_and_dropped_is_not_taken_for_the_next(spark: SparkSession) -> None:
    meter = Meter(spark)
    sampled = numbers(spark, 100).coalesce(1).withColumn(STAMP, F.when(F.col("id") % 2 == 0, F.col(STAMP)))
    run(meter.around("odd", lambda frame: frame.where("id % 2 = 1"), sampled))
    assert meter.inside("odd") == Inside(50, 0, 0.0)


def test_an_operator_that_hands_on_every_record_may_be_timed_and_not_counted(spark: SparkSession) -> None:
    meter = Meter(spark)
    sampled = numbers(spark, 10_000).withColumn(STAMP, F.when(F.col("id") % 20 == 0, F.col(STAMP)))
    run(meter.around("more", lambda frame: frame.withColumn("more", F.col("id") + 1), sampled, counted=False))
    inside = meter.inside("more")
    assert (inside.records_out, inside.timed) == (0, 500)
    assert inside.seconds > 0


def test_some_hundreds_of_a_batch_are_chosen_whatever_its_size(spark: SparkSession) -> None:
    meter, chosen = Meter(spark), []
    for expected in (100, 100_000):
        meter.expect(expected)
        chosen.append(spark.range(100_000).where(meter.chosen(spark)).count())
    assert chosen[0] == 100_000
    assert TIMED / 2 < chosen[1] < 2 * TIMED


def test_a_sum_leaves_out_nulls_and_adds_up_over_tasks(spark: SparkSession) -> None:
    total, sample = SumAccumulator(spark), Gathered(spark)
    hundreds = F.when(F.col("id") % 100 == 0, F.col("id"))
    run(spark.range(1_000).repartition(3).where(total.adding(hundreds)).where(sample.adding(hundreds)))
    assert (total.sum, total.count) == (4_500, 10)
    assert sorted(sample.taken()) == list(range(0, 1_000, 100))
    assert sample.taken() == []


def test_a_task_remembers(spark: SparkSession) -> None:
    number = Remembered(spark)
    rows = spark.range(4).repartition(1).where(number.setting(nanoseconds(spark))).withColumn("then", number.value)
    assert all(row.then > 0 for row in rows.collect())


def test_a_task_begins_with_what_the_driver_set_last(spark: SparkSession) -> None:
    number = Remembered(spark, 7)
    frame = spark.range(1).withColumn("seen", number.value)
    seen = [row.seen for row in frame.collect()]
    number.set(8)
    assert seen + [row.seen for row in frame.collect()] == [7, 8]


def test_more_is_gathered_than_fits_one_call(spark: SparkSession) -> None:
    sample = Gathered(spark)
    run(spark.range(2 * VALUES_IN_A_CALL + 1).where(sample.adding(F.col("id"))))
    assert sorted(sample.taken()) == list(range(2 * VALUES_IN_A_CALL + 1))


def test_a_few_hundred_times_of_creation_are_sampled_whatever_the_size_of_a_batch(spark: SparkSession) -> None:
    times, seen = TimesOfCreation(spark), []
    for records in (50_000, 50_000, 300, 300):
        run(times.sampled(numbers(spark, records)))
        seen.append(len(times.taken()))
    assert 10 < seen[0] < 100  # nobody knows the size of the first: one in a thousand
    assert SAMPLED / 3 < seen[1] < 3 * SAMPLED
    assert seen[2] < 30  # as if it had as many as the one before it
    assert seen[3] == 300


def test_a_stamp_says_when_a_record_was_taken(spark: SparkSession) -> None:
    made = spark.createDataFrame([("2024-02-29 01:02:03.456789",)], "created string")
    row = stamped(made, "created", now(spark)).selectExpr("stamp.*", "current_timestamp() as now").first()
    assert row is not None
    assert str(row.created).endswith("03.456789")
    assert row.taken.year == row.now.year


def test_nothing_arrives_before_it_was_made() -> None:
    assert latency_of([]) is None
    found = latency_of([-3, 10])
    assert found is not None
    assert found.mean == 5.0


def numbers(spark: SparkSession, count: int) -> DataFrame:
    return stamped(spark.range(count).withColumn("created", F.current_timestamp()), "created", now(spark))


def run(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()


def optimised(frame: DataFrame) -> str:
    text: str = frame._jdf.queryExecution().optimizedPlan().toString()
    return text
