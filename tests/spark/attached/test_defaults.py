"""How an attached query is steered unless its owner says otherwise."""

from __future__ import annotations

from penstock.guards import chain
from penstock.model import Mode
from penstock.spark.attached.query import _steering


def guards(**said: object) -> list[str]:
    return [guard.name for guard in chain(_steering(said).guards)]  # type: ignore[arg-type]


def test_it_is_watched_only_and_every_half_minute() -> None:
    steering = _steering({})
    assert (steering.mode, steering.interval_seconds) == (Mode.MONITOR, 30.0)
    assert _steering({"mode": "active", "interval": "5 s"}).interval_seconds == 5.0


def test_a_report_shows_the_whole_way_and_not_its_first_step() -> None:
    assert "max_step" not in guards()
    assert "max_step" in guards(mode="active")
    assert "max_step" in guards(guards={"max_step": {"up_factor": 2.0}})
    assert "max_step" not in guards(guards={"patience": {"seconds": 5.0}})
