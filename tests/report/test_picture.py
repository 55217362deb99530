"""The picture is a PNG of the size that its panels need, and draws whatever was recorded."""

from __future__ import annotations

import struct
from dataclasses import replace

from penstock.model import Cycle, Decision, Mode, OperatorSample, Plan, Sample, Slo
from penstock.report.picture import DPI, HEAD_HEIGHT, PANEL_HEIGHT, WIDTH, draw
from penstock.report.recorder import Recorder
from penstock.report.story import Rival, Story
from penstock.runs.result import Result


def size(png: bytes) -> tuple[int, int]:
    """Width and height, as in the header of a PNG file."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert png[12:16] == b"IHDR"
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def expected(panels: int) -> tuple[int, int]:
    return round(WIDTH * DPI), int((HEAD_HEIGHT + panels * PANEL_HEIGHT) * DPI)


def test_a_run_with_a_backlog_has_four_panels(story: Story) -> None:
    assert size(draw(story)) == expected(4)


def test_a_run_without_a_backlog_leaves_that_panel_out(result: Result) -> None:
    recorder = Recorder(Slo(processing_latency="1 s"))
    recorder(_quiet("split"))

    assert size(draw(Story(result, recorder))) == expected(3)


def test_the_same_run_makes_the_same_picture_byte_for_byte(story: Story) -> None:
    assert draw(story) == draw(story)


def test_a_fixed_plan_to_compare_with_is_drawn(story: Story) -> None:
    rival = Rival(Plan({"split": 5, "count": 9}), story.result)

    assert draw(replace(story, rival=rival)) != draw(story)


def test_names_that_look_like_formulas_are_drawn_as_they_are(result: Result) -> None:
    recorder = Recorder(Slo())
    recorder(_quiet(r"$\frac{$", "a$b$c"))

    assert size(draw(Story(replace(result, trace=r"$\sqrt{$"), recorder))) == expected(3)


def test_nothing_recorded_is_still_a_picture(result: Result) -> None:
    assert size(draw(Story(result, Recorder(Slo())))) == expected(3)


def test_more_operators_than_colours_can_be_told_apart(result: Result) -> None:
    recorder = Recorder(Slo())
    recorder(_quiet(*(f"operator-{n}" for n in range(25))))

    assert size(draw(Story(result, recorder))) == expected(3)


def _quiet(*names: str) -> Cycle:
    """A cycle in which hardly anything was measured."""
    plan = Plan(dict.fromkeys(names, 1))
    sample = Sample(t=0.0, seconds=60.0, operators={name: OperatorSample(1) for name in names})
    decision = Decision.move(plan, plan, "nothing to do")
    return Cycle(t=60.0, mode=Mode.ACTIVE, before=plan, decision=decision, samples=(sample,), applied=True)
