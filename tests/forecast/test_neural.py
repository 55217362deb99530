"""Dp-Stream's predictor: it learns what can be learnt, and nothing from noise."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from penstock.forecast import FORECASTERS
from penstock.forecast._annealed import Annealing, NeuralNetwork, accepted
from penstock.forecast.neural import Neural
from penstock.load.curves import random_walk
from penstock.model import InvalidValueError

TRAINED, PREDICTED = 200, 20  # seconds, as in the paper


def smooth_walk(seed: int, seconds: int = 240) -> list[float]:
    """The rate of Dp-Stream's workloads, second by second."""
    return list(random_walk(1000.0, 3000.0, seconds, seed).rates[1:])


def noise(seed: int, seconds: int = 240) -> list[float]:
    return [float(rate) for rate in np.random.default_rng(seed).uniform(1000, 3000, seconds)]


def errors(rates: list[float], seed: int) -> dict[str, float]:
    """Train on 200 s, then predict each of 20 seconds from those before it."""
    forecaster = Neural(seed=seed)
    for t, rate in enumerate(rates[: TRAINED + 1]):
        forecaster.learn(t, rate)
    assert forecaster.trained
    actual, predicted = rates[TRAINED + 1 : TRAINED + 1 + PREDICTED], []
    for t, rate in enumerate(actual, start=TRAINED + 1):
        predicted.append(forecaster.predict(1.0))
        forecaster.learn(t, rate)
    off = np.array(predicted) - np.array(actual)
    return {
        "MAE": float(np.abs(off).mean()),
        "RMSE": float(np.sqrt((off**2).mean())),
        "MRE": float(np.abs(off / actual).mean()),
        "MAE of the mean": float(np.abs(np.array(actual) - np.mean(rates[: TRAINED + 1])).mean()),
    }


def average(series: list[dict[str, float]]) -> dict[str, float]:
    return {name: float(np.mean([each[name] for each in series])) for name in series[0]}


def test_a_smooth_rate_is_predicted_as_well_as_in_the_paper() -> None:
    """The paper prints MAE 61.92, RMSE 66.76, MRE 0.031 for 200 s of training and 20 s of prediction."""
    ours = average([errors(smooth_walk(seed), seed) for seed in range(3)])
    assert ours["MAE"] < 61.92
    assert ours["RMSE"] < 66.76
    assert ours["MRE"] < 0.031
    assert ours["MAE"] < 0.2 * ours["MAE of the mean"]


def test_independent_noise_is_predicted_no_better_than_by_its_mean() -> None:
    """Uniform in [1000, 3000], the mean is off by 500: no method does better, so the paper's rate was not noise."""
    ours = average([errors(noise(seed), seed) for seed in range(3)])
    assert ours["MAE"] == pytest.approx(ours["MAE of the mean"], rel=0.1)
    assert ours["MAE"] > 5 * 61.92


def test_further_ahead_its_own_answers_go_in() -> None:
    rates = [2000 + 800 * np.sin(t / 8) for t in range(240)]
    forecaster = Neural(iterations=300)
    for t, rate in enumerate(rates[:220]):
        forecaster.learn(t, rate)
    one, two, between = (forecaster.predict(ahead) for ahead in (1.0, 2.0, 1.5))
    assert one is not None
    assert two is not None
    assert between == pytest.approx((one + two) / 2)
    ahead = np.array([forecaster.predict(float(seconds)) for seconds in range(1, 6)])
    assert np.abs(ahead - rates[220:225]).mean() < 0.5 * np.abs(np.array(rates[220:225]) - rates[219]).mean()
    assert forecaster.predict(0.0) == rates[219]


def test_until_it_is_trained_the_last_rate_is_the_prediction() -> None:
    forecaster = Neural()
    for t in range(200):
        forecaster.learn(t, 1000 + t)
        assert forecaster.predict(10) == 1000 + t
    assert not forecaster.trained
    forecaster.learn(200, 1200)
    assert forecaster.trained


def test_few_measurements_are_not_enough_however_long_they_took() -> None:
    forecaster = Neural(inputs=4)
    for minute in range(11):
        forecaster.learn(60.0 * minute, 100 + minute % 3)
    assert not forecaster.trained
    forecaster.learn(660, 100)
    assert forecaster.trained


def test_a_rate_outside_what_it_can_express_makes_it_train_at_once() -> None:
    forecaster = Neural(iterations=50)
    for t, rate in enumerate(smooth_walk(1)[:201]):
        forecaster.learn(t, rate)
    forecaster.learn(201, 9000)
    ahead = forecaster.predict(1)
    assert ahead is not None
    assert forecaster.state()["memory"]["trainings"] == 2
    assert forecaster.state()["memory"]["range"][1] == 9000


def test_it_trains_again_from_what_it_knew() -> None:
    forecaster = Neural(iterations=30, retrain_seconds=10)
    for t, rate in enumerate(smooth_walk(2)[:221]):
        forecaster.learn(t, rate)
    assert forecaster.state()["memory"]["trainings"] == 3


def test_a_later_training_begins_with_the_network_there_is() -> None:
    """One generation alone learns nothing; after a good training it keeps what was learnt."""
    rates = smooth_walk(5)
    taught, lazy, fresh = Neural(), Neural(iterations=1, retrain_seconds=5), Neural(iterations=1)
    for t, rate in enumerate(rates[:206]):
        taught.learn(t, rate)
        fresh.learn(t, rate)
    lazy.restore(taught.state())
    lazy.learn(206, rates[206])
    fresh.learn(206, rates[206])
    assert lazy.state()["memory"]["trainings"] == 2
    near, far = ((each.predict(1) or 0.0) - rates[207] for each in (lazy, fresh))
    assert abs(near) < 0.5 * abs(far)


def test_after_a_restart_it_goes_on_bit_for_bit() -> None:
    rates = smooth_walk(3)
    whole, first = Neural(iterations=40, retrain_seconds=15), Neural(iterations=40, retrain_seconds=15)
    for t, rate in enumerate(rates[:210]):
        whole.learn(t, rate)
        first.learn(t, rate)
    second = Neural(iterations=40, retrain_seconds=15)
    second.restore(json.loads(json.dumps(first.state())))
    for t, rate in enumerate(rates[210:], start=210):
        whole.learn(t, rate)
        second.learn(t, rate)
    assert second.state() == whole.state()
    assert second.predict(7) == whole.predict(7)


def test_another_seed_is_another_training() -> None:
    answers = []
    for seed in (1, 1, 2):
        forecaster = Neural(iterations=20, seed=seed)
        for t, rate in enumerate(smooth_walk(4)[:205]):
            forecaster.learn(t, rate)
        answers.append(forecaster.predict(5))
    assert answers[0] == answers[1] != answers[2]


def test_the_network_answers_as_its_equations_say() -> None:
    """Two inputs, one hidden unit: h = f(0.5 * 1 - 1 * 2 + 0.25), y = f(2 h - 1), with k = 2."""
    network = NeuralNetwork(inputs=2, hidden=1, steepness=2.0)
    genes = np.array([[0.5, -1.0, 0.25, 2.0, -1.0]])
    hidden = 1 / (1 + np.exp(-2 * (0.5 - 2.0 + 0.25)))
    answer = 1 / (1 + np.exp(-2 * (2 * hidden - 1)))
    assert network.genes == 5
    assert network.outputs(genes, np.array([[1.0, 2.0]]))[0, 0] == pytest.approx(answer)
    assert network.energies(genes, np.array([[1.0, 2.0]]), np.array([0.9]))[0] == pytest.approx(
        0.5 * (0.9 - answer) ** 2
    )


def test_less_energy_is_always_accepted_and_more_the_rarer_the_colder() -> None:
    random = np.random.default_rng(1)
    rise = np.array([-0.1, 0.1, 0.2])

    def passed(temperature: float) -> list[float]:
        return [float(share) for share in np.mean([accepted(rise, temperature, random) for _ in range(4000)], axis=0)]

    warm, cold = passed(0.1), passed(0.02)
    weights = np.exp([0.0, -1.0, -2.0])
    assert warm[0] == cold[0] == 1.0
    assert warm[1:] == pytest.approx(list(weights[1:] / weights.sum()), abs=0.03)
    assert cold[1] < warm[1]
    assert passed(0.0)[1:] == [0.0, 0.0]


def trained(iterations: int, temperature: float = 0.01, cooling: float = 0.98, enough: float = 0.0) -> float:
    """The energy reached on a sine."""
    network = NeuralNetwork(3, 3, 1.0)
    series = np.array([0.5 + 0.3 * np.sin(i / 3) for i in range(60)])
    patterns = np.lib.stride_tricks.sliding_window_view(series[:-1], 3)
    annealing = Annealing(20, iterations, 0.9, 0.2, temperature, cooling, enough)
    best = annealing.train(network, patterns, series[3:], np.random.default_rng(5))
    return float(network.energies(best[None, :], patterns, series[3:])[0])


def test_training_gets_better_and_keeps_the_best_it_ever_met() -> None:
    reached = [trained(iterations) for iterations in (1, 10, 100, 400)]
    assert reached[-1] < 0.05 * reached[0]
    hot = [trained(iterations, temperature=1e3, cooling=1.0) for iterations in range(1, 30)]
    assert all(later <= earlier for earlier, later in pairwise(hot))


def test_training_ends_when_it_is_good_enough() -> None:
    assert trained(100, enough=1.0) == trained(1, enough=1.0) > trained(100)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"inputs": 0}, "inputs"), ({"hidden": 0}, "hidden"), ({"population": 1}, "population"),
        ({"crossover": 1.5}, "crossover"), ({"mutation": -0.1}, "mutation"), ({"cooling": 2.0}, "cooling"),
        ({"temperature": -1.0}, "temperature"), ({"remembered": 5}, "remembered"), ({"seed": -1}, "seed"),
    ],
)  # fmt: skip
def test_options_that_cannot_be_are_refused_by_name(options: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidValueError, match=field):
        FORECASTERS.create("neural", options)
