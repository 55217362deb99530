"""Table 3 of Dp-Stream: how well its network predicts the rate."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from penstock.forecast import FORECASTERS
from penstock.papers.dp_stream.workloads import HIGHEST, LOWEST, SECONDS, walk
from penstock.report.bands import FORECAST_ERROR
from penstock.report.item import Item, Row
from penstock.report.judging import agrees, calibrated, ours, theirs, unless

Stream = Callable[[int], Sequence[float]]
"""A rate for each second, by seed."""

STREAMS = (0, 1, 2, 3, 4)
TRAINING, PREDICTION = 200, 20  # seconds

# A window is one second: the four pairs that Table 3 prints have a mean absolute error of 71.75, not the 61.92 below
# them, so that was taken over more values within the 20 s than those.
WINDOW = 1.0
TABLE_3 = {5: (2101.0, 2056.0), 10: (2511.0, 2421.0), 15: (2114.0, 2201.0), 20: (1864.0, 1799.0)}
MAE, RMSE, MRE = 61.92, 66.76, 0.031
WALK = "how smooth the random walk is, since the paper's errors rule out a rate that is random from second to second"


def smooth(seed: int) -> Sequence[float]:
    """A rate every second: wandering, each like the one before."""
    return walk(seed).rates


def faster(seed: int) -> Sequence[float]:
    """The same walk twice as fast: it changes by about twice as much from one second to the next."""
    return walk(seed).rates[::2]


def independent(seed: int) -> Sequence[float]:
    """A rate every second: any one between the bounds, whatever the one before was."""
    rates: list[float] = np.random.default_rng(seed).uniform(LOWEST, HIGHEST, SECONDS).tolist()
    return rates


def least_relative_error(low: float, high: float) -> float:
    """The mean relative error that no predictor of independent uniform rates can go below, whatever it knows.

    The best guess g is then a constant: the median with weights 1/rate, the geometric mean of the bounds.

    >>> round(least_relative_error(1000.0, 3000.0), 3)
    0.268
    """
    g = math.sqrt(low * high)
    return (g * math.log(g / low) - (g - low) + (high - g) - g * math.log(high / g)) / (high - low)


@dataclass(frozen=True)
class Score:
    """How far predictions were off over all streams: second of the prediction, predicted rate, actual one."""

    pairs: tuple[tuple[int, float, float], ...]

    @property
    def mae(self) -> float:
        return fmean(abs(predicted - actual) for _, predicted, actual in self.pairs)

    @property
    def rmse(self) -> float:
        return math.sqrt(fmean((predicted - actual) ** 2 for _, predicted, actual in self.pairs))

    @property
    def mre(self) -> float:
        return fmean(abs(predicted - actual) / actual for _, predicted, actual in self.pairs)

    def at(self, second: int) -> Score:
        """The predictions of one second alone."""
        return Score(tuple(pair for pair in self.pairs if pair[0] == second))


def predicted(stream: Stream, forecaster: str, *, in_one_go: bool = False) -> Score:
    """Train on 200 s; predict each of the next 20 s from all that came before, or `in_one_go`, without seeing any."""
    pairs = []
    for seed in STREAMS:
        rates, predictor = stream(seed), FORECASTERS.create(forecaster)
        for second in range(TRAINING + 1):
            predictor.learn(float(second), rates[second])
        for second in range(1, PREDICTION + 1):
            answer = predictor.predict(second * WINDOW if in_one_go else WINDOW)
            pairs.append((second, answer or 0.0, rates[TRAINING + second]))
            if not in_one_go:
                predictor.learn(float(TRAINING + second), rates[TRAINING + second])
    return Score(tuple(pairs))


def mean_of_training(stream: Stream) -> Score:
    """The rate of the 200 s on average, predicted for each of the next 20 s."""
    all_rates = [stream(seed) for seed in STREAMS]
    return Score(
        tuple(
            (second, fmean(rates[: TRAINING + 1]), rates[TRAINING + second])
            for rates in all_rates
            for second in range(1, PREDICTION + 1)
        )
    )


def table_3() -> Item:
    """The predictor, on a smooth rate and on independent ones: the paper only says that the rate is random."""
    network, last, mean = predicted(smooth, "neural"), predicted(smooth, "last"), mean_of_training(smooth)
    ahead = predicted(smooth, "neural", in_one_go=True)
    quick = predicted(faster, "neural")
    noise, noise_last = predicted(independent, "neural"), predicted(independent, "last")
    noise_mean = mean_of_training(independent)
    floor = least_relative_error(LOWEST, HIGHEST)
    speed = ours(
        f"how fast the walk goes is chosen; on one twice as fast the MAE is {quick.mae:.1f}, RMSE {quick.rmse:.1f}"
    )
    printed = {second: Score(((second, *pair),)).mre for second, pair in TABLE_3.items()}
    return Item.of(
        title="Dp-Stream, Table 3",
        setting="1000 to 3000 tuples/s, 200 s of training, then 20 s predicted second by second, each from all before; "
        "smooth: a bounded random walk; independent: uniform noise; neural forecaster; streams seeded 0 to 4, all "
        "errors together",
        rows=(
            Row("smooth: MAE", MAE, network.mae, "tuples/s"),
            Row("smooth: RMSE", RMSE, network.rmse, "tuples/s"),
            Row("smooth: MRE", MRE, network.mre, calibrated=True),
            *(Row(f"smooth: relative miss at {s} s", printed[s], network.at(s).mre) for s in TABLE_3),
            Row("smooth: MAE of the last rate", None, last.mae, "tuples/s"),
            Row("smooth: MAE of the mean of the training", None, mean.mae, "tuples/s"),
            Row("smooth: MAE, all 20 s predicted at once", None, ahead.mae, "tuples/s"),
            Row("smooth, twice as fast: MAE", MAE, quick.mae, "tuples/s"),
            Row("independent: MAE", MAE, noise.mae, "tuples/s"),
            Row("independent: RMSE", RMSE, noise.rmse, "tuples/s"),
            Row("independent: MRE", MRE, noise.mre),
            Row("independent: MAE of the last rate", None, noise_last.mae, "tuples/s"),
            Row("independent: MAE of the mean of the training", None, noise_mean.mae, "tuples/s"),
            Row("independent: least MRE of any predictor", None, floor),
        ),
        claims={
            "the mean absolute error is 61.92": unless(agrees(network.mae, MAE, FORECAST_ERROR, ".1f"), speed),
            "the root mean squared error is 66.76": unless(agrees(network.rmse, RMSE, FORECAST_ERROR, ".1f"), speed),
            "the mean relative error is below 0.05": calibrated((network.mre < 0.05, f"{network.mre:.3f}"), WALK),
            "the network predicts well: better than the last rate does": (
                network.mae < last.mae,
                f"MAE {network.mae:.1f} against {last.mae:.1f} on the smooth rate",
            ),
            "the same on a rate that is random from second to second, as the text can be read": unless(
                (noise.mre < 0.05, f"MRE {noise.mre:.3f}, MAE {noise.mae:.0f}"),
                theirs(
                    f"no predictor can have less than {floor:.3f} there, so the paper's random rate must have been "
                    "smooth"
                ),
            ),
        },
    )
