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


def test_a_source_that_was_silent_for_minutes_is_not_expected_to_jump_tenfold() -> None:
    """A prediction made while nothing came is no measure of how much a load that runs may rise."""
    forecaster = Weighted()
    for minute in range(60):
        forecaster.learn(60.0 * minute, 0.0 if 30 <= minute < 35 else 300.0)
    assert max(forecaster.peaks(300, (0.995,))) < 3 * 300


def test_a_rate_that_cannot_be_is_not_the_usual_one() -> None:
    forecaster = Weighted()
    for minute in range(60):
        forecaster.learn(60.0 * minute, 1e9 if minute == 30 else 300.0)
    assert forecaster._usual < 2 * 300


def jumps(hours: float, seed: int) -> list[float]:
    """Rates every 10 s that jump every five minutes around a level of 1000 and know nothing of the one before."""
    draw = random.Random(seed)
    return [rate for _ in range(int(12 * hours)) for rate in [1000.0 * draw.uniform(0.5, 1.5)] * 30]


def test_a_load_that_comes_back_to_its_level_is_expected_there_and_not_where_it_is() -> None:
    forecaster = Weighted()
    for step, rate in enumerate([*jumps(8, seed=5), *[1490.0] * 12]):
        forecaster.learn(10.0 * step, rate)
    predicted, weights = forecaster.predict(3600), forecaster.weights(3600)
    assert predicted is not None
    assert predicted < 1300
    assert weights["minutes"] + weights["hour"] > 0.5


def test_a_single_surge_is_not_expected_again_for_hours() -> None:
    """Its misses overlap: asked every minute, an hour's horizon would have the same ten minutes in 70 of 240 misses."""
    forecaster = Weighted()
    for minute in range(9 * 60):
        forecaster.learn(60.0 * minute, 4000.0 if 400 <= minute < 410 else 1000.0)
    assert forecaster.peaks(3600, (0.7,)) == pytest.approx([1000.0], rel=0.05)
    assert sum(miss > 1.0 for miss in forecaster.state()["memory"]["peaks"][-1]) <= 5


def test_while_a_horizon_has_too_few_misses_those_of_a_shorter_one_stand_in() -> None:
    forecaster = Weighted()
    for step, rate in enumerate(jumps(1.5, seed=2)):
        forecaster.learn(10.0 * step, rate)
    memory = forecaster.state()["memory"]
    assert len(memory["peaks"][-1]) < 10 <= len(memory["peaks"][3])  # an hour, five minutes
    predicted, peak = forecaster.predict(3600), forecaster.peaks(3600, (0.9,))[0]
    assert predicted is not None
    assert peak > 1.3 * predicted  # a nominal error would say a quarter


def test_what_a_version_with_other_forecasters_has_stored_is_left() -> None:
    forecaster = Weighted()
    for minute in range(60):
        forecaster.learn(60.0 * minute, 1000.0)
    state = forecaster.state()
    earlier = {**state["memory"], "members": {"last": state["memory"]["members"]["last"]}, "asked": 3540.0}
    resumed = Weighted()
    resumed.restore({**state, "memory": earlier})
    assert resumed.predict(60) is None
    resumed.learn(3600.0, 1200.0)
    assert resumed.predict(60) == 1200.0


def test_the_first_window_of_a_load_is_no_ground_for_a_prediction() -> None:
    """A load that begins in the middle of a window seems to rise fivefold: once, and for no horizon again."""
    draw, forecaster = random.Random(4), Weighted()
    for step in range(180):
        forecaster.learn(10.0 * step, 200.0 if step == 0 else 1000.0 * draw.uniform(0.7, 1.3))
    assert forecaster.peaks(300, (0.995,))[0] < 2 * 1000
    assert forecaster.peaks(900, (0.995,))[0] < 2 * 1000


def test_who_sees_a_surge_a_minute_ahead_is_believed_before_longer_horizons_have_passed() -> None:
    """Nothing that was said for ten minutes ahead since the surge began is due yet: by that, all are alike."""
    forecaster = Weighted()
    for minute in range(65):
        forecaster.learn(60.0 * minute, 1000.0 + 100 * max(0, minute - 60))
    weights = forecaster.weights(600)
    assert weights["trend"] > 1.1 * weights["last"]
