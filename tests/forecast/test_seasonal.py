"""A load that comes round is known before it comes."""

import math

import pytest

from penstock.forecast.seasonal import Seasonal
from penstock.model import InvalidValueError

DAY = 86_400.0


def rate(t: float, level: float = 1.0) -> float:
    return level * (100 + 60 * math.sin(2 * math.pi * t / DAY))


def taught(days: float, level_of_third_day: float = 1.0) -> Seasonal:
    forecaster = Seasonal()
    for step in range(1, int(days * DAY / 300) + 1):
        t = 300.0 * step
        forecaster.learn(t, rate(t, level_of_third_day if t > 2 * DAY else 1.0))
    return forecaster


def test_in_the_first_period_it_expects_the_last_rate() -> None:
    forecaster = taught(0.6)
    assert not forecaster.knows_the_season
    assert forecaster.predict(3600) == forecaster.predict(0)


def test_from_the_second_period_on_it_knows_what_comes() -> None:
    forecaster = taught(2.3)
    assert forecaster.knows_the_season
    for hours in (1, 3, 6, 12):
        expected = rate(2.3 * DAY + 3600 * hours)
        assert forecaster.predict(3600 * hours) == pytest.approx(expected, rel=0.02)


def test_a_busier_day_is_busier_throughout() -> None:
    forecaster = taught(2.5, level_of_third_day=1.5)
    expected = rate(2.5 * DAY + 7200, level=1.5)
    assert forecaster.predict(7200) == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize(("options", "field"), [({"period": 0.0}, "period"), ({"bins": 1}, "bins")])
def test_a_season_that_cannot_be_is_refused(options: dict[str, float], field: str) -> None:
    with pytest.raises(InvalidValueError, match=f"^{field} must"):
        Seasonal(**options)  # type: ignore[arg-type]
