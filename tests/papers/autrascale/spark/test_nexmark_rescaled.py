"""Nexmark rescaled on Spark: what the experiment makes of cycles that are written by hand."""

from __future__ import annotations

from penstock.model import Cycle, Decision, Mode, Plan, Reason, ReasonCode
from penstock.papers.autrascale.spark.nexmark_rescaled import SECONDS, Rescaled, item
from penstock.report.judging import Judgement
from penstock.spark.native.engine import STATE
from spark_trials import figure, judgement


def decided(t: float, before: int, after: int) -> Cycle:
    reason = Reason(ReasonCode.STEADY if before == after else ReasonCode.SCALE_UP, "")
    plans = Plan({STATE: before}), Plan({STATE: after})
    decision = Decision(plan=plans[1], reason=reason)
    return Cycle(t=t, mode=Mode.ACTIVE, before=plans[0], decision=decision, applied=True)


def test_a_query_that_grows_with_its_rate_and_gives_the_right_answer() -> None:
    grown = Rescaled([decided(8, 1, 2), decided(30, 2, 2), decided(SECONDS + 8, 2, 3)], [2.0, 3.0, 2.5], 120, True)
    idle = Rescaled([decided(8, 1, 1)], [], 40, False)
    found = item({"Query 5": grown, "Query 11": idle})
    assert grown.partitions == [1, 2, 3]
    assert figure(found, "Query 5: partitions before").spark == 2
    assert figure(found, "Query 5: partitions after").spark == 3
    assert figure(found, "Query 5: a change stops it for").spark == 2.5
    assert [judgement(found, f"Query 5: {text}") for text in ("the policy", "at the higher", "its results")] == [
        Judgement.HOLDS
    ] * 3
    assert judgement(found, "Query 11: the policy") is Judgement.FAILS
    assert judgement(found, "Query 11: at the higher") is Judgement.OPEN  # nothing was decided at the second rate
    assert judgement(found, "Query 11: its results") is Judgement.FAILS


def test_what_comes_into_force_or_is_decided_after_the_last_bids_does_not_count() -> None:
    """The stop waited for a long batch, and the query shrank when nothing came any more."""
    late = Rescaled([decided(8, 1, 1), decided(SECONDS + 14, 1, 8), decided(2 * SECONDS + 40, 8, 1)], [60.0], 34, True)
    found = item({"Query 5": late})
    assert judgement(found, "Query 5: the policy") is Judgement.FAILS
    assert figure(found, "Query 5: partitions after").spark == 8
