"""`penstock clean`: removes the internal topics of real-time pipelines that have ended for good."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.choices import offer
from penstock.cli.values import pairs
from penstock.model import PenstockError


def clean(
    servers: Annotated[str, offer("The brokers, as host:port, with commas between them.")],
    pipeline: Annotated[str | None, offer("Only the topics of the pipeline of this name.")] = None,
    checkpoint: Annotated[str | None, offer("Only the topics of the job with this checkpoint.")] = None,
    setting: Annotated[
        list[str] | None,
        offer("A setting of librdkafka, name=value, such as sasl.username=me. Repeatable.", "--setting", "-s"),
    ] = None,
    delete: Annotated[bool, typer.Option("--delete", help="Delete them; without it they are only listed.")] = False,
) -> None:
    """List, and delete if told to, the internal topics that join the segments of real-time pipelines.

    Penstock never deletes them by itself: a job that is started again goes on with what is in them. Delete those of
    jobs that will not be started again. Whatever a topic holds is lost.

    Example: penstock clean --servers localhost:9092 --pipeline clicks --delete
    """
    from penstock.spark.realtime.layout import internal_topics
    from penstock.spark.topics.offsets import Offsets

    offsets = Offsets(servers, pairs("--setting", setting or ()))
    if not offsets.answers():
        raise PenstockError(f"Kafka at {servers} {offsets.why_silent() or 'does not answer'}")
    found = offsets.matching(internal_topics(pipeline, checkpoint))
    for topic in found:
        typer.echo(topic)
    if not found:
        typer.echo("there is no internal topic", err=True)
    elif delete:
        offsets.delete(found)
        typer.echo(f"{len(found)} deleted", err=True)
    else:
        typer.echo("nothing was deleted: --delete does it", err=True)
