"""What a policy suggests and what became of it: one decision for each cycle, holds included."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Self, cast

from penstock.model.errors import check_number, check_required_number
from penstock.model.frozen import FrozenMap
from penstock.model.notebook import html_table
from penstock.model.plan import Plan
from penstock.model.sample import Sample


class Origin(StrEnum):
    """Who gave a reason."""

    POLICY = "policy"
    LOOP = "loop"
    GUARD = "guard"


PASSES, FAILURE = "passes", "failure"


class ReasonCode(StrEnum):
    """Why a plan is what it is. Programs match on the code; people read the sentence beside it.

    `origin` says who gives the reason. A guard's reason that `passes` means "not now" or "not all of it": the same wish
    may be granted later. After a `failure` the loop holds because something broke, not because the plan is right.

    >>> draining = ReasonCode("draining")
    >>> draining.origin, draining.passes, draining.failure, draining.meaning
    (<Origin.GUARD: 'guard'>, True, False, 'nothing shrinks while a backlog drains')
    """

    _value_: str
    origin: Origin
    meaning: str
    passes: bool
    failure: bool

    def __new__(cls, code: str, origin: Origin, meaning: str, kind: str = "") -> Self:
        member = str.__new__(cls, code)
        member._value_, member.origin, member.meaning = code, origin, meaning
        member.passes, member.failure = kind == PASSES, kind == FAILURE
        return member

    SCALE_UP = "scale_up", Origin.POLICY, "some operator needs more, none less"
    SCALE_DOWN = "scale_down", Origin.POLICY, "some operator needs less, none more"
    REBALANCE = "rebalance", Origin.POLICY, "some operators need more and some less"
    STEADY = "steady", Origin.POLICY, "the plan in force is the right one"
    LATE = "late", Origin.POLICY, "targets are missed, and the plan stays: it needs time, or no plan helps"
    EXPLORE = "explore", Origin.POLICY, "a learner tries a plan to learn from it"
    RESTORE = "restore", Origin.POLICY, "back to a plan left for a while"

    # The loop holds because it does not know better.
    SWITCHED_OFF = "switched_off", Origin.LOOP, "Penstock is switched off"
    MISSING_METRICS = "missing_metrics", Origin.LOOP, "a figure that the policy needs was not measured"
    STALE_METRICS = "stale_metrics", Origin.LOOP, "the newest measurement is too old to act on"
    NO_NEW_WINDOW = "no_new_window", Origin.LOOP, "no window has ended since the last decision"
    WARMING_UP = "warming_up", Origin.LOOP, "the job is warming up after a change"
    MONITOR_FAILED = "monitor_failed", Origin.LOOP, "metrics, or the plan in force, could not be read", FAILURE
    POLICY_FAILED = "policy_failed", Origin.LOOP, "the policy, a guard or the forecaster raised an error", FAILURE
    POLICY_TOO_SLOW = "policy_too_slow", Origin.LOOP, "the policy did not answer within its time limit"

    BOUNDS = "bounds", Origin.GUARD, "an operator would leave its limits, or tied operators would part"
    STABILISING = "stabilising", Origin.GUARD, "the last change has not settled yet", PASSES
    PATIENCE = "patience", Origin.GUARD, "more than this was needed a short while ago", PASSES
    DRAINING = "draining", Origin.GUARD, "nothing shrinks while a backlog drains", PASSES
    MAX_STEP = "max_step", Origin.GUARD, "the change is too large for one step", PASSES
    QUOTA = "quota", Origin.GUARD, "the plan takes more slots than the job was given"
    BLACKOUT = "blackout", Origin.GUARD, "the calendar lets nobody touch the job now", PASSES
    INEFFECTIVE = "ineffective", Origin.GUARD, "growing did not help the last time"
    MEMORY_FIRST = "memory_first", Origin.GUARD, "state is read from disk: memory comes before more partitions", PASSES
    ROLL_BACK = "roll_back", Origin.GUARD, "the last change made the job worse, or this one would repeat it"


@dataclass(frozen=True, slots=True)
class Reason:
    """A code for programs and a sentence for people."""

    code: ReasonCode
    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a guard did to a decision on its way."""

    guard: str
    reason: Reason


@dataclass(frozen=True, slots=True)
class Expected:
    """What the plan should bring. None where what was measured does not show it."""

    throughput: float | None = None
    processing_latency_ms: float | None = None
    event_latency_ms: float | None = None

    def __post_init__(self) -> None:
        check_number("expected throughput", self.throughput)
        check_number("expected processing_latency_ms", self.processing_latency_ms)
        check_number("expected event_latency_ms", self.event_latency_ms)


@dataclass(frozen=True, slots=True)
class HoldsUpTo:
    """What a decision was made for. A window that shows more overtakes it: the loop decides again without waiting for
    the next interval.

    input_rate  records per second that are offered
    waiting     records that wait, in the source and in front of operators
    """

    input_rate: float
    waiting: float

    def __post_init__(self) -> None:
        check_required_number("holds_up_to: input_rate", self.input_rate)
        check_required_number("holds_up_to: waiting", self.waiting)

    def overtaken_by(self, window: Sample) -> bool:
        """A figure that was not measured overtakes nothing.

        >>> HoldsUpTo(input_rate=500.0, waiting=100.0).overtaken_by(Sample(t=0, seconds=10, operators={}, backlog=101))
        True
        """
        return (window.job_input_rate or 0.0) > self.input_rate or window.waiting > self.waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A target plan with its reason, the figures it rests on and the effect expected of it.

    `wanted` is what the policy asked for, `plan` what is left of it after the guards named in `verdicts`. Without
    `holds_up_to` the next decision comes after an interval, whatever happens meanwhile.
    """

    plan: Plan
    reason: Reason
    policy: str = ""
    expected: Expected | None = None
    figures: Mapping[str, Any] = field(default_factory=FrozenMap)
    wanted: Plan = field(default=cast("Plan", None))  # left out, it is the plan itself
    verdicts: tuple[Verdict, ...] = ()
    holds_up_to: HoldsUpTo | None = None

    def __post_init__(self) -> None:
        if cast("Plan | None", self.wanted) is None:
            object.__setattr__(self, "wanted", self.plan)
        if type(self.figures) is not FrozenMap:
            object.__setattr__(self, "figures", FrozenMap(self.figures))

    @classmethod
    def hold(cls, plan: Plan, code: ReasonCode, text: str, **details: Any) -> Decision:
        """Stay with `plan`."""
        return cls(plan=plan, reason=Reason(code, text), **details)

    @classmethod
    def move(cls, before: Plan, target: Plan, why: str, **details: Any) -> Decision:
        """Go from `before` to `target`; the code follows from the two.

        >>> before = Plan({"split": 2, "count": 3})
        >>> Decision.move(before, before.changed(split=4), "split is at 97 %").reason.code
        <ReasonCode.SCALE_UP: 'scale_up'>
        """
        return cls(plan=target, reason=Reason(direction(before, target), why), **details)

    def _repr_html_(self) -> str:
        """For notebooks."""
        expected = self.expected or Expected()
        return html_table(
            f"{self.policy or 'decision'}: {self.reason.code.value}",
            [
                ("plan", self.plan),
                ("because", self.reason.text),
                ("asked for", None if self.wanted == self.plan else self.wanted),
                *((verdict.guard, verdict.reason.text) for verdict in self.verdicts),
                ("expected records/s", _rounded(expected.throughput)),
                ("expected processing latency, ms", _rounded(expected.processing_latency_ms)),
                ("expected event latency, ms", _rounded(expected.event_latency_ms)),
            ],
        )

    def vetted(self, guard: str, code: ReasonCode, text: str, plan: Plan) -> Decision:
        """The same decision with another plan, by order of a guard; what was expected no longer holds."""
        verdict = Verdict(guard, Reason(code, text))
        return replace(self, plan=plan, verdicts=(*self.verdicts, verdict), expected=None)


def _rounded(figure: float | None) -> str | None:
    return None if figure is None else f"{figure:,.0f}"


def direction(before: Plan, target: Plan) -> ReasonCode:
    """Whether a change is a growth, a shrinkage, both, or none."""
    names = target.parallelism
    up = any(k > before.parallelism.get(name, 0) for name, k in names.items())
    down = any(k < before.parallelism.get(name, 0) for name, k in names.items())
    if before.executors is not None and target.executors is not None:
        up |= target.executors > before.executors
        down |= target.executors < before.executors
    if up and down:
        return ReasonCode.REBALANCE
    if up:
        return ReasonCode.SCALE_UP
    return ReasonCode.SCALE_DOWN if down else ReasonCode.STEADY
