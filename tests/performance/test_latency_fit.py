"""A fixed part and a factor."""

import json
import random

import pytest

from penstock.performance.latency_fit import LatencyFit


def taught(xs: tuple[float, ...], fixed: float, factor: float, noise: float = 0.0) -> LatencyFit:
    draw, fit = random.Random(5), LatencyFit()
    for _ in range(100):
        for x in xs:
            fit.learn(x, (fixed + factor * x) * (1 + draw.gauss(0, noise)))
    return fit


def test_windows_of_different_load_tell_the_two_apart() -> None:
    fit = taught((0.01, 0.05, 0.2), fixed=0.1, factor=2.5, noise=0.03)
    assert fit.fixed == pytest.approx(0.1, rel=0.1)
    assert fit.factor == pytest.approx(2.5, rel=0.1)
    assert fit.budget(0.6) == pytest.approx(0.2, rel=0.1)


def test_windows_that_are_alike_leave_theory_as_it_is() -> None:
    fit = taught((0.05,), fixed=0.1, factor=1.0)
    assert fit.factor == pytest.approx(1.0, rel=0.01)
    assert fit.at(0.05) == pytest.approx(0.15)


def test_neither_part_is_negative() -> None:
    falling = taught((0.01, 0.05), fixed=0.2, factor=-2.0)
    assert falling.factor >= 0
    assert falling.fixed >= 0
    below = taught((0.4,), fixed=0.0, factor=0.5)  # less than theory says
    assert below.fixed == pytest.approx(0.0)
    assert below.at(0.2) == pytest.approx(0.1, rel=0.05)


def test_a_fixed_part_beyond_the_target_leaves_a_small_budget() -> None:
    assert 0 < taught((0.01, 0.02), fixed=1.0, factor=1.0).budget(0.5) < 0.02


def test_before_anything_was_measured_theory_holds() -> None:
    fit = LatencyFit()
    assert not fit
    assert fit.at(0.3) == fit.budget(0.3) == 0.3


def test_it_goes_on_where_it_stopped() -> None:
    fit = taught((0.01, 0.05), 0.1, 2.0, noise=0.1)
    again = LatencyFit.restored(json.loads(json.dumps(fit.state())))
    assert again.at(0.07) == fit.at(0.07)
