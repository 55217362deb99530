"""What is worked out from a log of a job whose costs are known is what they are."""

from __future__ import annotations

import gc
import json
import sys
from dataclasses import replace
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

from made_up_log import BEGAN, MadeUpJob, daily
from penstock.advise.history import History, read_history
from penstock.advise.lines import lines
from penstock.advise.log_files import BrokenLogError, EventLog
from penstock.advise.query_history import QueryHistory, sharing
from penstock.model import Slo

SLO = Slo(event_latency="30 s")
WAVE = MadeUpJob(rate=daily(4000), seconds=7200)


def read(job: MadeUpJob, folder: Path, slo: Slo = SLO) -> tuple[History, QueryHistory]:
    history = read_history(EventLog(job.write(folder / "log")), slo)
    (query,) = history.queries.values()
    return history, query


def test_costs_are_found_again(tmp_path: Path) -> None:
    _, query = read(MadeUpJob(rate=daily(4000), seconds=43_200), tmp_path)
    assert query.cost.estimate is not None
    best = query.cost.estimate.best
    assert best.fixed == pytest.approx(0.8, rel=0.02)
    assert best.per_record == pytest.approx(0.001, rel=0.01)
    assert best.overhead == pytest.approx(0.5, rel=0.01)
    assert query.trigger_seconds == 10
    assert query.usual_tasks == 64
    assert query.stretch == pytest.approx(1.0, rel=0.01)


def test_batches_that_follow_one_another_have_no_trigger(tmp_path: Path) -> None:
    _, query = read(MadeUpJob(trigger=0.0), tmp_path)
    assert query.trigger_seconds == 0


def test_what_executors_cost_is_cores_times_time(tmp_path: Path) -> None:
    history, query = read(WAVE, tmp_path)
    assert query.core_seconds == pytest.approx(8 * query.seconds)
    assert query.task_seconds == pytest.approx(0.8 * query.batches + 0.001 * query.records, rel=1e-3)
    assert history.share(query) == 1


def test_executors_that_come_and_go_are_paid_for_while_they_are_there() -> None:
    history = History(SLO)
    core_time = history.core_time
    for t, executor in ((0.0, "1"), (1.0, "2")):
        core_time.add(t, executor, 4)
    core_time.remove(101.0, "2")
    core_time.remove(101.5, "2")  # Spark tells it twice
    assert core_time.until(201.0) == 4 * 201 + 4 * 100
    assert core_time.changes == 1


def test_the_load_is_what_came_not_what_was_taken(tmp_path: Path) -> None:
    """A batch takes half of what comes: the rest waits, and the log shows how much."""
    _, query = read(MadeUpJob(limit=5000), tmp_path)
    assert query.arrived is not None
    assert sum(query.arrived.amounts) == pytest.approx(1000 * (query.seconds - 10), rel=0.05)
    assert query.highest_lag == pytest.approx(500 * query.seconds, rel=0.05)


def test_a_job_that_falls_behind_is_outside_its_target(tmp_path: Path) -> None:
    _, query = read(MadeUpJob(limit=5000), tmp_path)
    # It is 30 s late once 15,000 records wait, which 500 records/s have brought after 30 s.
    assert query.outside_seconds / query.seconds == pytest.approx(0.95, abs=0.04)
    _, query = read(MadeUpJob(), tmp_path)
    assert query.outside_seconds == 0
    # Half an interval, and the 1.85 s of a batch.
    assert query.latency.mean == pytest.approx(5 + 0.5 + 10.8 / 8, rel=0.01)


def test_a_log_is_read_with_memory_that_does_not_grow_with_it(tmp_path: Path) -> None:
    day, _ = read(MadeUpJob(rate=daily(4000), seconds=86_400), tmp_path)
    days, query = read(MadeUpJob(rate=daily(4000), seconds=4 * 86_400), tmp_path)
    assert query.batches == pytest.approx(4 * 8640, rel=0.01)
    assert size(days) < 1.2 * size(day)


def size(value: object) -> int:
    """Bytes of a value and of all that it refers to, classes and functions apart."""
    seen: dict[int, object] = {}
    waiting = [value]
    while waiting:
        for each in gc.get_referents(waiting.pop()):
            if id(each) not in seen and not isinstance(each, type | ModuleType | FunctionType):
                seen[id(each)] = each
                waiting.append(each)
    return sum(map(sys.getsizeof, seen.values()))


def test_a_stage_of_a_few_tasks_is_shared_by_few_slots() -> None:
    assert sharing(8, 8) == sharing(8, 100) == 8
    assert sharing(8, 7) == sharing(8, 4) == 4


def test_a_last_line_that_is_cut_off_is_left_out(tmp_path: Path) -> None:
    log = WAVE.write(tmp_path / "log.inprogress")
    text = log.read_bytes()
    whole = read_history(EventLog(log), SLO)
    for cut in (1, 2, 50, 300):
        log.write_bytes(text[:-cut])
        (query,) = read_history(EventLog(log), SLO).queries.values()
        assert query.batches >= next(iter(whole.queries.values())).batches - 1


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    log = WAVE.write(tmp_path / "log")
    good = log.read_text(encoding="utf-8").splitlines()
    for number, bad, why in (
        (20, "garbage", "the line is not JSON"),
        (20, good[19][:-3], "the line is not JSON"),
        (20, '{"Event":1}', "the line is not an event"),
        (1, "<html>", "it is not an event log of Spark"),
        (1, good[1], "begins with SparkListenerLogStart"),
        (9, '{"Event":"SparkListenerExecutorAdded","Timestamp":1}', "has no Executor ID"),
        (9, '{"Event":"SparkListenerExecutorRemoved","Timestamp":"x","Executor ID":"1"}', "is not as Spark writes it"),
    ):
        lines_ = [*good[: number - 1], bad, *good[number:]]
        log.write_text("\n".join(lines_) + "\n", encoding="utf-8")
        with pytest.raises(BrokenLogError, match=why) as caught:
            read_history(EventLog(log), SLO)
        assert (caught.value.file, caught.value.line) == (log, number)


def test_parts_of_a_rolled_log_are_one_log(tmp_path: Path) -> None:
    text = [json.dumps(event, separators=(",", ":")) + "\n" for event in WAVE.events()]
    folder = tmp_path / "eventlog_v2_app-1"
    folder.mkdir()
    for number in range(12):
        part = text[number * len(text) // 12 : (number + 1) * len(text) // 12]
        (folder / f"events_{number + 1}_app-1").write_text("".join(part), encoding="utf-8")
    _, query = read(WAVE, tmp_path)
    (same,) = read_history(EventLog(folder), SLO).queries.values()
    assert (same.batches, same.records, same.core_seconds) == (query.batches, query.records, query.core_seconds)
    read_so_far = [line.bytes for line in lines(EventLog(folder))]
    assert read_so_far == sorted(read_so_far)
    assert read_so_far[-1] == EventLog(folder).size


def test_a_query_that_was_started_again_goes_on(tmp_path: Path) -> None:
    """Two runs of one query: what came while it was down came, and is not forgotten."""
    first = [event for event in MadeUpJob(seconds=300).events() if event["Event"] != "SparkListenerApplicationEnd"]
    log = tmp_path / "log"
    with log.open("w", encoding="utf-8") as file:
        for event in first:
            file.write(json.dumps(event, separators=(",", ":")) + "\n")
        idle = {"Event": "org.apache.spark.sql.streaming.StreamingQueryListener$QueryIdleEvent", "id": "clicks-id"}
        file.write(
            json.dumps({**idle, "runId": "r", "timestamp": "2026-09-21T15:00:00.000Z"}, separators=(",", ":")) + "\n"
        )
    (query,) = read_history(EventLog(log), SLO).queries.values()
    assert query.arrived is not None
    assert sum(query.arrived.amounts) == pytest.approx(1000 * 280, rel=0.05)
    assert len(query.arrived.amounts) * query.arrived.width > 600  # nothing came up to then
    assert query.begin == BEGAN + 10


def together(one: MadeUpJob, other: MadeUpJob, folder: Path, later: float = 0.0) -> History:
    """Two queries of one application, the second one that many seconds later."""
    lines_ = [json.dumps(event, separators=(",", ":")) for event in one.events()]
    others = [
        json.dumps(event, separators=(",", ":")).replace('"Stage ID":', '"Stage ID":9')
        for event in replace(other, began=BEGAN + later).events()
        if "SparkListenerStage" in event["Event"] or "StreamingQuery" in event["Event"]
    ]
    (folder / "log").write_text("\n".join([*lines_[:-1], *others]) + "\n", encoding="utf-8")
    return read_history(EventLog(folder / "log"), SLO)


def test_two_queries_share_by_the_time_of_their_tasks(tmp_path: Path) -> None:
    large, small = MadeUpJob(fixed=0.5), MadeUpJob(name="small", rate=lambda t: 100.0, fixed=0.5)
    history = together(large, small, tmp_path)
    shares = {query.name: history.share(query) for query in history.queries.values()}
    assert sum(shares.values()) == pytest.approx(1, rel=1e-3)
    assert shares["small"] == pytest.approx(1.5 / (10.5 + 1.5), rel=0.02)
    assert not any(history.alone(query) for query in history.queries.values())


def test_a_query_after_another_has_all_cores_to_itself(tmp_path: Path) -> None:
    history = together(MadeUpJob(), MadeUpJob(name="second"), tmp_path, later=700.0)
    assert [(query.name, history.share(query)) for query in history.queries.values()] == [("clicks", 1), ("second", 1)]
    assert all(history.alone(query) for query in history.queries.values())
