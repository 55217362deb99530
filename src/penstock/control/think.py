"""One thought: learn from what is new, ask the policy, let the guards vet, say what to expect. No clock, no I/O."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from penstock.guards import Guard
from penstock.model import Decision, MissingFigureError, Observation, PenstockError, ReasonCode
from penstock.performance.expectation import expect
from penstock.policies import Learner, Policy


def think(policy: Policy, guards: Iterable[Guard], observation: Observation, fresh: int) -> Decision:
    """The vetted decision for an observation whose last `fresh` samples are new."""
    if isinstance(policy, Learner):
        learn(policy, observation, fresh)
    try:
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
    """Show a learner each new sample in turn, as the newest of those it may see."""
    for later in reversed(range(fresh)):
        seen = observation.samples[: len(observation.samples) - later]
        learner.learn(replace(observation, samples=seen) if later else observation)
