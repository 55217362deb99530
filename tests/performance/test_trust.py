"""Whether a model may be relied on."""

import json
import math

from penstock.performance.trust import Trust


def test_a_model_that_is_wrong_window_after_window_is_not_relied_on() -> None:
    trust = Trust()
    assert trust.learn(2.0, 0.3, target=0.5)
    assert trust.learn(2.0, 0.3, target=0.5)
    assert not trust.learn(2.0, 0.3, target=0.5)


def test_a_single_odd_window_proves_nothing() -> None:
    trust = Trust()
    assert all(trust.learn(2.0 if n % 3 == 0 else 0.3, 0.3, target=0.5) for n in range(30))


def test_far_below_the_target_no_factor_matters() -> None:
    trust = Trust()
    assert all(trust.learn(0.001, 0.19, target=0.5) for _ in range(10))


def test_too_much_expected_is_wrong_as_well_and_infinity_can_be_compared() -> None:
    trust = Trust()
    assert not [trust.learn(0.1, math.inf, target=0.5) for _ in range(3)][-1]


def test_it_is_relied_on_again_once_it_was_right_for_a_while_and_goes_on_where_it_stopped() -> None:
    trust = Trust()
    for _ in range(3):
        trust.learn(2.0, 0.3, target=0.5)
    trust = Trust.restored(json.loads(json.dumps(trust.state())))
    relied = [trust.learn(0.3, 0.3, target=0.5) for _ in range(6)]
    assert relied == [False] * 5 + [True]
