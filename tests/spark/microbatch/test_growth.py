"""A job that needs more: how soon that is seen, and what happens until executors have come."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pytest
from pyspark.sql import SparkSession

from microbatch_jobs import engine_of
from penstock.load.curves import constant
from penstock.model import OperatorSample, Plan, Sample
from penstock.spark import Pipeline, files, replay
from penstock.spark.executors.slots import FixedSlots, NotEnoughSlotsError
from spark_jobs import as_text, until

pytestmark = pytest.mark.spark


def test_a_batch_that_takes_much_longer_is_seen_while_it_runs(spark: SparkSession, tmp_path: Path) -> None:
    closed = tmp_path / "closed"

    def through_the_gate(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for frame in frames:
            while closed.exists():
                time.sleep(0.01)
            yield frame

    job = Pipeline("gate", source=replay(constant(100.0, 3_600.0)))
    job.operator("only", lambda frame: frame.select("value").mapInPandas(through_the_gate, "value binary"))
    job.sink(files(str(tmp_path / "out")), after="only")
    engine = engine_of(spark, job, tmp_path)
    engine.start(Plan({"only": 1}))
    seen: list[Sample] = []

    def found(late: bool) -> bool:
        seen.extend(sample for sample in engine.read() if not sample.warm_up)
        return bool(seen) and (seen[-1].throughput is None if late else bool(seen[-1].batches))

    until(lambda: found(late=False), "batches as usual", engine)
    longest = max(batch.seconds for batch in seen[-1].batches or ())
    closed.touch()
    until(lambda: found(late=True), "a window of the batch that waits", engine)
    late = seen[-1]
    closed.unlink()
    until(lambda: found(late=False), "batches as usual again", engine)
    engine.stop()
    assert late.operators["only"] == OperatorSample(1)  # nothing is known of it yet
    assert late.job_input_rate is not None
    assert late.job_input_rate > 0
    assert late.backlog is not None
    assert late.backlog > 0
    assert late.processing_latency_ms is not None
    assert (late.processing_latency_ms.mean or 0) / 1e3 > longest


class LateSlots(FixedSlots):
    """Slots that come when they are let, or never."""

    def __init__(self, spark: SparkSession) -> None:
        super().__init__(spark)
        self.asked, self.answer = threading.Event(), threading.Event()
        self.come = True

    def require(self, slots: int, ahead: int = 0) -> None:
        if slots > 1:
            self.asked.set()
            self.answer.wait()
            if not self.come:
                raise NotEnoughSlotsError(slots, 1)


@pytest.mark.parametrize("come", [True, False])
def test_a_plan_waits_for_its_slots_and_the_job_runs_on_meanwhile(
    spark: SparkSession, tmp_path: Path, come: bool
) -> None:
    """If they do not come the job is as it was, and whoever asked is told why."""
    job = Pipeline("early", source=replay(constant(100.0, 3_600.0)))
    job.operator("only", as_text)
    job.sink(files(str(tmp_path / "out")), after="only")
    slots, small, wide = LateSlots(spark), Plan({"only": 1}), Plan({"only": 3})
    engine = engine_of(spark, job, tmp_path, slots=slots)
    slots.come = come
    engine.start(small)
    seen: list[Sample] = []

    def more() -> bool:
        new = engine.read()
        seen.extend(new)
        return bool(new)

    def measured(parallelism: int) -> bool:
        """Whether batches have ended since the last look that count, the newest of them under so many instances."""
        return more() and (seen[-1].operators["only"].parallelism, seen[-1].warm_up) == (parallelism, False)

    until(lambda: measured(1), "a job that has warmed up", engine)
    with ThreadPoolExecutor(1) as threads:
        change = threads.submit(engine.apply, wide)
        assert slots.asked.wait(60)
        engine.read()  # batches from before
        seen.clear()
        for _ in range(3):
            until(more, "batches while slots are awaited", engine)
        waiting = list(seen)
        slots.answer.set()
        error = change.exception(60)
    until(lambda: measured(3 if come else 1), "a job that has warmed up again", engine)
    engine.stop()
    assert {(sample.operators["only"].parallelism, sample.warm_up) for sample in waiting} == {(1, False)}
    assert isinstance(error, NotEnoughSlotsError) is not come
    assert engine.plan() == (wide if come else small)
