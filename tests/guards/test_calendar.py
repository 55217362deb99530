from __future__ import annotations

import pickle
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from penstock.guards import GUARDS
from penstock.guards.calendar import Calendar
from penstock.model import Decision, InvalidValueError, Observation, Plan, ReasonCode

Decide = Callable[..., Decision]
Observe = Callable[..., Observation]

OFFICE = ("Mon-Fri 08:00-18:00",)
CHRISTMAS = ("2026-12-24 00:00-2026-12-27 00:00",)


@pytest.fixture
def held(decide: Decide, observe: Observe) -> Callable[..., bool]:
    """Whether a calendar holds the plan at a moment written as "2026-03-02 08:00", in UTC."""

    def ask(moment: str, windows: tuple[str, ...], **options: Any) -> bool:
        t = datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp()
        decision = decide({"a": 1})
        vetted = Calendar(windows, **options).vet(decision, observe({"a": 4}, t=t))
        assert vetted.plan == Plan({"a": 4}) or vetted is decision
        return vetted is not decision

    return ask


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        ("2026-03-02 07:59:59", False),  # a Monday
        ("2026-03-02 08:00", True),
        ("2026-03-06 17:59:59", True),
        ("2026-03-06 18:00", False),
        ("2026-03-07 12:00", False),  # Saturday
    ],
)
def test_office_hours_are_left_in_peace(moment: str, expected: bool, held: Callable[..., bool]) -> None:
    assert held(moment, OFFICE) is expected


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        ("2026-03-01 21:59", False),  # a Sunday
        ("2026-03-01 22:00", True),
        ("2026-03-02 01:59:59", True),
        ("2026-03-02 02:00", False),
        ("2026-03-01 01:00", False),  # the night before belongs to Saturday
        ("2026-03-02 23:00", False),
    ],
)
def test_a_night_belongs_to_the_day_on_which_it_begins(moment: str, expected: bool, held: Callable[..., bool]) -> None:
    assert held(moment, ("Sun 22:00-02:00",)) is expected


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        ("2026-12-23 23:59", False),
        ("2026-12-24 00:00", True),
        ("2026-12-26 23:59:59", True),
        ("2026-12-27 00:00", False),
        ("2027-12-25 12:00", False),
    ],
)
def test_a_date_comes_once(moment: str, expected: bool, held: Callable[..., bool]) -> None:
    assert held(moment, CHRISTMAS) is expected


@pytest.mark.parametrize(
    ("windows", "expected"),
    [
        (("Sat,Sun 00:00-24:00",), [5, 6]),
        (("fri-mon 00:00-24:00",), [0, 4, 5, 6]),
        (("Mon , Wed-Thu 00:00 - 24:00",), [0, 2, 3]),
        (("00:00-24:00",), [0, 1, 2, 3, 4, 5, 6]),
        (("Tue 00:00-24:00", "Sat 9:00-17:00"), [1, 5]),
        ((), []),
    ],
)
def test_days_are_written_as_lists_ranges_or_not_at_all(
    windows: tuple[str, ...], expected: list[int], held: Callable[..., bool]
) -> None:
    assert [day for day in range(7) if held(f"2026-03-{2 + day:02} 12:00", windows)] == expected


def test_clocks_go_by_the_time_zone_in_summer_and_in_winter(held: Callable[..., bool]) -> None:
    berlin = {"timezone": "Europe/Berlin"}
    assert held("2026-01-12 07:00", OFFICE, **berlin)  # 08:00 in Berlin
    assert not held("2026-01-12 06:59", OFFICE, **berlin)
    assert held("2026-07-13 06:00", OFFICE, **berlin)
    assert not held("2026-07-13 16:00", OFFICE, **berlin)
    assert held("2026-12-23 23:00", CHRISTMAS, **berlin)
    assert not held("2026-12-26 23:00", CHRISTMAS, **berlin)


def test_growth_may_be_allowed(decide: Decide, observe: Observe) -> None:
    guard = Calendar(("00:00-24:00",), allow_growth=True)
    observation = observe(Plan({"a": 4, "b": 4}, executors=2))
    vetted = guard.vet(decide(Plan({"a": 1, "b": 6}, executors=3)), observation)
    assert vetted.plan == Plan({"a": 4, "b": 6}, executors=3)
    grows = decide(Plan({"a": 4, "b": 6}, executors=2))
    assert guard.vet(grows, observation) is grows


def test_the_verdict_names_the_window(decide: Decide, observe: Observe) -> None:
    t = datetime(2026, 3, 2, 9, 30, tzinfo=UTC).timestamp()
    reason = Calendar(OFFICE).vet(decide({"a": 1}), observe({"a": 4}, t=t)).verdicts[0].reason
    assert reason.code is ReasonCode.BLACKOUT
    assert reason.text == "it is Mon 2026-03-02 09:30 in UTC, inside the blackout Mon-Fri 08:00-18:00"


@pytest.mark.parametrize(
    ("window", "problem"),
    [
        ("whenever", "must be written like"),
        ("Mon-Fri 8-18", "must be written like"),
        ("Mon 25:00-26:00", "must have times from 00:00 to 24:00, not 25:00"),
        ("Mon 08:60-09:00", "must have times from 00:00 to 24:00, not 08:60"),
        ("Mon 24:00-08:00", "must begin before 24:00"),
        ("Mon 08:00-08:00", "must not end at the time it begins"),
        ("Mo 08:00-09:00", "must name days as Mon, .*, not 'Mo'"),
        ("Mon-Wed-Fri 08:00-09:00", "must name days as"),
        ("2026-02-30 00:00-2026-03-01 00:00", "must have dates that exist, not 2026-02-30 00:00"),
        ("2026-12-27 00:00-2026-12-24 00:00", "must end after it begins"),
    ],
)
def test_a_window_that_cannot_be_is_refused_by_its_text(window: str, problem: str) -> None:
    with pytest.raises(InvalidValueError, match=f"^windows: '{window}' {problem}"):
        Calendar((*OFFICE, window))


@pytest.mark.parametrize("name", ["Mars/Olympus", "Europe", "../UTC", ""])
def test_an_unknown_time_zone_is_refused(name: str) -> None:
    with pytest.raises(InvalidValueError, match=r"^timezone must be a name such as"):
        Calendar(timezone=name)


@pytest.mark.parametrize("windows", ["Mon 08:00-09:00", (5,)])
def test_windows_are_a_list_of_texts(windows: Any) -> None:
    with pytest.raises(InvalidValueError, match=r"^windows must be"):
        Calendar(windows)


def test_a_calendar_made_from_plain_options_travels_between_processes() -> None:
    guard = GUARDS.create("calendar", {"windows": list(OFFICE), "timezone": "Europe/Berlin"})
    assert pickle.loads(pickle.dumps(guard)) == guard == Calendar(OFFICE, "Europe/Berlin")
