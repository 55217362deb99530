"""Fig. 2 and 3 of Dp-Stream: what scheduling ahead does to the latency of WordCount and of Top-N."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from statistics import fmean, median, pstdev

from penstock.model import Cycle
from penstock.papers.catalogue import workload
from penstock.papers.dp_stream.table3 import WINDOW
from penstock.papers.dp_stream.workloads import SECONDS, walk
from penstock.papers.runs import Runs
from penstock.papers.traces import latency_of, over_traces, samples_of
from penstock.performance.regression import least_squares
from penstock.report.bands import CHANGE, LATENCY
from penstock.report.item import Chart, Item, Row, Series
from penstock.report.judging import agrees, calibrated, ours, unless

STREAMS = tuple(range(8))  # few walks may rise or fall by chance
SERVICE = "service times, so that one instance of each just carries the highest rate and Storm's mean comes near theirs"


OMEGA, LATER_OMEGA = 0.8, 0.9
"""The policy's own bound in ms, above which an operator gets an instance more, and one to compare it with."""


@cache
def latencies(name: str, policy: str, **options: str | float) -> Runs:
    return over_traces(workload(name), map(walk, STREAMS), policy, options, interval=f"{WINDOW:g} s")


def _by_second(cycles: Sequence[Cycle]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    samples = samples_of(cycles)
    return tuple(sample.end for sample in samples), tuple(latency_of(sample) for sample in samples)


def _fluctuation(runs: Runs) -> float:
    return fmean(pstdev(_by_second(cycles)[1]) for cycles in runs.cycles)


def _trends(runs: Runs) -> list[float]:
    """By how many ms the straight line through the latencies of each run rises from beginning to end."""
    return [least_squares(*_by_second(cycles)).slope * SECONDS for cycles in runs.cycles]


def _rising() -> list[bool]:
    """Which of the streams tend up over the 800 s.

    The paper shows one random stream, under which the default scheduler's latency rises. A plan that never changes
    follows its rate, and a walk falls as often as it rises: what can be judged is a stream that rises.
    """
    return [least_squares(stream.times, stream.rates).slope > 0 for stream in map(walk, STREAMS)]


def _latency(runs: Runs) -> float:
    """The median over all streams of the mean latency."""
    return median(result.processing_latency_ms.mean or 0.0 for result in runs.results)


def latency_figure(number: int, name: str, paper: float, paper_storm: float) -> Item:
    """The latency of a job under both schedulers, whose means the paper prints."""
    ahead, storm = latencies(name, "dp_stream"), latencies(name, "storm_default")
    behind = latencies(name, "dp_stream", forecaster="last")
    later = latencies(name, "dp_stream", omega_ms=LATER_OMEGA)
    own, default, unpredicted = map(_latency, (ahead, storm, behind))
    lower, lower_later = 1 - own / default, 1 - _latency(later) / default
    falls, trends = _trends(ahead), _trends(storm)
    rises = [trend for trend, up in zip(trends, _rising(), strict=True) if up]
    others = [trend for trend, up in zip(trends, _rising(), strict=True) if not up]
    return Item.of(
        title=f"Dp-Stream, Fig. {number}",
        setting=f"{name}, 800 s of a bounded random walk between 1000 and 3000 tuples/s seeded 0 to 7, medians; "
        f"storm_default against dp_stream (neural forecaster, omega {OMEGA:g} and lambda 0.5 ms), a window and a "
        "decision every second",
        rows=(
            Row("Dp-Stream, mean latency", paper, own, "ms"),
            Row("Storm, mean latency", paper_storm, default, "ms", calibrated=True),
            Row("Dp-Stream's part of Storm's", paper / paper_storm, own / default),
            Row("Dp-Stream without its prediction, mean latency", None, unpredicted, "ms"),
            Row(f"Dp-Stream with omega {LATER_OMEGA:g} ms, mean latency", None, _latency(later), "ms"),
            Row("Dp-Stream, mean instances", None, ahead.mean(lambda result: result.mean_parallelism), "instances"),
            Row("the same without its prediction", None, behind.mean(lambda r: r.mean_parallelism), "instances"),
            Row("Storm, mean instances", None, storm.mean(lambda result: result.mean_parallelism), "instances"),
            Row("Dp-Stream, changes", None, ahead.mean(lambda result: float(result.rescales))),
            Row("the same without its prediction", None, behind.mean(lambda result: float(result.rescales))),
        ),
        claims={
            f"the default scheduler's mean latency is {paper_storm} ms": calibrated(
                agrees(default, paper_storm, LATENCY, ".2f"), SERVICE
            ),
            f"Dp-Stream's is {paper} ms": agrees(own, paper, LATENCY, ".2f"),
            f"{1 - paper / paper_storm:.1%} lower": unless(
                agrees(lower, 1 - paper / paper_storm, CHANGE, ".1%"),
                ours(
                    f"omega is not printed, and {OMEGA:g} ms is our choice: it decides how busy an operator must be "
                    f"before it gets an instance more. With {LATER_OMEGA:g} ms it is {lower_later:.1%}, so theirs lies "
                    "between"
                ),
            ),
            "prediction lowers it: with the last rate for the next it is higher": (
                own < unpredicted,
                f"{own:.3f} against {unpredicted:.3f} ms, with "
                f"{ahead.mean(lambda r: r.mean_parallelism) / behind.mean(lambda r: r.mean_parallelism) - 1:+.1%} "
                "instances",
            ),
            "its latency has only a small fluctuation, less than the default scheduler's": (
                _fluctuation(ahead) < _fluctuation(storm),
                f"standard deviation {_fluctuation(ahead):.2f} against {_fluctuation(storm):.2f} ms",
            ),
            f"over the 800 s its latency tends down (in each of {len(falls)} streams)": calibrated(
                (max(falls) < 0, f"by {_listed(falls)} ms from end to end"),
                "that it begins with one instance of each, too few for most rates, so that the first seconds are slow",
            ),
            "and the default scheduler's tends up": unless(
                (min(trends) > 0, f"by {_listed(rises)} ms where the rate rises, {_listed(others)} ms where it falls"),
                ours(
                    "a plan that never changes follows its rate, and a walk falls as often as it rises; the paper "
                    "shows one"
                ),
            ),
        },
        charts=(
            Chart(
                f"Fig. {number}",
                "s",
                "ms",
                (
                    Series("Dp-Stream", *_by_second(ahead.cycles[0])),
                    Series("Storm", *_by_second(storm.cycles[0])),
                ),
            ),
        ),
    )


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:+.1f}" for value in values)
