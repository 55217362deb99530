"""The stages of jobs that a real Spark ran, known or forgotten."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from penstock.spark.measure.stages import JobRange, Stage, StageReader

pytestmark = pytest.mark.spark

Forgets = Callable[[Any], bool]


class Forgetful(StageReader):
    """Of a Spark that has forgotten what `forgets` holds of."""

    forgets: Forgets

    def _read(self, find: Any, number: int) -> dict[str, Any] | None:
        found = super()._read(find, number)
        return None if found is None or self.forgets(found) else found


def forgetful(spark: SparkSession, forgets: Forgets) -> Forgetful:
    reader = Forgetful(spark.sparkContext)
    reader.forgets = forgets
    return reader


def run(spark: SparkSession, reader: StageReader, tag: str = "a tag") -> JobRange:
    with reader.tagged(tag) as found:
        spark.range(1_000).repartition(3).repartition(5).write.format("noop").mode("overwrite").save()
    spark.range(1).collect()  # a job without the tag
    return found[0]


def test_stages_come_in_the_order_of_the_flow_and_say_what_their_tasks_did(spark: SparkSession) -> None:
    reader = StageReader(spark.sparkContext)
    found = reader.of_jobs(run(spark, reader))
    assert found is not None
    stages = [stage for job in found for stage in job]
    assert [stage.tasks for stage in stages][-1] == 5
    assert (stages[-1].records_in, stages[0].records_out) == (1_000, 1_000)
    assert [len(stage.by_task) for stage in stages] == [stage.tasks for stage in stages]
    assert sum(task.records_in for task in stages[-1].by_task) == 1_000
    assert sum(task.useful_seconds for task in stages[-1].by_task) == pytest.approx(stages[-1].useful_seconds, abs=1e-3)
    assert all(0 < stage.submitted <= stage.completed for stage in stages)
    # Spark counts CPU time in nanoseconds, but cuts the run time of each task to whole milliseconds.
    assert all(0 < stage.cpu_seconds <= stage.run_seconds + 0.001 * stage.tasks for stage in stages)


def test_tasks_are_not_looked_at_one_by_one_where_there_are_very_many(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.spark.measure.stages.MOST_TASKS", 4)
    reader = StageReader(spark.sparkContext)
    found = reader.of_jobs(run(spark, reader))
    assert found is not None
    looked_at = {stage.tasks: len(stage.by_task) for job in found for stage in job}
    assert looked_at[5] == 0
    assert all(looked_at[tasks] == tasks for tasks in looked_at if tasks <= 4)


def test_jobs_without_the_tag_are_left_out(spark: SparkSession) -> None:
    reader = StageReader(spark.sparkContext)
    jobs = run(spark, reader)
    wider = JobRange(jobs.tag, jobs.first, jobs.end + 1)
    assert reader.of_jobs(wider) == reader.of_jobs(jobs)
    assert reader.of_jobs(JobRange("another", jobs.first, jobs.end)) == []


def test_a_job_or_a_stage_that_spark_has_forgotten_is_not_known(spark: SparkSession) -> None:
    jobs = run(spark, StageReader(spark.sparkContext))
    assert StageReader(spark.sparkContext).of_jobs(JobRange("a tag", 10**6, 10**6 + 1)) is None
    assert forgetful(spark, lambda found: found.get("numTasks") == 5 and "stageId" in found).of_jobs(jobs) is None
    assert forgetful(spark, lambda found: found.get("jobId") == jobs.first).of_jobs(jobs) is None


def test_the_cpu_time_of_all_jobs_since_then_is_summed_up_with_or_without_a_tag(spark: SparkSession) -> None:
    reader = StageReader(spark.sparkContext)
    first = reader.next_job()
    assert reader.cpu_seconds(first) == 0.0
    spark.range(200_000).repartition(3).count()
    once = reader.cpu_seconds(first)
    spark.range(200_000).repartition(3).count()
    twice = reader.cpu_seconds(first)
    assert once is not None
    assert twice is not None
    assert 0.0 < once < twice
    assert reader.cpu_seconds(reader.next_job()) == 0.0


def test_waiting_for_a_shuffle_is_not_useful() -> None:
    stage = Stage(2, 1.0, 10, 10, deserialise_seconds=0.25, fetch_wait_seconds=0.5, submitted=3.0, completed=5.0)
    assert (stage.useful_seconds, stage.held_seconds, stage.seconds) == (0.5, 0.75, 2.0)


@pytest.fixture
def query(spark: SparkSession, tmp_path: Path) -> Iterator[StreamingQuery]:
    """Three batches, each with a job whose first stage is skipped: adaptive execution has run it in another."""
    (tmp_path / "in").mkdir()
    for number in range(3):
        (tmp_path / "in" / f"{number}.txt").write_text("a\nb\n", encoding="utf-8")

    def count(frame: DataFrame, batch: int) -> None:
        frame.groupBy("value").count().collect()

    lines = spark.readStream.format("text").option("maxFilesPerTrigger", 1).load(str(tmp_path / "in"))
    started = (
        lines.writeStream.foreachBatch(count)
        .option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    )  # fmt: skip
    started.processAllAvailable()
    yield started
    started.stop()


def test_the_stages_of_a_batch_are_found_by_the_run_of_its_query(spark: SparkSession, query: StreamingQuery) -> None:
    reader, run = StageReader(spark.sparkContext), str(query.runId)
    found = reader.of_batches(run, 0, 2)
    assert sorted(found) == [0, 1, 2]
    assert [stage.records_in for stage in found[1]] == [2, 2]
    assert reader.of_batches(run, 1, 1) == {1: found[1]}
    assert reader.of_batches("another", 0, 2) == {}


def test_a_batch_of_which_a_stage_or_a_job_is_forgotten_is_left_out(spark: SparkSession, query: StreamingQuery) -> None:
    run, reader = str(query.runId), StageReader(spark.sparkContext)
    jobs = sorted(spark.sparkContext.statusTracker().getJobIdsForGroup(run))
    oldest = reader._job(jobs[0])
    assert oldest is not None
    of_stage = forgetful(spark, lambda found: found.get("stageId") == max(oldest["stageIds"]))
    assert sorted(of_stage.of_batches(run, 0, 2)) == [1, 2]
    before = forgetful(spark, lambda found: found.get("jobId", jobs[0]) < jobs[0])
    assert sorted(before.of_batches(run, 0, 2)) == [1, 2]  # jobs of batch 0 may be gone as well
    assert sorted(before.of_batches(run, 1, 2)) == [1, 2]


def test_a_skipped_stage_may_be_forgotten(spark: SparkSession, query: StreamingQuery) -> None:
    reader = forgetful(spark, lambda found: found.get("status") == "SKIPPED")
    assert sorted(reader.of_batches(str(query.runId), 0, 2)) == [0, 1, 2]
