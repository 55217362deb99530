"""Policies choose a plan. A policy suggests, guards vet, and only the loop acts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, runtime_checkable

from penstock.model import Decision, Observation
from penstock.model.catalog import Catalog

State = Mapping[str, Any]
"""What a learner knows, as plain JSON values."""


class Policy(Protocol):
    """A pure function from what was observed to a decision.

    `name` is the file's name; `source` says which paper and equations it follows; `measurements` is how many
    samples it needs of each decision interval; with `decides_with_every_measurement` it decides with each of them, and
    not only with the last; `actuation` is how the policy's own system changes a job, where its paper says so: "live",
    "restart" (queues survive) or "lossy_restart" (queues are lost). One that keeps a reserve may say how busy it lets
    instances be, as `utilisation`: see `busy_up_to`. `takes_care_of` names the guards whose work the policy does
    itself: they are left out unless a user gives options for them. One that `knows_chains` reckons with operators that
    share their instances; under others each operator has its own, unless a user says otherwise. One that
    `decides_early` is asked with the first window in which something came; later ones are asked early if their
    decisions say what they hold up to.
    """

    name: ClassVar[str]
    source: ClassVar[str] = ""
    measurements: ClassVar[int] = 1
    decides_with_every_measurement: ClassVar[bool] = False
    actuation: ClassVar[str | None] = None
    takes_care_of: ClassVar[tuple[str, ...]] = ()
    knows_chains: ClassVar[bool] = False
    decides_early: ClassVar[bool] = False

    def decide(self, observation: Observation) -> Decision: ...


@runtime_checkable
class Learner(Protocol):
    """A policy that remembers more than the observation's window.

    The loop calls `learn` once for each new sample, as the newest of `observation.samples`, then `decide`,
    which changes nothing. What `state` returns, `restore` takes: a learner goes on exactly where it stopped.
    """

    def learn(self, observation: Observation) -> None: ...

    def state(self) -> State: ...

    def restore(self, state: State) -> None: ...


POLICIES: Catalog[Policy] = Catalog("policy", __name__)


def knows_chains(policy: Policy) -> bool:
    """Whether a policy reckons with operators that share their instances; one that does not say so does not."""
    knows: bool = getattr(policy, "knows_chains", False)
    return knows


def busy_up_to(policy: Policy) -> float:
    """How busy a policy lets instances be before it adds one: its `utilisation`; 1 if it has none.

    The reserve above it also covers what is not known of the load: see `Load.to_plan_for` in `performance/batch_cost`.
    """
    utilisation: float = getattr(policy, "utilisation", 1.0)
    return utilisation
