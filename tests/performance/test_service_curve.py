"""What a record takes, by the number of instances."""

import json
import random

import pytest

from penstock.performance.service_curve import ServiceCurve


def taught(*measured: tuple[int, float], windows: int = 60, noise: float = 0.0) -> ServiceCurve:
    draw, curve = random.Random(2), ServiceCurve()
    for k, seconds in measured:
        for _ in range(windows):
            curve.learn(k, seconds * (1 + draw.gauss(0, noise)))
    return curve


def test_rates_that_fall_with_parallelism_are_extended() -> None:
    curve = taught((2, 1.02), (4, 1.06), (8, 1.14))  # 2 % for each further instance
    assert curve.at(6) == pytest.approx(1.10, rel=0.01)
    assert curve.at(12) == pytest.approx(1.22, rel=0.02)


def test_instances_never_help_each_other() -> None:
    curve = taught((2, 1.2), (8, 1.0))
    assert curve.at(16) >= curve.at(8) * 0.99


def test_a_cap_from_outside_shows_as_capacity_that_does_not_grow() -> None:
    curve = taught((10, 0.10), (20, 0.20), (30, 0.30))  # 100 records a second, whatever the parallelism
    assert 40 / curve.at(40) == pytest.approx(100, rel=0.05)


def test_a_job_that_slows_down_is_followed_within_a_few_windows() -> None:
    curve = taught((4, 1.0))
    for _ in range(30):
        curve.learn(4, 1.5)
    assert curve.at(4) == pytest.approx(1.5, rel=0.05)


def test_it_knows_how_sure_it_is() -> None:
    noisy, quiet = taught((4, 1.0), noise=0.1), taught((4, 1.0), noise=0.01)
    assert noisy.noise == pytest.approx(0.1, rel=0.4)
    assert quiet.noise < 0.03
    assert noisy.error(4) > quiet.error(4)
    assert quiet.error(12) > quiet.error(6) > quiet.error(4)
    assert quiet.knows(8)
    assert quiet.knows(2)
    assert not quiet.knows(9)
    assert not quiet.knows(1)


def test_before_anything_was_measured_nothing_is_known() -> None:
    curve = ServiceCurve()
    assert not curve
    assert not curve.knows(1)


def test_it_goes_on_where_it_stopped() -> None:
    curve = taught((2, 1.0), (3, 1.1), noise=0.05)
    again = ServiceCurve.restored(json.loads(json.dumps(curve.state())))
    for each in (curve, again):
        each.learn(4, 1.3)
    assert again.state() == curve.state()
    assert [again.at(k) for k in range(1, 9)] == [curve.at(k) for k in range(1, 9)]


def test_its_memory_is_bounded() -> None:
    curve = taught(*((k, 1.0) for k in range(1, 200)), windows=2)
    assert len(curve.state()["seen"]) <= 24
    assert curve.most == 199
