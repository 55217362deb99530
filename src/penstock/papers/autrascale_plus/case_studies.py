"""Fig. 4 and 5 of AuTraScale+: the case studies of AuTraScale, with both latencies."""

from __future__ import annotations

from penstock.papers.autrascale.case_studies import (
    CHANNELS,
    GROWING,
    RISING,
    SERVICE,
    growing,
    growing_bars,
    growing_rows,
    rising,
)
from penstock.papers.traces import latency_of, mean_ms
from penstock.report.item import Chart, Item, Row, Series
from penstock.report.judging import calibrated


def fig_4() -> Item:
    """The rising rate of the first paper, with both latencies."""
    samples = rising()
    minutes = tuple(sample.end / 60.0 for sample in samples)
    processing = tuple(map(latency_of, samples))
    event = tuple(mean_ms(sample.event_latency_ms) for sample in samples)
    lag = tuple(float(sample.backlog or 0.0) for sample in samples)
    calm = [n for n, sample in enumerate(samples) if sample.offered_rate < 240e3]
    throughput = samples[-1].throughput or 0.0
    lines = (Series("processing", minutes, processing), Series("event", minutes, event))
    return Item.of(
        title="AuTraScale+, Fig. 4",
        setting=RISING,
        rows=(Row("throughput at 300k records/s", 250e3, throughput, "records/s", calibrated=True),),
        claims={
            "up to 200k records/s nothing waits and both latencies stay flat": calibrated(
                (
                    all(lag[n] == 0 for n in calm) and max(event[n] for n in calm[1:]) < 200.0,
                    f"event latency up to {max(event[n] for n in calm[1:]):.0f} ms",
                ),
                SERVICE,
            ),
            "beyond what the plan can do, lag and both latencies grow until the end": (
                lag[-1] > lag[-5] > 0 and event[-1] > event[-5] and processing[-1] > processing[5],
                f"lag {lag[-1]:,.0f}, event latency {event[-1] / 1e3:.0f} s, processing {processing[-1]:.0f} ms",
            ),
        },
        charts=(Chart("Fig. 4 (b)", "min", "ms", lines),),
    )


def fig_5() -> Item:
    """The growing parallelism of the first paper, with both latencies."""
    rates = {p: sample.throughput or 0.0 for p, sample in growing().items()}
    processing = {p: latency_of(sample) for p, sample in growing().items()}
    event = {p: mean_ms(sample.event_latency_ms) for p, sample in growing().items()}
    lag = {p: float(sample.backlog or 0.0) for p, sample in growing().items()}
    # First in, first out: what leaves now came in before all that waits.
    ratios = [event[p] / 1e3 / (lag[p] / growing()[p].offered_rate) for p in (1, 2, 3)]
    return Item.of(
        title="AuTraScale+, Fig. 5",
        setting=GROWING,
        rows=growing_rows("processing latency"),
        claims={
            "throughput and latency are not linear in parallelism": calibrated(
                (
                    rates[2] < 1.8 * rates[1] and rates[3] < 1.2 * rates[2],
                    f"{rates[2] / rates[1]:.2f} and {rates[3] / rates[1]:.2f} times at 2 and 3",
                ),
                SERVICE,
            ),
            "while the job falls behind, event latency is in proportion to the lag (within 10 %)": (
                max(ratios) / min(ratios) < 1.1,
                f"event latency is {min(ratios):.2f} to {max(ratios):.2f} of lag / input rate",
            ),
            "once it keeps up, event and processing latency are about equal (1 s of batching apart)": (
                all(event[p] - processing[p] < 1000.0 for p in (4, 5, 6)),
                ", ".join(f"{event[p]:.0f} and {processing[p]:.0f} ms at {p}" for p in (4, 5, 6)),
            ),
            "more parallelism is not always better": calibrated(
                (processing[5] < processing[6], f"{processing[5]:.0f} ms at 5, {processing[6]:.0f} ms at 6"), CHANNELS
            ),
        },
        charts=(growing_bars("Fig. 5 (b)", "processing"),),
    )
