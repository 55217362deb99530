"""How queries of somebody else are steered unless their owner says otherwise."""

from __future__ import annotations

from typing import Any

from penstock.guards import chain
from penstock.guards.patience import Patience
from penstock.model import Mode
from penstock.spark.application.defaults import chosen_steering, guards_in


def guards(quick: bool = False, **said: Any) -> list[str]:
    steering = chosen_steering(said, quick)  # type: ignore[arg-type]
    return [guard.name for guard in chain(guards_in(Mode(steering.mode), steering.guards))]


def patience(quick: bool, **said: Any) -> float:
    steering = chosen_steering(said, quick)  # type: ignore[arg-type]
    [found] = [guard for guard in chain(steering.guards) if isinstance(guard, Patience)]
    return found.seconds


def test_they_are_watched_only_and_every_half_minute() -> None:
    steering = chosen_steering({})
    assert (steering.mode, steering.interval_seconds) == (Mode.MONITOR, 30.0)
    assert chosen_steering({"mode": "active", "interval": "5 s"}).interval_seconds == 5.0


def test_a_report_shows_the_whole_way_and_not_its_first_step() -> None:
    assert "max_step" not in guards()
    assert "max_step" in guards(mode="active")
    assert "max_step" in guards(guards={"max_step": {"up_factor": 2.0}})
    assert "max_step" not in guards(guards={"patience": {"seconds": 5.0}})


def test_the_quick_profile_has_little_patience_unless_it_is_said_otherwise() -> None:
    assert chosen_steering({}, quick=True).interval_seconds == 2.0
    assert chosen_steering({"interval": "1 s"}, quick=True).interval_seconds == 1.0
    assert patience(quick=False) == 300.0
    assert patience(quick=True) == 10.0
    assert patience(quick=True, guards={"patience": {"seconds": 7.0}}) == 7.0
    assert "stabilisation" not in guards(quick=True, guards={"stabilisation": None})
