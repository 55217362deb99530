"""What a job under chaos reads from and writes to, seen from outside it: how far it has come, and what became of its
records."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
from confluent_kafka import Consumer

from chaos.applications import COPIES
from chaos.feed import Feed
from chaos.jobs import NUMBERS, OUT
from chaos.ways import ON_A_CLUSTER
from patience import HANG_SECONDS, wait_for
from penstock.spark.topics.offsets import Offsets
from penstock.testbed.broker import Broker
from penstock.testbed.standalone import StandaloneCluster, standalone_cluster

RATE, PARTITIONS = 60.0, 2
SETTLED_RECORDS = 200
WORKERS, CORES = 2, 2


@dataclass(frozen=True)
class Account:
    """What became of the records.

    records    as many came out
    lost       as many that went in did not
    twice      as many came out again
    overtaken  as many did not come out as their topic had thrown them away before they were read
    """

    records: int
    lost: int
    twice: int
    overtaken: int = 0


class Batches:
    """What a query has written into a folder, one folder for each batch. A batch that was read is not read again
    before it is written again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[Path, tuple[int, list[dict[str, Any]]]] = {}

    def rows(self) -> Iterator[dict[str, Any]]:
        """Of all batches that were written wholly."""
        for done in self._folder.glob("batch=*/_SUCCESS"):
            with suppress(FileNotFoundError):  # it is being written again
                written = done.stat().st_mtime_ns
                if self._read.get(done, (0, []))[0] != written:
                    files = sorted(done.parent.glob("*.parquet"))
                    self._read[done] = (
                        written,
                        [row for f in files for row in parquet.ParquetFile(f).read().to_pylist()],
                    )
                yield from self._read[done][1]

    def numbers(self) -> Counter[int]:
        return Counter(int(row["text"]) for row in self.rows())


class Outside(ABC):
    """Of one job.

    twice    whether the way it runs allows that records come twice
    broker   of its topics, if it has any
    feed     what is sent to them
    cluster  on which its executors are, if it has any
    lags     whether the plan in force may be another for a while, as lost executors are replaced
    disk     the small disk that its checkpoint is on, if it has one of its own
    """

    twice = False
    broker: Broker | None = None
    feed: Feed | None = None
    cluster: StandaloneCluster | None = None
    disk: Path | None = None

    @property
    def lags(self) -> bool:
        return self.cluster is not None

    @property
    def arguments(self) -> list[str]:
        """What the driver is told of it."""
        servers = [] if self.broker is None else [self.broker.servers]
        return servers + ([] if self.cluster is None else [self.cluster.master])

    @abstractmethod
    def done(self) -> float:
        """How far the job has come: it has recovered from a fault when this has grown by one."""

    @abstractmethod
    def account(self) -> Account:
        """When nothing more comes in, and whatever still comes out has done so."""


class Numbered(Outside):
    """The job makes its records itself, and writes them into files."""

    def __init__(self, folder: Path) -> None:
        self.out = folder / OUT

    def done(self) -> float:
        """Three batches that were written wholly are one."""
        return len(list(self.out.glob("batch=*/_SUCCESS"))) / 3

    def account(self) -> Account:
        """Of all batches that were written wholly: each number once, from 0 to the newest."""
        seen = Batches(self.out).numbers()
        newest = max(seen, default=-1)
        return Account(seen.total(), newest + 1 - len(seen), seen.total() - len(seen))


class Fed(Outside):
    """Numbers are sent to a topic of the job."""

    feed: Feed

    def __init__(self, broker: Broker, folder: Path) -> None:
        self.broker = broker
        broker.create_topic(NUMBERS, PARTITIONS)
        broker.create_topic(OUT, PARTITIONS)
        self.feed = Feed(broker.servers, NUMBERS, RATE, PARTITIONS)


class Topics(Fed):
    """A job in real time, which marks each number twice, on two ways, and writes it to a topic."""

    twice = True

    def done(self) -> float:
        assert self.broker is not None
        ends = Offsets(self.broker.servers).ends([OUT])
        return (0 if ends is None else ends[OUT]) / SETTLED_RECORDS

    def account(self) -> Account:
        assert self.broker is not None
        self.feed.stop()
        seen: Counter[bytes] = Counter()
        settings = {"bootstrap.servers": self.broker.servers, "group.id": "account", "auto.offset.reset": "earliest"}
        consumer = Consumer({**settings, "enable.partition.eof": False})
        consumer.subscribe([OUT])
        overtaken = {b"%d%s" % (n, mark) for n in self.feed.overtaken for mark in (b"l", b"r")}
        wanted = {b"%d%s" % (n, mark) for n in range(self.feed.sent) for mark in (b"l", b"r")}

        def all_there() -> bool:
            seen.update(each.value() or b"" for each in consumer.consume(5_000, 0.5) if not each.error())
            return wanted <= seen.keys() | overtaken

        _try(all_there)
        while rest := consumer.consume(5_000, 2.0):
            seen.update(each.value() or b"" for each in rest if not each.error())
        consumer.close()
        missing = wanted - seen.keys()
        return Account(seen.total(), len(missing - overtaken), seen.total() - len(seen), len(missing & overtaken))


class Counted(Fed):
    """A query that counts the numbers by key: every record is in its state once."""

    def __init__(self, broker: Broker, folder: Path) -> None:
        super().__init__(broker, folder)
        self._out = Batches(folder / OUT)

    def done(self) -> float:
        return self._counts().total() / SETTLED_RECORDS

    def account(self) -> Account:
        """Which records are in a count is not known, only how many: no more may be missing than were overtaken."""
        self.feed.stop()
        sent, gone = self.feed.keys.total(), len(self.feed.overtaken)
        _try(lambda: self._counts().total() >= sent - gone)
        wait_for(_settled(lambda: self._counts().total()), every=3.0)
        counts = self._counts()
        missing = (self.feed.keys - counts).total()
        return Account(
            counts.total(), max(0, missing - gone), (counts - self.feed.keys).total(), min(missing, gone)
        )  # fmt: skip

    def _counts(self) -> Counter[int]:
        """A count only grows: the newest is the largest."""
        counts: Counter[int] = Counter()
        for row in self._out.rows():
            counts[row["key"]] = max(counts[row["key"]], row["count"])
        return counts


class CountedAndCopied(Counted):
    """Two queries of one application: the same numbers are counted by one and copied by the other."""

    def __init__(self, broker: Broker, folder: Path) -> None:
        super().__init__(broker, folder)
        self._copies = Batches(folder / COPIES)

    def done(self) -> float:
        return min(super().done(), self._copies.numbers().total() / SETTLED_RECORDS)

    def account(self) -> Account:
        counted, gone = super().account(), self.feed.overtaken
        wanted = set(range(self.feed.sent))
        _try(lambda: wanted <= self._copies.numbers().keys() | gone)
        seen = self._copies.numbers()
        missing = wanted - seen.keys()
        return Account(
            counted.records + seen.total(),
            counted.lost + len(missing - gone),
            counted.twice + seen.total() - len(seen),
            counted.overtaken + len(missing & gone),
        )


FED: dict[str, type[Fed]] = {
    "restart": Topics, "handover": Topics, "native": Counted, "attached": Counted, "watched": CountedAndCopied,
}  # fmt: skip


@contextmanager
def outside(job: str, folder: Path) -> Iterator[Outside]:
    """What stands around a job, as long as the chaos lasts."""
    if job not in FED:
        yield Numbered(folder)
        return
    with ExitStack() as stack:
        cluster = stack.enter_context(standalone_cluster(WORKERS, CORES)) if job in ON_A_CLUSTER else None
        fed = FED[job](stack.enter_context(Broker()), folder)
        fed.cluster = cluster
        try:
            yield fed
        finally:
            fed.feed.stop()


def _settled(figure: Callable[[], float]) -> Callable[[], bool]:
    """Whether a figure is the same as when it was last looked at."""
    seen: list[float] = []

    def same() -> bool:
        seen.append(figure())
        return len(seen) > 1 and seen[-1] == seen[-2]

    return same


def _try(condition: Callable[[], object]) -> None:
    """Wait for something that does not come to be if a record is lost."""
    try:
        wait_for(condition, every=0.5)
    except AssertionError:
        print(f"it did not come to be within {HANG_SECONDS:.0f} s")
