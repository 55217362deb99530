"""Wires a graph for real time: which topics join its segments. Refuses what cannot run there."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from pyspark.sql.types import StructField, StructType

from penstock.model import InvalidValueError
from penstock.spark.chains import reads_itself
from penstock.spark.dry_run import DryRun
from penstock.spark.graph import Graph
from penstock.spark.io.kafka_topic import Kafka
from penstock.spark.job_note import Place
from penstock.spark.realtime.layout import lay_out
from penstock.spark.realtime.segment_query import Wiring
from penstock.spark.segments import Segment, segments
from penstock.spark.topics.offsets import Offsets

log = logging.getLogger("penstock")


def wire(
    graph: Graph, dry_runs: Mapping[str, DryRun], checkpoint: str, before: Sequence[Place] = ()
) -> tuple[Wiring, ...]:
    """Every segment with its topics, each after those that it reads from; refuses what cannot run in real time.

    before  where the segments of the last run lie
    """
    source = check(graph, dry_runs, checkpoint)
    pieces = segments(graph)
    places = lay_out(graph.name, pieces, source.topics, checkpoint, before)
    latency_at = _latency_at(graph, dry_runs)

    def internal(topic: str) -> Kafka:
        return Kafka(topic, source.servers, options=source.client_options, admin=source.admin)

    return tuple(
        Wiring(
            segment=segment,
            place=place,
            source=source if not segment.after else internal(place.reads[0]),
            schema=_nullable(dry_runs[segment.operators[0]].input) if segment.after else None,
            internal_sink=internal(place.topic) if segment.feeds and place.topic is not None else None,
            latency_at=latency_at if latency_at in segment.operators else None,
            metered=_metered(segment, dry_runs),
        )
        for segment, place in zip(pieces, places, strict=True)
    )


def readers_of(
    wirings: Sequence[Wiring], graph: Graph, dry_runs: Mapping[str, DryRun], offsets: Offsets, internal_partitions: int
) -> dict[str, int]:
    """The partitions that are read for operators which, with as many instances, would read them themselves.

    internal_partitions  of a topic between segments that is not there yet
    """
    readers: dict[str, int] = {}
    for wiring in wirings:
        if reads_itself(wiring.segment, graph, dry_runs):
            internal = internal_partitions if wiring.schema is not None else 0
            readers[wiring.segment.operators[0]] = sum(offsets.partitions(topic) or internal for topic in wiring.reads)
    return readers


def check(graph: Graph, dry_runs: Mapping[str, DryRun], checkpoint: str) -> Kafka:
    """Refuse what the real-time engine cannot do; returns the source."""
    if not checkpoint:
        raise InvalidValueError("checkpoint", "must name a folder: a change restarts queries from it")
    if not isinstance(graph.source, Kafka):
        raise InvalidValueError("source", f"must be kafka(...) in real time, not {type(graph.source).__name__}")
    if not graph.source.topic:
        raise InvalidValueError("source", "must name its topics in real time, where each partition is read in a slot")
    for outlet in graph.outlets:
        field = f"sink after {outlet.after}"
        if not isinstance(outlet.sink, Kafka):
            raise InvalidValueError(field, f"must be kafka(...) in real time, not {type(outlet.sink).__name__}")
        if outlet.sink.servers != graph.source.servers:
            raise InvalidValueError(
                field, "must be on the brokers of the source in real time, where its growth is read"
            )
    for name, tried in dry_runs.items():
        if tried.python is not None:
            raise InvalidValueError(
                f"operator {name}",
                f"needs Python workers ({tried.python}), whose rows wait for the end of a batch in real time: "
                "write it with Spark's own functions, or use the micro-batch engine",
            )
    return graph.source


def _latency_at(graph: Graph, dry_runs: Mapping[str, DryRun]) -> str | None:
    """The last operator that records reach with their stamp. A warning names one that drops it."""
    topology = graph.topology()
    for name in topology.order:
        keeps = dry_runs[name].keeps_stamp
        if not keeps and all(dry_runs[parent].keeps_stamp for parent in topology.parents[name]):
            log.warning("operator %s drops the column `stamp`: latency is measured before it", name)
    kept = [name for name in topology.order if dry_runs[name].keeps_stamp]
    return kept[-1] if kept else None


def _metered(segment: Segment, dry_runs: Mapping[str, DryRun]) -> tuple[str, ...]:
    """All but the plain ones; these too where stages cannot be attributed, as their CPU time is not known then."""
    narrow = all(dry_runs[name].narrow for name in segment.operators)
    return tuple(name for name in segment.operators if not (narrow and dry_runs[name].plain))


def _nullable(schema: StructType) -> StructType:
    """Columns that are read from JSON may be null."""
    return StructType([StructField(field.name, field.dataType, True) for field in schema.fields])
