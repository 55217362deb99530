"""What a job under chaos reads from and writes to, seen from outside it: how far it has come, and what became of its
records."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as parquet
from confluent_kafka import Consumer

from chaos.jobs import KEYS, NUMBERS, OUT
from numbered_load import NumberedLoad
from patience import HANG_SECONDS, wait_for
from penstock.spark.topics.offsets import Offsets
from penstock.testbed.broker import Broker

RATE, PARTITIONS = 60.0, 2
SETTLED_RECORDS = 200


@dataclass(frozen=True)
class Account:
    """What became of the records.

    records  as many came out
    lost     as many that went in did not
    twice    as many came out again
    """

    records: int
    lost: int
    twice: int


class Outside(ABC):
    """Of one job.

    servers  the broker of its topics; "" if it has none
    twice    whether the way it runs allows that records come twice
    """

    servers = ""
    twice = False
    broker: Broker | None = None
    partitions = 0

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
        seen = Counter(int(row["text"]) for row in _rows(self.out))
        newest = max(seen, default=-1)
        return Account(seen.total(), newest + 1 - len(seen), seen.total() - len(seen))


class Fed(Outside):
    """Numbers are sent to a topic of the job, and to new partitions of it as soon as there are any."""

    def __init__(self, broker: Broker) -> None:
        self.broker, self.servers, self.partitions = broker, broker.servers, PARTITIONS
        broker.create_topic(NUMBERS, PARTITIONS)
        broker.create_topic(OUT, PARTITIONS)
        self.load = NumberedLoad(broker.servers, NUMBERS, RATE, PARTITIONS)


class Topics(Fed):
    """A job in real time, which marks each number twice, on two ways, and writes it to a topic."""

    twice = True

    def done(self) -> float:
        ends = Offsets(self.servers).ends([OUT])
        return (0 if ends is None else ends[OUT]) / SETTLED_RECORDS

    def account(self) -> Account:
        self.load.stop()
        seen: Counter[bytes] = Counter()
        settings = {"bootstrap.servers": self.servers, "group.id": "account", "auto.offset.reset": "earliest"}
        consumer = Consumer({**settings, "enable.partition.eof": False})
        consumer.subscribe([OUT])

        def all_there() -> bool:
            seen.update(each.value() or b"" for each in consumer.consume(5_000, 0.5) if not each.error())
            return len(seen) >= 2 * self.load.sent

        _try(all_there)
        while rest := consumer.consume(5_000, 2.0):
            seen.update(each.value() or b"" for each in rest if not each.error())
        consumer.close()
        wanted = {b"%d%s" % (n, mark) for n in range(self.load.sent) for mark in (b"l", b"r")}
        return Account(seen.total(), len(wanted - seen.keys()), seen.total() - len(seen))


class Counted(Fed):
    """A query that counts the numbers by key: every record is in its state once."""

    def __init__(self, broker: Broker, folder: Path) -> None:
        super().__init__(broker)
        self.out = folder / OUT

    def done(self) -> float:
        return sum(self._counts().values()) / SETTLED_RECORDS

    def account(self) -> Account:
        self.load.stop()
        _try(lambda: sum(self._counts().values()) >= self.load.sent)
        counts = self._counts()
        due = Counter(number % KEYS for number in range(self.load.sent))
        return Account(counts.total(), (due - counts).total(), (counts - due).total())

    def _counts(self) -> Counter[int]:
        """A count only grows: the newest is the largest."""
        counts: Counter[int] = Counter()
        for row in _rows(self.out):
            counts[row["key"]] = max(counts[row["key"]], row["count"])
        return counts


@contextmanager
def outside(job: str, folder: Path) -> Iterator[Outside]:
    """What stands around a job, as long as the chaos lasts."""
    if job == "microbatch":
        yield Numbered(folder)
        return
    with Broker() as broker:
        fed = Counted(broker, folder) if job == "native" else Topics(broker)
        try:
            yield fed
        finally:
            fed.load.stop()


def _rows(out: Path) -> Iterator[dict[str, int]]:
    for done in out.glob("batch=*/_SUCCESS"):
        for file in done.parent.glob("*.parquet"):
            yield from parquet.ParquetFile(file).read().to_pylist()


def _try(condition: object) -> None:
    """Wait for something that does not come to be if a record is lost."""
    assert callable(condition)
    try:
        wait_for(condition, every=0.5)
    except AssertionError:
        print(f"it did not come to be within {HANG_SECONDS:.0f} s")
