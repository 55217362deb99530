"""Without executors every report counts slots and calls that nominal; with them it counts cores and says whose."""

from __future__ import annotations

from dataclasses import replace

import pytest
from matplotlib.figure import Figure
from rich.console import Console, RenderableType

from penstock.cli.running import verdict
from penstock.model import Plan
from penstock.report.comparison import Comparison, comparison_table
from penstock.report.markdown import report_text
from penstock.report.picture import _outcome
from penstock.report.rivals import _panel
from penstock.report.story import Rival, Story
from penstock.report.tables import figures_table
from penstock.runs.result import Unit
from penstock.runs.yardstick import Scored


def text(shown: RenderableType) -> str:
    console = Console(width=120, color_system=None)
    with console.capture() as capture:
        console.print(shown)
    return " ".join(capture.get().split())


def printed(story: Story, unit: Unit, live: bool) -> dict[str, str]:
    """Everything that says what a run cost."""
    result = replace(story.result, unit=unit)
    told = replace(story, result=result, live=live, rival=Rival(Plan({"split": 3, "count": 4}), result))
    rows, axes = {"ds2": [Scored(result)]}, Figure().subplots()
    _panel(axes, Comparison("clicks", rows))
    return {
        "table": text(figures_table(told)),
        "page": report_text(told),
        "picture": _outcome(told),
        "verdict": verdict(told),
        "comparison": text(comparison_table("clicks", rows)),
        "picture of rivals": axes.get_xlabel(),
    }


@pytest.mark.parametrize("live", [True, False])
def test_without_executors_it_is_slots_and_nominal(story: Story, live: bool) -> None:
    for where, said in printed(story, "slot", live).items():
        assert "slot-s" in said, where
        assert "nominal" in said, where
        assert "core" not in said, where


def test_what_is_saved_is_said_of_what(story: Story) -> None:
    said = printed(story, "slot", live=False)
    assert "saved, of largest plan 50.0 %" in said["table"]
    assert "saved: part of the instances of the largest plan" in said["comparison"]


@pytest.mark.parametrize(("live", "whose"), [(True, "by Spark's executor events"), (False, "by simulated executors")])
def test_with_executors_it_is_cores_and_those_of_whom(story: Story, live: bool, whose: str) -> None:
    said = printed(story, "core", live)
    for where, each in said.items():
        assert "core-s" in each, where
        assert "nominal" not in each, where
        assert "slot" not in each, where
    for where in ("table", "page", "verdict"):
        assert whose in said[where], where
