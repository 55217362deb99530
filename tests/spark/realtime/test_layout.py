"""A pipeline that was edited between two runs goes on where it was, or is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from penstock.model import InvalidValueError
from penstock.spark.graph import Graph
from penstock.spark.job_note import Place
from penstock.spark.realtime.layout import lay_out, plain
from penstock.spark.segments import segments

SINK = cast("Any", object())


def graph(*operators: str, **after: str) -> Graph:
    """A line of operators, and others by what they come after; each leaf has a sink."""
    made, last = Graph("job", source=cast("Any", None)), ()  # type: tuple[Graph, tuple[str, ...]]
    for name in operators:
        made.operator(name, lambda frame: frame, after=last)
        last = (name,)
    for name, parent in after.items():
        made.operator(name, lambda frame: frame, after=parent)
    fed = {parent for step in made.steps.values() for parent in step.after}
    for name in made.steps:
        if name not in fed:
            made.sink(SINK, after=name)
    return made


def laid(made: Graph, before: tuple[Place, ...] = ()) -> tuple[Place, ...]:
    return lay_out(made.name, segments(made), ["clicks"], "there", before)


@pytest.mark.parametrize(
    "edited", [("parse", "count", "alert"), ("decode", "parse", "count"), ("parse", "join", "count")]
)
def test_an_operator_that_was_added_to_a_line_leaves_its_query_where_it_was(edited: tuple[str, ...]) -> None:
    before = laid(graph("parse", "count"))
    after = laid(graph(*edited), before)
    assert [place.folder for place in after] == [place.folder for place in before]
    assert after[0].operators == edited


def test_topics_between_segments_stay_too() -> None:
    before = laid(graph("parse", left="parse", right="parse"))
    assert before[0].topic == before[1].reads[0] == before[2].reads[0]
    after = laid(graph("parse", "clean", left="clean", right="clean"), before)
    assert (after[0].topic, after[1].reads, after[1].folder) == (before[0].topic, before[1].reads, before[1].folder)


def test_a_new_branch_begins_and_one_that_was_removed_ends() -> None:
    before = laid(graph("parse", left="parse", right="parse"))
    more = laid(graph("parse", left="parse", right="parse", third="parse"), before)
    assert more[:3] == before
    assert more[3].folder == "third"
    fewer = laid(graph("parse", right="parse", third="parse"), more)
    assert [place.folder for place in fewer] == ["parse", "right", "third"]


@pytest.mark.parametrize(
    ("edited", "why"),
    [
        (graph("analyse"), "'analyse' is new and 'count' is gone: an operator that was renamed would begin anew"),
        (graph("parse", count="parse", alert="parse"), "'parse' and 'count' would go on with one query"),
    ],
)
def test_an_edit_after_which_a_query_would_begin_anew_is_refused(edited: Graph, why: str) -> None:
    with pytest.raises(InvalidValueError) as refused:
        laid(edited, laid(graph("parse", "count")))
    assert str(refused.value) == (
        f"checkpoint is that of a pipeline with other segments, and {why}: take the edit back, or let the old pipeline "
        "finish and name a new checkpoint"
    )


def test_a_topic_that_is_added_to_the_source_is_read_too_and_another_one_is_refused() -> None:
    made = graph("parse")
    before = laid(made)
    assert lay_out(made.name, segments(made), ["clicks", "views"], "there", before)[0].folder == before[0].folder
    with pytest.raises(InvalidValueError, match="'parse' would read views and not clicks as before"):
        lay_out(made.name, segments(made), ["views"], "there", before)


def test_the_name_of_an_operator_that_was_taken_out_does_not_lead_to_the_folder_of_its_segment() -> None:
    """`parse` was the first operator of the line once; now another operator has its name."""
    line = laid(graph("decode", "count", left="count", right="count"), ())
    before = (replace(line[0], folder="parse"), *line[1:])
    after = laid(graph("decode", "count", left="count", right="count", parse="count"), before)
    assert [place.folder for place in after] == ["parse", "left", "right", "again-parse"]


def test_two_segments_that_became_one_are_refused() -> None:
    before = laid(graph("parse", left="parse", right="parse"))
    with pytest.raises(InvalidValueError, match="'left' would go on with 2 queries"):
        laid(graph("parse", "left"), before)


@pytest.mark.parametrize(("one", "other"), [("a b", "a_b"), ("a/b", "a b"), ("ü", "ö"), ("..", "."), ("a", "b")])
def test_different_names_never_share_a_folder(one: str, other: str) -> None:
    assert plain(one) != plain(other)
    assert "/" not in plain(one)
    assert plain(one).strip(".")
