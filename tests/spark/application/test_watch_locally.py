"""Real queries under `watch` and `attach`, with executors that are only counted. On a cluster: test_watch.py."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from patience import wait_for
from penstock import Slo
from penstock.model import InvalidValueError, Mode, Origin, PenstockError
from penstock.spark import attach, watch
from penstock.spark.application import watch as watch_module
from penstock.spark.application.watch import Watch
from penstock.spark.executors.claim import Claim, ClaimedError, claim
from penstock.spark.executors.core_seconds import ExecutorBill
from penstock.stores.memory import MemoryStore

pytestmark = pytest.mark.spark

TARGET = Slo(event_latency="60 s")  # long batches are allowed, so what every batch costs hardly counts
HASTE: dict[str, Any] = {
    "interval": "200 ms",
    "guards": {"patience": {"seconds": 1.0}, "stabilisation": None, "ineffective": None, "roll_back": None},
}
DECISIONS = 5

Start = Callable[..., StreamingQuery]


class CountedExecutors:
    """Three executors of one slot; every change is written down."""

    slots_each = 1

    def __init__(self, context: SparkContext, **options: object) -> None:
        self._context = context
        self.there = 3
        self.requested: int | None = None
        self.changes: list[int] = []

    def executors(self) -> int:
        return self.there

    def slots(self) -> int:
        return self.there

    def require(self, slots: int, ahead: int = 0) -> None:
        self.there = self.requested = slots
        self.changes.append(slots)

    give_back = require

    def cancel(self) -> None: ...

    def leaving(self) -> int:
        return 0

    def bill(self) -> ExecutorBill:
        return ExecutorBill(lambda until: 0.0, 1, 3)

    def claim(self, who: str) -> Claim:
        return claim(self._context, who)


@pytest.fixture
def start(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Starts a query with a light load, which needs one slot."""
    monkeypatch.setattr(watch_module, "ExecutorSlots", CountedExecutors)
    started: list[StreamingQuery] = []

    def begin(name: str, available_now: bool = False) -> StreamingQuery:
        rows = spark.readStream.format("rate").option("rowsPerSecond", 20).option("numPartitions", 1).load()
        writer = rows.writeStream.format("noop").queryName(name).option("checkpointLocation", str(tmp_path / name))
        started.append((writer.trigger(availableNow=True) if available_now else writer).start())
        return started[-1]

    yield begin
    for query in started:
        query.stop()


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO, "penstock")
    return caplog


def counted(watched: Watch) -> CountedExecutors:
    found: Any = watched._shared.slots
    assert isinstance(found, CountedExecutors)
    return found


def decisions(watched: Watch, query: str) -> int:
    """How many decisions the policy has made since the present mode began."""
    report = watched.report().queries.get(query)
    cycles = () if report is None else report.cycles
    return sum(cycle.decision.reason.code.origin is Origin.POLICY for cycle in cycles)


def test_two_queries_under_one_watch_have_executors_for_both_and_do_not_fight(
    spark: SparkSession, start: Start, log: pytest.LogCaptureFixture
) -> None:
    start("first")
    watched = watch(spark, slo=TARGET, executors=(1, 3), **HASTE)
    start("second")
    try:
        wait_for(lambda: all(f"{query}: would change" in log.text for query in ("first", "second")))
        assert counted(watched).changes == []  # it is only watched
        watched.mode = "active"  # and nothing is started again
        wait_for(lambda: counted(watched).there == 2)
        wait_for(lambda: all(decisions(watched, query) >= DECISIONS for query in ("first", "second")))
    finally:
        watched.stop()
    report, changes = watched.report(), counted(watched).changes
    assert min(changes) == 2  # one for each, and neither takes that of the other
    assert (report.mode, report.changes) == (Mode.ACTIVE, len(changes))
    assert str(report).count(" records/s the load fills ") == 2  # and how sure that is
    lines = [each.message for each in log.records if " -> " in each.message and "would change" not in each.message]
    assert [line.split(" -> ")[1].split("; ")[1].split(",")[0] for line in lines] == [f"{n} executors" for n in changes]


def test_two_controllers_of_one_application_refuse_each_other(spark: SparkSession, start: Start) -> None:
    query = start("clicks")
    attached = attach(query, slo=TARGET, executors=(1, 3))
    refusal = (
        "{} cannot change the executors of this application, because attach to query clicks does: end that first, or "
        "let one penstock.spark.watch steer all its queries"
    )
    try:
        with pytest.raises(ClaimedError) as again:
            attach(query, slo=TARGET, executors=(1, 3))
        with pytest.raises(ClaimedError) as other:
            watch(spark, slo=TARGET, executors=(1, 3))
    finally:
        attached.detach()
    assert str(again.value) == refusal.format("attach to query clicks")
    assert str(other.value) == refusal.format("watch")
    watch(spark, slo=TARGET, executors=(1, 3)).stop()  # the end of one leaves the executors to the next


def test_a_query_that_has_ended_is_refused_and_the_end_of_a_query_ends_its_controller(
    spark: SparkSession, start: Start
) -> None:
    query = start("clicks")
    attach(query, slo=TARGET, executors=(1, 3))
    query.stop()

    def released() -> bool:
        try:
            claim(spark.sparkContext, "a test").release()
        except ClaimedError:
            return False
        return True

    wait_for(released)
    with pytest.raises(PenstockError, match=r"^query clicks has ended: attach to it while it runs$"):
        attach(query, slo=TARGET, executors=(1, 3))


class Closing(MemoryStore):
    closed = False

    def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize("by", ["detaching", "the end of the query"])
def test_the_store_is_closed_at_the_end_and_not_before(start: Start, by: str) -> None:
    query, store = start("clicks"), Closing()
    attached = attach(query, slo=TARGET, executors=(1, 3), store=store, **HASTE)
    wait_for(lambda: store.recent(1))
    assert not store.closed
    attached.detach() if by == "detaching" else query.stop()
    wait_for(lambda: store.closed)


def test_a_query_without_micro_batches_is_refused(start: Start) -> None:
    with pytest.raises(PenstockError, match=r"^a query with trigger AvailableNowTrigger cannot be steered"):
        attach(start("all there is", available_now=True), slo=TARGET, executors=(1, 3))


def test_a_local_session_has_no_executors_to_change(
    spark: SparkSession, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = start("clicks")
    monkeypatch.undo()  # the real ones
    with pytest.raises(PenstockError, match="inside the driver"):
        attach(query, slo=TARGET, executors=(1, 3))


def test_what_cannot_be_is_refused_before_anything_starts(spark: SparkSession, start: Start) -> None:
    query = start("clicks")
    with pytest.raises(InvalidValueError, match=r"^executors must be the fewest and the most, such as \(1, 20\)"):
        attach(query, slo=TARGET, executors=3)  # type: ignore[arg-type]
    with pytest.raises(InvalidValueError, match=r"^mode 'passive' is not known"):
        attach(query, slo=TARGET, executors=(1, 3), mode="passive")
    with pytest.raises(InvalidValueError, match=r"^store must be a URL"):
        watch(spark, slo=TARGET, executors=(1, 3), store=object())  # type: ignore[arg-type]
    claim(spark.sparkContext, "a test").release()  # nobody was left with a claim
