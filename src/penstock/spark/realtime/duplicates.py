"""Counts the records that come twice because queries were stopped.

Kafka has no undo: what a stopped batch had written stays, and is written again when the batch is read again. So
whatever a topic holds beyond the output of finished batches, at the moment when no query writes, will come twice. Where
two segments write to one topic, what the other one has not finished then is counted too, until all are stopped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from penstock.spark.realtime.ledger import Ledger


class Duplicates:
    """Counts for all topics that a job writes. No other job may write to them."""

    def __init__(self, ledgers: Sequence[Ledger], lengths: Mapping[str, int]) -> None:
        self._ledgers = ledgers
        self._lengths = lengths  # when the job started
        self._by_topic = {topic: 0 for ledger in ledgers for topic in ledger.wiring.writes}
        self._newest: dict[tuple[str, str], int] = {}  # by segment and topic
        self._handed_over: dict[str, float] = dict.fromkeys(self._by_topic, 0.0)

    def count(self, ledger: Ledger, lengths: Mapping[str, int], written: Mapping[str, int]) -> None:
        """Call it when `ledger`'s query has just been stopped, and its finished batches are in the ledger.

        `written` is what each topic got since the last of these batches ended, where that is known.
        """
        for topic in ledger.wiring.writes:
            # Counted since the start, so it also corrects an earlier count that came too early: a producer may send
            # what a stopped task gave it when the query has ended already.
            known = self._by_topic[topic]
            finished = sum(writer.records_out for writer in self._ledgers if topic in writer.wiring.writes)
            self._by_topic[topic] = max(0, lengths[topic] - self._lengths[topic] - finished)
            beyond = max(0, self._by_topic[topic] - known)
            self._newest[ledger.wiring.segment.name, topic] = min(beyond, written.get(topic, beyond))

    def add(self, ledger: Ledger, records: int) -> None:
        """As many records of a segment are taken by two queries, as the old one knew its cut too late."""
        for topic in ledger.wiring.writes:
            self._handed_over[topic] += records * ledger.records_out_per_record

    @property
    def at_sinks(self) -> int:
        """Records that come twice at the sinks, once every query has been started again.

        What two queries have both taken is seen in the length of a topic only at the next stop, and not always then.
        """
        return self._reaching_sinks({topic: max(n, self._handed_over[topic]) for topic, n in self._by_topic.items()})

    @property
    def newest_at_sinks(self) -> int:
        """Those of them that were written by the batches in which queries were stopped last."""
        newest = dict.fromkeys(self._by_topic, 0)
        for (_, topic), records in self._newest.items():
            newest[topic] += records
        return self._reaching_sinks(newest)

    def _reaching_sinks(self, by_topic: Mapping[str, float]) -> int:
        """What is in internal topics passes on what later segments make of it."""
        worth: dict[str, float] = {}
        for ledger in reversed(self._ledgers):
            for topic in ledger.wiring.writes:
                readers = [reader for reader in self._ledgers if topic in reader.wiring.reads]
                worth[topic] = sum(
                    reader.records_out_per_record * sum(worth[further] for further in reader.wiring.writes)
                    for reader in readers
                ) if readers else 1.0  # fmt: skip
        return round(sum(count * worth[topic] for topic, count in by_topic.items()))
