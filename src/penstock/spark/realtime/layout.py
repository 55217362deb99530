"""Where the segments of a real-time job lie: the folder of each query, and the topic with its output.

They are named once, when the job first starts, and written down in its checkpoint. A pipeline that was edited finds its
segments again by their operators, so that a new operator at the end of one does not read the topic from its beginning.
An edit after which it is not clear which query goes on where is refused.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Sequence

from penstock.model import InvalidValueError
from penstock.spark.job_note import Place
from penstock.spark.segments import Segment

log = logging.getLogger("penstock")


def lay_out(
    pipeline: str, pieces: Sequence[Segment], source: Sequence[str], checkpoint: str, before: Sequence[Place] = ()
) -> tuple[Place, ...]:
    """The place of each segment; each segment comes after those that it reads from.

    source  the topics of the pipeline's source
    before  the places of the last run
    """
    chosen: dict[str, Place] = {}  # by the last operator of the segment
    found = [_matching(segment, before) for segment in pieces]
    _refuse_a_new_name(pieces, found, before)
    for segment, old in zip(pieces, found, strict=True):
        topics = [_output(chosen[name]) for name in segment.after]
        reads = tuple(topics or source)
        if old is not None and not set(old.reads) <= set(reads):  # a topic more is read from its beginning
            raise _refusal(f"{segment.name!r} would read {', '.join(reads)} and not {', '.join(old.reads)} as before")
        first = segment.operators[0]
        topic = old.topic if old is not None else None
        if segment.feeds and topic is None:
            topic = _free(internal_topic(pipeline, first, checkpoint), [place.topic for place in before])
        folder = _free(plain(first), [place.folder for place in before]) if old is None else old.folder
        chosen[segment.name] = Place(segment.operators, reads, folder, topic)
    return tuple(chosen[segment.name] for segment in pieces)


def _free(name: str, taken: Sequence[str | None]) -> str:
    """The name, or one like it: that of an operator which was taken out may still be that of its segment.

    >>> _free("parse", ["parse", "count"])
    'again-parse'
    """
    while name in taken:
        name = f"again-{name}"
    return name


def _matching(segment: Segment, before: Sequence[Place]) -> Place | None:
    """The place of the last run that has operators of this segment; none for a new segment."""
    shared = [place for place in before if set(place.operators) & set(segment.operators)]
    if len(shared) > 1:
        raise _refusal(f"{segment.name!r} would go on with {len(shared)} queries")
    return shared[0] if shared else None


def _refuse_a_new_name(pieces: Sequence[Segment], found: Sequence[Place | None], before: Sequence[Place]) -> None:
    for place in before:
        takers = [segment.name for segment, old in zip(pieces, found, strict=True) if old is place]
        if len(takers) > 1:
            raise _refusal(f"{' and '.join(map(repr, takers))} would go on with one query")
    added = [segment.name for segment, old in zip(pieces, found, strict=True) if old is None]
    gone = [place.operators[-1] for place in before if place not in found]
    if added and gone:
        raise _refusal(f"{added[0]!r} is new and {gone[0]!r} is gone: an operator that was renamed would begin anew")
    for name in added if before else ():
        log.warning("%s is new in this pipeline: it reads from the beginning of its topic", name)


def _refusal(why: str) -> InvalidValueError:
    return InvalidValueError(
        "checkpoint",
        f"is that of a pipeline with other segments, and {why}: take the edit back, or let the old pipeline finish and "
        "name a new checkpoint",
    )


def _output(place: Place) -> str:
    assert place.topic is not None, "a segment that others read has a topic"
    return place.topic


def internal_topic(pipeline: str, operator: str, checkpoint: str) -> str:
    """The topic with the output of the segment that begins with an operator. Another checkpoint is another job.

    >>> internal_topic("clicks", "parse", "s3://jobs/clicks")
    'penstock-clicks-parse-5c32e4c0'
    """
    return f"penstock-{plain(pipeline)}-{plain(operator)}-{_job(checkpoint)}"


def internal_topics(pipeline: str | None = None, checkpoint: str | None = None) -> str:
    """The pattern of their names, of one pipeline or one checkpoint if these are named.

    >>> internal_topics("clicks")
    'penstock-clicks-.+-[0-9a-f]{8}'
    """
    named = ".+" if pipeline is None else f"{re.escape(plain(pipeline))}-.+"
    return f"penstock-{named}-{'[0-9a-f]{8}' if checkpoint is None else _job(checkpoint)}"


def _job(checkpoint: str) -> str:
    return hashlib.sha256(checkpoint.rstrip("/").encode()).hexdigest()[:8]


def plain(name: str) -> str:
    """The name with characters that topics and folders can have. Different names stay different.

    >>> plain("a_b"), plain("a b")
    ('a_b', 'a_b-c8687a08')
    """
    cleaned = re.sub(r"[^A-Za-z0-9._-]+", "_", name)
    if cleaned == name and name.strip("."):
        return name
    return f"{cleaned}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
