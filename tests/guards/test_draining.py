from __future__ import annotations

from collections.abc import Callable

import pytest

from penstock.guards.draining import Draining
from penstock.model import Decision, Observation, Plan, Reason, ReasonCode, Sample, Slo, Verdict

Decide = Callable[..., Decision]
Observe = Callable[..., Observation]
Window = Callable[..., Sample]

TWO_SECONDS = Slo(event_latency="2 s")  # at 100 records/s, 200 records may wait


def test_nothing_shrinks_while_a_backlog_drains_but_growth_passes(
    decide: Decide, observe: Observe, window: Window
) -> None:
    observation = observe(Plan({"a": 4, "b": 4}, executors=3), slo=TWO_SECONDS, samples=(window(0, backlog=201),))
    vetted = Draining().vet(decide(Plan({"a": 2, "b": 6}, executors=1)), observation)
    assert vetted.plan == Plan({"a": 4, "b": 6}, executors=3)
    assert vetted.verdicts[0].reason == Reason(
        ReasonCode.DRAINING,
        "201 records still wait in the source: a 4 instead of 2, executors 3 instead of 1",
    )


@pytest.mark.parametrize("backlog", [0.0, 200.0, None])
def test_a_tolerated_or_unknown_backlog_blocks_nothing(
    backlog: float | None, decide: Decide, observe: Observe, window: Window
) -> None:
    decision = decide({"a": 1})
    observation = observe({"a": 4}, slo=TWO_SECONDS, samples=(window(0, backlog=backlog),))
    assert Draining().vet(decision, observation) is decision


def test_only_the_latest_window_counts(decide: Decide, observe: Observe, window: Window) -> None:
    decision = decide({"a": 1})
    samples = (window(0, backlog=9000), window(60, backlog=10))
    assert Draining().vet(decision, observe({"a": 4}, slo=TWO_SECONDS, samples=samples)) is decision


def test_what_is_tolerated_follows_the_input_rate(decide: Decide, observe: Observe, window: Window) -> None:
    decision = decide({"a": 1})
    samples = (window(0, backlog=201, input_rate={"left": 100.0, "right": 1.0}, throughput=101),)
    assert Draining().vet(decision, observe({"a": 4}, slo=TWO_SECONDS, samples=samples)) is decision


def test_growth_passes_as_it_is(decide: Decide, observe: Observe, window: Window) -> None:
    decision = decide({"a": 5})
    assert Draining().vet(decision, observe({"a": 4}, samples=(window(0, backlog=9000),))) is decision


def test_a_return_to_an_earlier_smaller_plan_passes(decide: Decide, observe: Observe, window: Window) -> None:
    verdict = Verdict("roll_back", Reason(ReasonCode.ROLL_BACK, "growing made it worse"))
    decision = decide({"a": 2}, verdicts=(verdict,))
    assert Draining().vet(decision, observe({"a": 4}, samples=(window(0, backlog=9000),))) is decision
