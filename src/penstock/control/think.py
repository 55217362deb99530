"""One thought: learn from what is new, ask the policy, let the guards vet, say what to expect. No clock, no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import cast

from penstock.forecast import Forecaster
from penstock.guards import Guard
from penstock.model import (
    Decision,
    Forecast,
    MissingFigureError,
    Observation,
    PenstockError,
    ReasonCode,
    Sample,
)
from penstock.model.secrets import without_secrets
from penstock.performance.expectation import expect
from penstock.policies import Learner, Policy


def think(policy: Policy, guards: Sequence[Guard], observation: Observation, fresh: int) -> Decision:
    """The vetted decision for an observation whose last `fresh` samples are new."""
    limits = [most for guard in guards if (most := guard.most_slots(observation)) is not None]
    observation = replace(observation, most_slots=min(limits, default=None))
    learner = as_learner(policy)
    try:
        if learner is not None:
            learn(learner, observation, fresh)
        decision = policy.decide(observation)
    except MissingFigureError as missing:
        return Decision.hold(observation.plan, ReasonCode.MISSING_METRICS, str(missing), policy=policy.name)
    if not isinstance(decision, Decision):
        raise PenstockError(f"it answered {decision!r} instead of a Decision")
    decision.plan.check(observation.topology)
    decision = replace(decision, policy=policy.name)
    for guard in guards:
        decision = guard.vet(decision, observation)
    decision = replace(decision, plan=decision.plan.settled(observation.plan))
    if decision.expected is None:
        decision = replace(decision, expected=expect(observation, decision.plan))
    return decision


def learn(learner: Learner, observation: Observation, fresh: int) -> None:
    """Show a learner each new sample, one after the other, as the newest of those it may see."""
    for later in reversed(range(min(fresh, len(observation.samples)))):
        seen = observation.samples[: len(observation.samples) - later]
        learner.learn(replace(observation, samples=seen) if later else observation)


def as_learner(policy: Policy) -> Learner | None:
    """The policy, if it is one that learns."""
    return cast("Learner", policy) if _learns(type(policy)) else None


@cache  # to compare a class with a protocol takes longer than many a decision
def _learns(policy: type) -> bool:
    return issubclass(policy, Learner)


def forecast(forecaster: Forecaster, fresh: Iterable[Sample], seconds_ahead: float) -> Forecast | None:
    """What the forecaster expects once it has learnt from the new samples; None while it cannot say."""
    try:
        teach(forecaster, fresh)
        rate = forecaster.predict(seconds_ahead)
    except Exception as error:
        raise PenstockError(f"its forecaster {forecaster.name} failed: {sentence(error)}") from error
    return None if rate is None else Forecast(forecaster.name, rate, forecaster.mean_absolute_error)


def teach(forecaster: Forecaster, samples: Iterable[Sample]) -> None:
    """Let a forecaster learn the input rates that were measured."""
    for sample in samples:
        if sample.job_input_rate is not None:
            forecaster.learn(sample.end, sample.job_input_rate)


def sentence(error: BaseException) -> str:
    """What went wrong, in one line: our own errors are sentences, others need their name.

    An error of Java begins with the call that failed; what went wrong, and its stack trace, stand below.

    >>> sentence(RuntimeError("An error occurred while calling o5.job.\\n: java.io.IOException: no\\n\\tat org"))
    'java.io.IOException: no'
    """
    first, second = [*without_secrets(str(error)).splitlines(), "", ""][:2]
    if second.startswith(": "):
        return second.removeprefix(": ")
    return first if isinstance(error, PenstockError) else f"{type(error).__name__}: {first}"
