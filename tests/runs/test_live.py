"""What a live run is compared with. The runs themselves: tests/cli/test_demo_on_spark.py."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, cast

from penstock import Slo
from penstock.guards import only
from penstock.load.curves import constant
from penstock.model import Plan
from penstock.runs.live import LiveRun

STEERED = {"policy", "policy_options", "guards", "forecaster", "forecaster_options", "plan", "warm_up_seconds"}


def test_a_fixed_plan_is_run_in_the_same_place_under_the_same_load_for_as_long() -> None:
    nobody = cast("Any", None)
    run = LiveRun(
        place=nobody, pipeline=nobody, values=nobody, trace=constant(100.0, 60.0), slo=Slo(event_latency="1 s"),
        executors=(1, 3), batch="2 s", interval="4 s", forecaster="holt", plan=Plan({"only": 1}),
    )  # fmt: skip
    fixed = run.under(Plan({"only": 5}))
    assert (fixed.policy, fixed.plan, fixed.guards, fixed.forecaster) == ("static", Plan({"only": 5}), only(), None)
    assert fixed.warm_up_seconds == 0.0  # Spark is warm by then
    for field in fields(LiveRun):
        if field.name not in STEERED:
            assert getattr(fixed, field.name) == getattr(run, field.name), field.name
