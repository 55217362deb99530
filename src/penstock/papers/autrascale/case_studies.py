"""Fig. 1 and 2 of AuTraScale: the case studies that open both papers, a rising rate and a growing parallelism."""

from __future__ import annotations

from functools import cache

from penstock.load.curves import constant
from penstock.model import Plan, Sample
from penstock.papers.catalogue import workload
from penstock.papers.runs import run, under
from penstock.papers.traces import latency_of
from penstock.report.bands import THROUGHPUT
from penstock.report.item import Chart, Item, Row, Series, bar_chart
from penstock.report.judging import agrees, calibrated, ours, unless

RISING = "wordcount_case_study under static, all operators at 2; 100k records/s, 50k more every 10 min; seed 0"
GROWING = "wordcount_case_study under static at 300k records/s, all operators at p; the last of 15 min; seed 0"
PAPER_THROUGHPUT = {1: 150e3, 2: 250e3, 3: 275e3, 4: 300e3, 5: 300e3, 6: 300e3}
PAPER_MS = {5: 100.0, 6: 125.0}
SERVICE = "service times, coordination and cores of wordcount_case_study, from Fig. 1 and 2"
CHANNELS = "hops and channels of wordcount_case_study, from the latencies at 5 and 6"


@cache
def rising() -> tuple[Sample, ...]:
    """Parallelism 2 throughout, 100k records/s and 50k more every ten minutes: a window for each minute."""
    (cycles,) = run(workload("wordcount_case_study"), "static", seeds=(0,)).cycles
    return tuple(cycle.samples[-1] for cycle in cycles)


@cache
def starting() -> Series:
    """Latency in the first five minutes of the same run, every ten seconds."""
    first = workload("wordcount_case_study")
    (cycles,) = run(under(first, trace=first.trace.first(300.0)), "static", seeds=(0,), interval="10 s").cycles
    samples = [cycle.samples[-1] for cycle in cycles]
    return Series("latency", tuple(sample.end for sample in samples), tuple(map(latency_of, samples)))


@cache
def growing() -> dict[int, Sample]:
    """300k records/s with all operators at 1 to 6: the last minute of each."""
    case = workload("wordcount_case_study")
    found = {}
    for p in range(1, 7):
        plan = Plan(dict.fromkeys(case.job.topology.names, p))
        (cycles,) = run(under(case, trace=constant(300e3, 900.0), start=plan), "static", seeds=(0,)).cycles
        found[p] = cycles[-1].samples[-1]
    return found


def growing_rows(latency: str) -> list[Row]:
    """Throughput at each parallelism, and where the papers print it what they call `latency`."""
    found = growing()
    rates = (
        Row(f"throughput, p = {p}", PAPER_THROUGHPUT[p], s.throughput or 0.0, "records/s", calibrated=True)
        for p, s in found.items()
    )
    latencies = (
        Row(f"{latency}, p = {p}", paper, latency_of(found[p]), "ms", calibrated=True) for p, paper in PAPER_MS.items()
    )
    return [*rates, *latencies]


def growing_bars(title: str, latency: str) -> Chart:
    return bar_chart(title, "parallelism", "ms", list(growing()), {latency: map(latency_of, growing().values())})


def fig_1() -> Item:
    """Parallelism 2 throughout, 100k records/s and 50k more every ten minutes."""
    samples = rising()
    minutes = tuple(sample.end / 60.0 for sample in samples)
    throughput = tuple(sample.throughput or 0.0 for sample in samples)
    offered = tuple(sample.offered_rate for sample in samples)
    lag = tuple(float(sample.backlog or 0.0) for sample in samples)
    latency = tuple(map(latency_of, samples))
    series = (Series("input", minutes, offered), Series("throughput", minutes, throughput))
    at_300k = [t for t, rate in zip(throughput, offered, strict=True) if rate > 290e3]
    start = starting()
    meets = all(t > 0.99 * rate for t, rate in zip(throughput, offered, strict=True) if rate < 240e3)
    return Item.of(
        title="AuTraScale, Fig. 1",
        setting=RISING,
        rows=(Row("throughput at 300k records/s", 250e3, at_300k[-1], "records/s", calibrated=True),),
        claims={
            "up to 200k records/s throughput follows the input": calibrated(
                (meets, "within 1 % in every minute"), SERVICE
            ),
            "beyond, it stays near 250k records/s": calibrated(agrees(at_300k[-1], 250e3, THROUGHPUT, ",.0f"), SERVICE),
            "latency peaks when the job starts, and then flattens out (b)": unless(
                (
                    max(start.y[:3]) > 1.5 * start.y[-1],
                    f"{max(start.y[:3]):.0f} ms in the first half minute, {start.y[-1]:.0f} ms after five minutes",
                ),
                ours(
                    "the simulator knows no class loading, compilation or first allocation of buffers: a job is as "
                    "fast in its first second as later"
                ),
            ),
            "while lag and latency grow": (
                lag[-1] > lag[-10] > 0 and latency[-1] > latency[5],
                f"lag {lag[-1]:,.0f}, latency {latency[5]:.0f} to {latency[-1]:.0f} ms",
            ),
        },
        charts=(
            Chart("Fig. 1 (a)", "min", "records/s", series),
            Chart("Fig. 1 (b)", "min", "ms", (Series("latency", minutes, latency),)),
            Chart("Fig. 1 (b), the first five minutes", "s", "ms", (start,)),
        ),
    )


def fig_2() -> Item:
    """300k records/s with all operators at 1 to 6."""
    rates = {p: sample.throughput or 0.0 for p, sample in growing().items()}
    latencies = {p: latency_of(sample) for p, sample in growing().items()}
    return Item.of(
        title="AuTraScale, Fig. 2",
        setting=GROWING,
        rows=growing_rows("latency"),
        claims={
            "throughput does not grow in proportion to parallelism": calibrated(
                (
                    rates[2] < 1.8 * rates[1] and rates[3] < 1.2 * rates[2],
                    f"{rates[2] / rates[1]:.2f} times at 2, {rates[3] / rates[1]:.2f} times at 3",
                ),
                SERVICE,
            ),
            "from 4 on the job keeps up": calibrated(
                (min(rates[p] for p in (4, 5, 6)) > 299e3, "within 0.3 %"), SERVICE
            ),
            "more parallelism lowers latency at first and raises it again from 5 to 6": calibrated(
                (
                    latencies[3] > latencies[5] < latencies[6],
                    f"{latencies[3]:.0f}, {latencies[5]:.0f}, {latencies[6]:.0f} ms at 3, 5, 6",
                ),
                CHANNELS,
            ),
        },
        charts=(growing_bars("Fig. 2 (b)", "latency"),),
    )
