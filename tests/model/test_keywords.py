"""A misspelt keyword is one sentence: the keyword, the nearest one, and where a user reads what each does."""

from __future__ import annotations

from typing import TypedDict, Unpack

import pytest

from penstock import Slo
from penstock.model import InvalidValueError
from penstock.model.keywords import knows_its_keywords


class Further(TypedDict, total=False):
    interval: str
    mode: str


@knows_its_keywords("the manual")
def start(name: str, *, slo: int, **options: Unpack[Further]) -> tuple[object, ...]:
    return name, slo, options


@knows_its_keywords("the manual", others=("startingOffsets",), prefix="kafka.")
def topic(name: str, *, servers: str, **options: str) -> dict[str, str]:
    return {"servers": servers, **options}


def test_what_a_function_knows_reaches_it() -> None:
    assert start("job", slo=3, mode="off") == ("job", 3, {"mode": "off"})
    assert start(name="job", slo=3) == ("job", 3, {})
    assert topic("t", servers="s", startingOffsets="latest", **{"kafka.acks": "1"}) == {
        "servers": "s",
        "startingOffsets": "latest",
        "kafka.acks": "1",
    }


def test_a_misspelt_keyword_is_named_with_the_nearest_one() -> None:
    with pytest.raises(InvalidValueError) as refused:
        start("job", slo=3, intervall="1 s")  # type: ignore[call-arg]
    assert str(refused.value) == (
        "start: option 'intervall' is not known; did you mean 'interval'? There is: interval, mode, name, slo "
        "(the manual says what each does)"
    )


def test_a_required_keyword_that_is_misspelt_is_not_said_to_be_missing() -> None:
    with pytest.raises(InvalidValueError, match="option 'slos' is not known; did you mean 'slo'"):
        start("job", slos=3)  # type: ignore[call-arg]
    with pytest.raises(InvalidValueError, match="option 'server' is not known; did you mean 'servers'"):
        topic("t", server="s")  # type: ignore[call-arg]
    with pytest.raises(InvalidValueError, match="option 'startingOffset' is not known; did you mean 'startingOffsets'"):
        topic("t", servers="s", startingOffset="latest")


def test_a_misspelt_target_is_refused() -> None:
    with pytest.raises(InvalidValueError, match=r"^Slo: option 'event_latncy' is not known; did you mean 'event_late"):
        Slo(event_latncy="3 s")  # type: ignore[call-arg]
