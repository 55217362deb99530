"""How queries of somebody else are steered unless their owner says otherwise."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

from penstock.control.assembly import Steering, SteeringOptions
from penstock.guards import GuardOptions
from penstock.model import Mode

DEFAULTS: SteeringOptions = {"mode": "monitor", "interval": "30 s"}
"""A query that is not ours is only watched unless its owner says otherwise, and executors take seconds to come."""

QUICK_INTERVAL = "2 s"
QUICK_GUARDS: dict[str, dict[str, Any]] = {
    "patience": {"seconds": 10.0},
    "stabilisation": {"seconds": 5.0},
    "ineffective": {"seconds": 60.0},
    "roll_back": {"trial_seconds": 60.0, "seconds": 60.0},
}
"""For a try of ten minutes, in which the guards' own patience would show nothing. For production it is too hasty."""


def chosen_steering(given: SteeringOptions, quick: bool = False) -> Steering:
    """What was given, over the quick profile if that is wanted, over the defaults."""
    options: SteeringOptions = {**DEFAULTS, **given}
    if quick:
        options["interval"] = given.get("interval", QUICK_INTERVAL)
        options["guards"] = {**QUICK_GUARDS, **(given.get("guards") or {})}
    return Steering(**options)


def guards_in(mode: Mode, guards: GuardOptions | None) -> GuardOptions:
    """In monitor mode nothing moves, so without `max_step` a report shows the whole way and not its first step."""
    return {"max_step": None, **(guards or {})} if mode is Mode.MONITOR else (guards or {})


def for_one_query(steering: Steering) -> Steering:
    """The same with a policy and a forecaster of its own: what they learn is about one query."""
    return replace(steering, policy=deepcopy(steering.policy), forecaster=deepcopy(steering.forecaster))
