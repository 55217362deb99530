"""Nexmark's Query 5 and Query 11 on Spark, rescaled by AuTraScale while bids come: Fig. 8 as far as Spark has it.

Both keep state, so they are native queries: a change stops the query, repartitions its state and starts it again from
its checkpoint. All operators of a query share one number of partitions. A bid takes as long as it takes to ask another
system, in the instance that then counts it.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from penstock.guards import only
from penstock.model import Cycle, Plan, Slo
from penstock.papers.autrascale.spark.bids import NOBODY, SCHEMA, Bids, write
from penstock.papers.autrascale.spark.nexmark import QUERIES
from penstock.papers.spark.runner import TrialRunner
from penstock.papers.spark.trial import KEEP_UP
from penstock.report.item import Chart, Item, Series
from penstock.report.item import Row as Figure
from penstock.report.judging import Judged
from penstock.spark.native.engine import STATE, NativeEngine
from penstock.spark.native.query import NativeQuery
from penstock.testbed.service import waiting

SERVICE_MS, MOST, BATCH, FILE_SECONDS = 8, 8, 2.0, 1.0
SECONDS = 28
"""Each of the two rates lasts so long."""
OPTIONS = {"keep_up_tolerance": KEEP_UP, "policy_running_time": 2 * BATCH}
FILES = 4
"""A batch reads so many files at most. One that reads all that has come takes longer and longer while the query falls
behind: the first took 37 s, nothing was decided before its end, and the stop waited a minute for the second."""
ANSWER_SECONDS = 60.0


@dataclass(frozen=True)
class Change:
    """A query, the column that its state is divided by, and the bids a second before and after."""

    query: str
    key: str
    before: int
    after: int


CHANGES = {"Query 5": Change("nexmark_q5", "auction", 200, 300), "Query 11": Change("nexmark_q11", "bidder", 240, 300)}
"""The rates relate to each other as 20k to 30k and 80k to 100k records/s."""


@dataclass
class Rescaled:
    """What came of a query: its cycles, how long its changes stopped it, and whether its results are right."""

    cycles: list[Cycle] = field(default_factory=list)
    stops: list[float] = field(default_factory=list)
    windows: int = 0
    right: bool = False

    @property
    def partitions(self) -> list[int]:
        """The partitions one after the other."""
        return [1, *(cycle.decision.plan[STATE] for cycle in self.cycles if cycle.changed)]

    def within(self, since: float, until: float) -> list[Cycle]:
        return [cycle for cycle in self.cycles if since <= cycle.t < until]


class Bidders(threading.Thread):
    """Writes the bids of each second when it has passed, first at one rate, then at the other."""

    def __init__(self, change: Change, folder: Path) -> None:
        super().__init__(daemon=True)
        self._rates = (Bids(rate=change.before, file_seconds=FILE_SECONDS), Bids(rate=change.after, file_seconds=1.0))
        self._folder = folder
        self._ended = threading.Event()
        self.written = 0

    def run(self) -> None:
        while self.written < 2 * SECONDS and not self._ended.wait(FILE_SECONDS):
            bids = self._rates[0] if self.written < SECONDS else self._rates[1]
            write(bids.file(self.written), self._folder, self.written)
            self.written += 1

    def close(self) -> None:
        """End, with two files that carry event time so far that all windows close."""
        self._ended.set()
        self.join()
        for number in (self.written, self.written + 1):
            write(self._rates[0].closing(number), self._folder, number)


def rescaled(spark: SparkSession, change: Change) -> Rescaled:
    """Run a query for as long as bids come, and compare what it gave out with the same query over a table."""
    found = Rescaled()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        source, results = folder / "bids", folder / "results"
        source.mkdir()
        bidders = Bidders(change, source)
        query = NativeQuery(change.query, _build(change, source, results), max=MOST)
        with query.start(
            spark, slo=Slo(), checkpoint=str(folder / "checkpoint"), plan=Plan({STATE: 1}), batch=f"{BATCH:g} s",
            policy="autrascale", policy_options=OPTIONS, guards=only(), interval=f"{2 * BATCH:g} s",
            on_cycle=found.cycles.append,
        ) as job:  # fmt: skip
            began = job.engine.now()
            bidders.start()
            job.wait(2.0 * SECONDS)
            bidders.close()
            answer = sorted(QUERIES[change.query](_table(spark, source)).collect())
            found.windows = len(answer)
            found.right = _comes_to(job.wait, lambda: _results(spark, results), answer)
            assert isinstance(job.engine, NativeEngine)
            found.stops = [each.seconds for each in job.engine.changes]
        found.cycles = [replace(cycle, t=cycle.t - began) for cycle in found.cycles]
    return found


def _build(change: Change, source: Path, results: Path) -> Callable[[SparkSession, Plan], DataStreamWriter]:
    def keep(rows: DataFrame, batch: int) -> None:
        rows.write.mode("overwrite").parquet(f"{results}/batch={batch}")  # a batch that is repeated stays one

    def build(spark: SparkSession, plan: Plan) -> DataStreamWriter:
        reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", FILES)
        bids = reader.parquet(str(source)).repartition(plan[STATE], change.key)
        return QUERIES[change.query](waiting(SERVICE_MS, change.key)(bids)).writeStream.foreachBatch(keep)

    return build


def _table(spark: SparkSession, source: Path) -> DataFrame:
    return spark.read.schema(SCHEMA).parquet(str(source)).where(f"bidder != {NOBODY} AND NOT late")


def _results(spark: SparkSession, results: Path) -> list[Row]:
    if not any(results.glob("batch=*")):
        return []
    return sorted(spark.read.parquet(str(results)).drop("batch").collect())


def _comes_to(wait: Callable[[float], bool], results: Callable[[], list[Row]], answer: list[Row]) -> bool:
    """Whether the results come to be the answer while the query works on."""
    for _ in range(round(ANSWER_SECONDS)):
        if results() == answer:
            return True
        wait(1.0)
    return False


def nexmark(runner: TrialRunner) -> Item:
    found = {}
    for name, change in CHANGES.items():
        runner.say(f"{change.query}: {2 * SECONDS} s and its answer")
        found[name] = rescaled(runner.place.spark, change)
    return item(found)


def item(found: dict[str, Rescaled]) -> Item:
    rows = [row for name, each in found.items() for row in _rows(name, each)]
    return Item.of(
        title="AuTraScale, Fig. 8 (Nexmark), on Spark",
        setting="nexmark_q5 from 200 to 300 and nexmark_q11 from 240 to 300 bids/s (20k to 30k and 80k to 100k in the "
        f"paper), {SECONDS} s each, as native queries in micro-batches of {BATCH:g} s, of at most {FILES} s of bids, "
        f"from one partition of their state, at most {MOST}; a bid takes {SERVICE_MS} ms; autrascale without a latency "
        f"target every {2 * BATCH:g} s: throughput optimisation, as all operators of a query share one number of "
        "partitions and nothing is left to search; every change is a stop, a repartition of the state and a start. "
        "Nothing is simulated beside it",
        rows=rows,
        claims={
            f"{name}: {text}": judged
            for name, each in found.items()
            for text, judged in {
                "the policy rescales the query while bids come": (
                    any(cycle.before[STATE] > 1 for cycle in each.within(0.0, 2 * SECONDS)),
                    " -> ".join(map(str, each.partitions)),
                ),
                "at the higher rate it has no fewer partitions": _grows(each),
                "its results are those of the same query over a table": (each.right, f"{each.windows:,} rows"),
            }.items()
        },
        charts=(
            Chart(
                "Fig. 8 (Nexmark) on Spark", "s", "partitions",
                tuple(
                    Series(name, tuple(c.t for c in each.cycles), tuple(float(c.before[STATE]) for c in each.cycles))
                    for name, each in found.items()
                ),
            ),
        ),
    )  # fmt: skip


def _grows(each: Rescaled) -> Judged:
    before, after = (_last(each.within(*span)) for span in ((0.0, SECONDS), (SECONDS, 2 * SECONDS)))
    if before is None or after is None:
        return None, "not decided at both rates"
    return after >= before, f"{before} and {after}"


def _last(cycles: list[Cycle]) -> int | None:
    return cycles[-1].decision.plan[STATE] if cycles else None


def _rows(name: str, each: Rescaled) -> list[Figure]:
    before, after = (_last(each.within(*span)) for span in ((0.0, SECONDS), (SECONDS, 2 * SECONDS)))
    return [
        Figure(f"{name}: partitions before", None, None, spark=before),
        Figure(f"{name}: partitions after", None, None, spark=after),
        Figure(f"{name}: changes", None, None, spark=len(each.partitions) - 1),
        Figure(f"{name}: a change stops it for", None, None, "s", spark=median(each.stops) if each.stops else None),
        Figure(f"{name}: rows of its result", None, None, spark=each.windows),
    ]
