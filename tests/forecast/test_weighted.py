"""Several forecasters, each believed as far as it was right."""

import math
import random

import pytest

from penstock.forecast.weighted import HORIZONS, Weighted

DAY = 86_400.0


def test_on_a_steady_climb_the_trend_is_believed() -> None:
    forecaster = Weighted()
    for step in range(120):
        forecaster.learn(30.0 * step, 1000.0 + 2.0 * step)
    weights = forecaster.weights(300)
    assert weights["trend"] + weights["damped"] > 0.9
    assert forecaster.predict(300) == pytest.approx(1000 + 2.0 * 129, rel=5e-3)


def test_on_noise_around_a_level_the_level_is_believed() -> None:
    draw, forecaster = random.Random(1), Weighted()
    for step in range(600):
        forecaster.learn(10.0 * step, 1000.0 * draw.uniform(0.8, 1.2))
    weights = forecaster.weights(60)
    assert weights["level"] == max(weights.values())
    assert forecaster.predict(60) == pytest.approx(1000, rel=0.06)


def test_a_season_counts_for_nothing_until_it_was_seen_and_for_much_after_it() -> None:
    forecaster = Weighted()
    for step in range(1, int(2.5 * DAY / 120)):
        t = 120.0 * step
        forecaster.learn(t, 1000 + 500 * math.copysign(1, math.sin(12 * math.pi * t / DAY)))  # jumps every two hours
        if t < 0.9 * DAY:
            assert forecaster.weights(900)["day"] == 0.0
    assert forecaster.weights(900)["day"] > 0.5


@pytest.mark.parametrize("horizon", HORIZONS[:4])
def test_quantiles_cover_what_they_say(horizon: float) -> None:
    draw, forecaster = random.Random(7), Weighted()
    rate, inside, scored = 1000.0, 0, 0
    pending: list[tuple[float, float, float]] = []
    for step in range(3000):
        t = 60.0 * step
        rate = max(100.0, rate + draw.gauss(0, 20))
        due = [each for each in pending if each[0] <= t]
        pending = [each for each in pending if each[0] > t]
        for _, low, high in due:
            scored, inside = scored + 1, inside + (low <= rate <= high)
        forecaster.learn(t, rate)
        if step > 400:
            low, high = forecaster.quantiles(horizon, (0.05, 0.95))
            pending.append((t + horizon, low, high))
    assert inside / scored == pytest.approx(0.9, abs=0.05)


def test_what_was_not_measured_in_time_is_not_scored() -> None:
    forecaster = Weighted()
    for step in range(20):
        forecaster.learn(60.0 * step, 1000.0)
    scored = sum(forecaster.state()["memory"]["scored"])
    forecaster.learn(60.0 * 19 + 7200, 5000.0)  # everything pending is long overdue
    assert sum(forecaster.state()["memory"]["scored"]) == scored


def test_its_memory_is_bounded() -> None:
    forecaster = Weighted()
    for step in range(2000):
        forecaster.learn(10.0 * step, 1000.0 + step % 7)
    memory = forecaster.state()["memory"]
    assert len(memory["pending"]) <= sum(HORIZONS) / 60
    assert all(len(misses) <= 240 for misses in memory["misses"])


def test_the_highest_rate_until_then_is_covered_as_often_as_said_and_more_than_the_last_one() -> None:
    draw, forecaster = random.Random(3), Weighted()
    rates = [1000.0 * draw.uniform(0.8, 1.2) for _ in range(3000)]
    expected, covered = [], []
    for step, rate in enumerate(rates):
        forecaster.learn(20.0 * step, rate)
        if step > 300 and step % 15 == 0 and step + 15 < len(rates):
            (peak,) = forecaster.peaks(300, (0.8,))
            covered.append(max(rates[step + 1 : step + 16]) <= peak)
            expected.append(peak > forecaster.quantiles(300, (0.8,))[0])
    assert 0.7 < sum(covered) / len(covered) < 0.92
    assert all(expected)
