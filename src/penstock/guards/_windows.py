"""Windows of a calendar, as text: recurring weekly, or once from one date to another."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Protocol
from zoneinfo import ZoneInfo

from penstock.model import InvalidValueError

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
FULL_DAY = 24 * 60

_CLOCK = r"(\d{1,2}:\d{2})"
_DATE = r"(\d{4}-\d{2}-\d{2} \d{1,2}:\d{2})"
_WEEKLY = re.compile(rf"(?:([a-z,\- ]+?)\s+)?{_CLOCK}\s*-\s*{_CLOCK}", re.IGNORECASE)
_DATED = re.compile(rf"{_DATE}\s*-\s*{_DATE}")
_FORMS = '"Mon-Fri 08:00-18:00", "Sun 22:00-02:00" or "2026-12-24 00:00-2026-12-27 00:00"'


class Window(Protocol):
    """A span of time; its end is not part of it."""

    def contains(self, moment: datetime) -> bool: ...


@dataclass(frozen=True, slots=True)
class Weekly:
    """The same minutes of the day on some days of the week; a window over midnight belongs to the day it begins on."""

    days: frozenset[int]
    begin: int
    end: int

    def contains(self, moment: datetime) -> bool:
        today, minute = moment.weekday(), moment.hour * 60 + moment.minute
        if self.begin < self.end:
            return today in self.days and self.begin <= minute < self.end
        yesterday = (today - 1) % len(DAYS)
        return (today in self.days and minute >= self.begin) or (yesterday in self.days and minute < self.end)


@dataclass(frozen=True, slots=True)
class Dated:
    """From one moment to another, once."""

    begin: datetime
    end: datetime

    def contains(self, moment: datetime) -> bool:
        return self.begin <= moment < self.end


def zone(name: str) -> tzinfo:
    """The time zone of a name; UTC is known even where no time zones are installed."""
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError, TypeError):  # unknown; not a name; the name of a folder; not text
        raise InvalidValueError("timezone", f'must be a name such as "Europe/Berlin", not {name!r}') from None


def parse(text: str, timezone: tzinfo) -> Window:
    """Read a window; its times are local times in `timezone`.

    >>> night = parse("Sun 22:00-02:00", UTC)
    >>> monday = datetime(2026, 3, 2, 1, 30, tzinfo=UTC)
    >>> night.contains(monday), night.contains(monday.replace(hour=2))
    (True, False)
    """
    if not isinstance(text, str):
        raise InvalidValueError("windows", f"must be strings such as {_FORMS}, not {text!r}")
    if dated := _DATED.fullmatch(text.strip()):
        begin, end = (_moment(text, written, timezone) for written in dated.groups())
        if begin >= end:
            raise _refused(text, "must end after it begins")
        return Dated(begin, end)
    if weekly := _WEEKLY.fullmatch(text.strip()):
        days, first, last = weekly.groups()
        begin_minute, end_minute = _minute(text, first), _minute(text, last)
        if begin_minute == end_minute:
            raise _refused(text, "must not end at the time it begins; a whole day is 00:00-24:00")
        if begin_minute == FULL_DAY:
            raise _refused(text, "must begin before 24:00")
        return Weekly(_days(text, days), begin_minute, end_minute)
    raise _refused(text, f"must be written like {_FORMS}")


def _days(text: str, written: str | None) -> frozenset[int]:
    """The days of "Mon-Fri" or "Sat,Sun"; all of them if none is named. A range may run over Sunday."""
    if written is None:
        return frozenset(range(len(DAYS)))
    days: set[int] = set()
    for item in written.split(","):
        ends = [end.strip().lower() for end in item.split("-")]
        wrong = [end for end in ends if end not in DAYS]
        if wrong or len(ends) > 2:
            raise _refused(text, f"must name days as Mon, Tue, Wed, Thu, Fri, Sat or Sun, not {item.strip()!r}")
        first, last = DAYS.index(ends[0]), DAYS.index(ends[-1])
        days.update((first + step) % len(DAYS) for step in range((last - first) % len(DAYS) + 1))
    return frozenset(days)


def _minute(text: str, clock: str) -> int:
    hour, minute = (int(number) for number in clock.split(":"))
    if minute >= 60 or hour * 60 + minute > FULL_DAY:
        raise _refused(text, f"must have times from 00:00 to 24:00, not {clock}")
    return hour * 60 + minute


def _moment(text: str, written: str, timezone: tzinfo) -> datetime:
    try:
        return datetime.strptime(written, "%Y-%m-%d %H:%M").replace(tzinfo=timezone).astimezone(UTC)
    except (ValueError, OverflowError):
        raise _refused(text, f"must have dates that exist, not {written}") from None


def _refused(text: str, problem: str) -> InvalidValueError:
    return InvalidValueError(f"windows: {text!r}", problem)
