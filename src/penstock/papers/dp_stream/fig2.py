"""Fig. 2 and 3 of Dp-Stream: what scheduling ahead does to the latency of WordCount and of Top-N."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from statistics import fmean, pstdev

from penstock.model import Cycle
from penstock.papers.catalogue import workload
from penstock.papers.dp_stream.table3 import STREAMS, WINDOW
from penstock.papers.dp_stream.workloads import SECONDS, walk
from penstock.papers.runs import Runs
from penstock.papers.traces import latency_of, over_traces, samples_of
from penstock.performance.regression import least_squares
from penstock.report.item import Chart, Item, Row, Series

MORE_STREAMS = tuple(range(8))  # for trends: three walks may rise or fall by chance


@cache
def latencies(name: str, policy: str, forecaster: str | None = None, streams: Sequence[int] = STREAMS) -> Runs:
    options = None if forecaster is None else {"forecaster": forecaster}
    return over_traces(workload(name), map(walk, streams), policy, options, interval=f"{WINDOW:g} s")


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
    return [least_squares(stream.times, stream.rates).slope > 0 for stream in map(walk, MORE_STREAMS)]


def latency_figure(number: int, name: str, paper: float, paper_storm: float) -> Item:
    """The latency of a job under both schedulers, whose means the paper prints."""
    ahead, storm = latencies(name, "dp_stream"), latencies(name, "storm_default")
    behind = latencies(name, "dp_stream", "last")
    ours, theirs = ahead.latency_ms, storm.latency_ms
    falls = _trends(latencies(name, "dp_stream", streams=MORE_STREAMS))
    trends = _trends(latencies(name, "storm_default", streams=MORE_STREAMS))
    rises = [trend for trend, up in zip(trends, _rising(), strict=True) if up]
    others = [trend for trend, up in zip(trends, _rising(), strict=True) if not up]
    return Item.of(
        title=f"Dp-Stream, Fig. {number}",
        setting=f"{name}, 800 s of a bounded random walk between 1000 and 3000 tuples/s seeded 0, 1, 2 (trends: 0 to "
        "7); storm_default against dp_stream (neural forecaster, omega 0.8 and lambda 0.5 ms), a window and a decision "
        "every second",
        rows=(
            Row("Dp-Stream, mean latency", paper, ours, "ms"),
            Row("Storm, mean latency", paper_storm, theirs, "ms"),
            Row("Dp-Stream's part of Storm's", paper / paper_storm, ours / theirs),
            Row("Dp-Stream with the last rate for a prediction", None, behind.latency_ms, "ms"),
            Row("Dp-Stream, mean instances", None, ahead.mean(lambda result: result.mean_parallelism), "instances"),
            Row("Storm, mean instances", None, storm.mean(lambda result: result.mean_parallelism), "instances"),
        ),
        claims={
            "Dp-Stream's latency is much lower than the default scheduler's (at most two thirds)": (
                ours <= theirs * 2 / 3,
                f"{ours:.2f} against {theirs:.2f} ms: {ours / theirs:.2f}, the paper {paper / paper_storm:.2f}",
            ),
            "its latency fluctuates little (by less than half as much)": (
                _fluctuation(ahead) < _fluctuation(storm) / 2,
                f"standard deviation {_fluctuation(ahead):.2f} against {_fluctuation(storm):.2f} ms: omega lets bolts "
                "fill to 80 %, and below that latency follows the rate",
            ),
            f"over the 800 s its latency tends down (in each of {len(falls)} streams)": (
                max(falls) < 0,
                f"by {_listed(falls)} ms from end to end",
            ),
            f"and the default scheduler's tends up where the rate does (in each of {len(rises)} such streams)": (
                min(rises) > 0,
                f"by {_listed(rises)} ms; under the {len(others)} streams that fall by {_listed(others)} ms, while "
                "Dp-Stream's falls under either; the paper shows one stream",
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
