"""Which query of a segment owns which records.

A stateless segment changes by a hand-over: a second query, with a checkpoint of its own, takes the records from a cut
on, and the first one those before it. Each of these queries is a generation of the segment. While a hand-over is under
way there are two, or more if it is handed over again meanwhile; at all other times there is one. They are written down
before they count, so that whatever starts the segment next, after a stop or a crash at any moment, finds out who owns
what.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from penstock.spark.hadoop_folder import HadoopFolder
from penstock.spark.realtime.checkpoint import PartitionOffsets

MOST_OFFSET = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Generation:
    """One query of a segment, through all its restarts.

    number  counts the generations of the segment
    starts  where it begins to read when it is started for the first time; None: where the source says
    first   it owns the records from these offsets on, and all records of partitions that are not named
    """

    number: int = 0
    starts: PartitionOffsets | None = None
    first: PartitionOffsets = field(default_factory=dict)

    def owned(self, offsets: PartitionOffsets, until: PartitionOffsets | None = None) -> dict[str, dict[str, int]]:
        """The offsets inside what it owns: not before its first ones, and not beyond those at which the next begins.

        >>> Generation(1, first={"clicks": {"0": 10}}).owned({"clicks": {"0": 7, "1": 3}})
        {'clicks': {'0': 10, '1': 3}}
        """
        return {
            topic: {
                partition: min(
                    max(offset, offset_in(self.first, topic, partition, 0)),
                    offset_in(until or {}, topic, partition, MOST_OFFSET),
                )
                for partition, offset in partitions.items()
            }
            for topic, partitions in offsets.items()
        }

    def skips(self, read_from: PartitionOffsets | None) -> bool:
        """Whether it reads records before its first ones when it goes on from these offsets."""
        begins = read_from or self.starts or {}
        return any(
            offset_in(begins, topic, partition, 0) < offset
            for topic, partitions in self.first.items()
            for partition, offset in partitions.items()
        )


def one_again(
    generations: Sequence[Generation], read: Sequence[PartitionOffsets | None], number: int
) -> Generation:  # fmt: skip
    """The generation that goes on alone where hand-overs ended half-way; the queries of all, oldest first, are stopped.

    `read` is what the checkpoint of each says, `number` that of the next one. In a partition in which one of them had
    not come to its cut the next one goes on from there, and what later ones have done beyond comes again. In the others
    it goes on with what the newest one has not done: the older ones have passed nothing beyond their cuts.

    >>> old, new = Generation(0), Generation(1, first={"clicks": {"0": 50, "1": 50}})
    >>> one_again([old, new], [{"clicks": {"0": 40, "1": 70}}, {"clicks": {"0": 60, "1": 60}}], 2).starts
    {'clicks': {'0': 40, '1': 60}}
    """
    if read[0] is None:
        return generations[0]  # it has finished nothing, and reads all of it again
    done = [generation.owned(offsets or {}) for generation, offsets in zip(generations, read, strict=True)]
    firsts = [generation.first for generation in generations[1:]]
    starts: dict[str, dict[str, int]] = {}
    known = (*done, *firsts)
    for topic, partition in dict.fromkeys((name, n) for offsets in known for name in offsets for n in offsets[name]):
        at = offset_in(done[0], topic, partition, 0)
        for cut, beyond in zip(firsts, done[1:], strict=True):
            if at < (first := offset_in(cut, topic, partition, 0)):
                break
            at = max(first, offset_in(beyond, topic, partition, 0))
        starts.setdefault(topic, {})[partition] = at
    return Generation(number, starts, starts)


def offset_in(offsets: PartitionOffsets, topic: str, partition: str, otherwise: int) -> int:
    return offsets.get(topic, {}).get(partition, otherwise)


class GenerationLog:
    """The generations of one segment, oldest first, in a file beside their checkpoints. A change of it is atomic."""

    def __init__(self, folder: HadoopFolder, name: str) -> None:
        """
        folder  the checkpoint of the job
        name    the folder of the segment: that of its first generation
        """
        self._folder = folder
        self._name = name
        self._file = f"{name}.generations.json"

    def read(self) -> tuple[Generation, ...]:
        text = self._folder.read(self._file)
        if text is None:
            return (Generation(),)
        return tuple(_generation(one) for one in json.loads(text))

    def write(self, *generations: Generation) -> None:
        self._folder.write(self._file, json.dumps([asdict(each) for each in generations]))

    def place(self, generation: Generation) -> str:
        """The checkpoint of a generation. No operator has a folder with a `=`, so nobody else has this one."""
        return f"{self._folder.location}/{self._place(generation.number)}"

    def next_number(self) -> int:
        """That of a generation whose checkpoint is not there yet, not even as a rest that a late writer left."""
        return 1 + max((*self._checkpoints().values(), *(generation.number for generation in self.read())))

    def clean(self) -> None:
        """Delete the checkpoints of generations that are no more."""
        there = {generation.number for generation in self.read()}
        for name, number in self._checkpoints().items():
            if number not in there:
                self._folder.delete(name, recursive=True)

    def _checkpoints(self) -> dict[str, int]:
        found = (re.fullmatch(rf"{re.escape(self._name)}(?:=(\d+))?", name) for name in self._folder.names())
        return {each.group(): int(each.group(1) or 0) for each in found if each is not None}

    def _place(self, number: int) -> str:
        return f"{self._name}={number}" if number else self._name


def _generation(written: Mapping[str, object]) -> Generation:
    return Generation(written["number"], written["starts"], written["first"])  # type: ignore[arg-type]
