"""The plan over a horizon."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from penstock.performance.horizon import Outlook, Terms, weigh
from penstock.performance.rungs import Rung

STEPS = np.array([60.0] * 5)


def rung(slots: int, each: float = 100.0) -> Rung:
    return Rung({"op": slots}, slots, 0.9 * each * slots, each * slots, 0.0, True)


RUNGS = [rung(slots) for slots in range(2, 9)]


def outlook(*rates: float) -> Outlook:
    return Outlook(STEPS, np.array([[rate] for rate in rates]), np.array([1.0]))


def terms(miss: float = 100.0, silence: float = 0.0, change: float = 0.0) -> Terms:
    return Terms(miss=miss, change=change, silence=silence, tolerated=0.5, sigma=0.001)


def chosen(rates: tuple[float, ...], present: int, backlog: float = 0.0, **costs: float) -> int:
    current = next(n for n, each in enumerate(RUNGS) if each.slots == present)
    options = weigh(RUNGS, current, backlog, outlook(*rates), terms(**costs))
    return min(options, key=lambda each: each.cost).rung.slots


def test_the_cheapest_plan_that_carries_the_load() -> None:
    assert chosen((350.0,) * 5, present=4) == 4
    assert chosen((350.0,) * 5, present=8) == 4
    assert chosen((500.0,) * 5, present=4) == 6


def test_a_surge_is_answered_before_it_comes_if_a_change_is_silent_by_then() -> None:
    """A change in the surge would miss the targets for its silence, and for what waits after it."""
    quiet_then_loud = (170.0, 170.0, 690.0, 690.0, 690.0)
    assert chosen(quiet_then_loud, present=2, silence=0.0) == 2
    assert chosen((170.0, 690.0, 690.0, 690.0, 690.0), present=2, silence=20.0, miss=300.0) == 8


def test_a_dip_is_sat_out_if_changing_back_and_forth_is_dearer() -> None:
    dip = (350.0, 700.0, 700.0, 700.0, 700.0)
    assert chosen(dip, present=8, silence=0.0) == 4
    assert chosen(dip, present=8, silence=5.0) == 8


def test_nothing_shrinks_while_a_backlog_drains() -> None:
    assert chosen((150.0,) * 5, present=8, backlog=5000.0) == 8
    assert chosen((150.0,) * 5, present=8, backlog=0.0) == 2


def test_a_backlog_is_drained_the_faster_the_dearer_a_missed_second_is() -> None:
    cheap = chosen((350.0,) * 5, present=4, backlog=6000.0, miss=0.5)
    dear = chosen((350.0,) * 5, present=4, backlog=6000.0, miss=100.0)
    assert cheap < dear


def test_uncertain_rates_ask_for_room() -> None:
    rates = np.array([[300.0, 350.0, 500.0]] * 5)
    uncertain = Outlook(STEPS, rates, np.array([0.5, 0.45, 0.05]))
    options = weigh(RUNGS, 2, 0.0, uncertain, terms(miss=100.0))
    assert min(options, key=lambda each: each.cost).rung.slots == 6
    options = weigh(RUNGS, 2, 0.0, uncertain, terms(miss=1.0))
    assert min(options, key=lambda each: each.cost).rung.slots < 6


def test_no_sequence_of_brute_force_is_cheaper() -> None:
    rungs = RUNGS[:5]
    rates, costs = (170.0, 420.0, 240.0, 330.0), terms(miss=5.0, change=30.0)
    steps = Outlook(STEPS[:4], np.array([[rate] for rate in rates]), np.array([1.0]))

    def cost(plans: tuple[int, ...]) -> float:
        total, before = 0.0, 1
        for rate, at in zip(rates, plans, strict=True):
            z = math.log(rate / rungs[at].limit) / 0.01
            chance = 1 / (1 + math.exp(-max(-8.0, min(8.0, z)) * (1.5976 + 0.070566 * max(-8.0, min(8.0, z)) ** 2)))
            total += 60 * rungs[at].slots + 5.0 * 60 * chance + (30.0 if at != before else 0.0)
            before = at
        too_many = max(0, rungs[plans[-1]].slots - 4)  # 4 slots carry the last rate
        return total + min(too_many * 240.0, 30.0)

    # Every plan has the capacity for every rate, so that nothing ever waits and the sum is exact.
    roomy = [Rung(each.parallelism, each.slots, each.limit, 1e6, 0.0, True) for each in rungs]
    options = weigh(roomy, 1, 0.0, steps, costs)
    for first in range(len(rungs)):
        best = min(cost((first, *rest)) for rest in itertools.product(range(len(rungs)), repeat=3))
        assert options[first].cost == pytest.approx(best, rel=1e-6)


def test_slots_that_are_too_many_at_the_end_are_paid_for_as_long_again_or_given_back() -> None:
    """To give back one of five slots saves 300 slot-seconds within the horizon, and 300 more after it."""
    assert chosen((350.0,) * 5, present=5, change=400.0) == 4
    assert chosen((350.0,) * 5, present=5, change=700.0) == 5


def test_without_input_the_smallest_plan_is_the_cheapest() -> None:
    assert chosen((0.0,) * 5, present=4) == 2


def test_a_plan_that_may_soon_be_too_small_costs_the_change_that_it_will_take() -> None:
    """Rates that are likely to come back are sat out, even if no single one of them would be missed for long."""
    low, high = [350.0] * 5, [350.0, 700.0, 700.0, 700.0, 700.0]

    def chosen_if(returns: float) -> int:
        likely = Outlook(STEPS, np.array([low, high]).T, np.array([1 - returns, returns]))
        options = weigh(RUNGS, len(RUNGS) - 1, 0.0, likely, terms(change=300.0))
        return min(options, key=lambda each: each.cost).rung.slots

    assert chosen_if(0.05) == 4
    assert chosen_if(0.9) == 8


def test_who_does_not_shrink_now_does_not_shrink_in_a_minute_either() -> None:
    """Later choices know which scenario it is. If that were known within a minute, waiting for it would always pay."""
    low, high = [300.0] * 5, [300.0, 700.0, 700.0, 700.0, 700.0]
    likely = Outlook(STEPS, np.array([low, high]).T, np.array([0.85, 0.15]))

    def chosen_if(kept: float) -> int:
        costs = replace(terms(change=900.0), kept=kept)
        options = weigh(RUNGS, len(RUNGS) - 1, 0.0, likely, costs)
        return min(options, key=lambda each: each.cost).rung.slots

    assert chosen_if(kept=0.0) == 8
    assert chosen_if(kept=240.0) == 4


def test_executors_that_take_long_to_arrive_are_asked_for_early() -> None:
    low, high = [350.0] * 5, [350.0, 700.0, 700.0, 700.0, 700.0]
    likely = Outlook(STEPS, np.array([low, high]).T, np.array([0.7, 0.3]))

    def chosen_if(arrival: float) -> int:
        options = weigh(RUNGS, 2, 0.0, likely, replace(terms(miss=100.0), arrival=arrival))
        return min(options, key=lambda each: each.cost).rung.slots

    assert chosen_if(arrival=0.0) == 4
    assert chosen_if(arrival=30.0) == 8


def test_a_plan_of_which_little_is_known_is_charged_for_the_time_until_that_shows() -> None:
    """What fluctuates misses targets again and again; what was misjudged is noticed, and replaced."""
    plan = Rung({"op": 4}, 4, 400.0, 1e6, 0.2, True)

    def missed(seconds: float, sigma: float, error: float) -> float:
        steps = Outlook(np.array([seconds]), np.array([[360.0]]), np.array([1.0]))
        [option] = weigh([replace(plan, error=error)], 0, 0.0, steps, replace(terms(), sigma=sigma, found_out=60.0))
        return option.missed_seconds

    assert missed(600.0, sigma=0.2, error=0.0) == pytest.approx(10 * missed(60.0, sigma=0.2, error=0.0))
    assert missed(600.0, sigma=0.0, error=0.2) == pytest.approx(missed(60.0, sigma=0.0, error=0.2), rel=1e-3)


def test_a_plan_that_grows_for_what_waits_need_not_be_kept_for_minutes() -> None:
    """To drain it sooner is worth a few slots for a minute, and not for five of them."""
    kept = replace(terms(miss=6.0), kept=300.0)

    def grown(each: Terms, backlog: float) -> int:
        options = weigh(RUNGS, 0, backlog, outlook(*(100.0,) * 5), each)
        return min(options, key=lambda option: option.cost).rung.slots

    assert grown(kept, 4000.0) == 2
    assert grown(replace(kept, settled=60.0), 4000.0) > 2
    assert grown(replace(kept, settled=60.0), 0.0) == 2


def test_a_backlog_is_weighed_even_if_nothing_comes() -> None:
    options = weigh(RUNGS, 0, 6000.0, outlook(*(0.0,) * 5), terms(miss=100.0))
    assert min(options, key=lambda each: each.cost).rung.slots > 2
    assert options[0].missed_seconds == pytest.approx(6000.0 / 200.0, rel=0.2)
