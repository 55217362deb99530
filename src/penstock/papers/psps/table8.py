"""Table VIII, Fig. 8 and Fig. 9 of PSPS: PSPS beside Storm with a fixed number of replicas."""

from __future__ import annotations

from itertools import pairwise

from penstock.papers.psps.runs import PSPS, Metrics, input_rate, metrics, psps, replicas, rows, storm, throughput
from penstock.report.bands import DURATION, SHARE
from penstock.report.item import Chart, Item, Row
from penstock.report.judging import agrees, calibrated, theirs, unless

OVER_PROVISIONED = 32
SURGES = (200.0, 500.0, 900.0)  # s
DRAINED = (350.0, 700.0)  # s, when four replicas have worked off the first and the second surge
SETTING = (
    "twitter, three surges in 1100 s: psps every 30 s, events grouped by Algorithm 1, time-out 30 s, queues of 100,000 "
    "events; static with r replicas of each operator and, as Storm, shuffle and no time-out; nothing is random"
)
STREAM = "the three surges of the stream, from one replica's third, eight that carry all and the drains of Fig. 9"
SERVICE = (
    "2 ms an event, from the 197 s of one replica with a full queue, and the way of 48 ms, from the 154 ms of eight"
)
CALIBRATED = {1: ("processed", "latency_ms"), 4: (), 8: ("degradation", "processed", "latency_ms")}
TABLE_8 = {
    1: Metrics(0.8750, 0.5153, 0.3319, 196962.95),
    4: Metrics(0.5, 0.8559, 0.9874, 269.75),
    8: Metrics(0.0, 0.0, 1.0, 153.51),
}


def table_8() -> Item:
    """One, four and eight replicas of each operator throughout."""
    own, fixed = metrics(psps()), {r: metrics(storm(r)) for r in TABLE_8}
    one, four, eight = fixed[1], fixed[4], fixed[8]
    return Item.of(
        title="PSPS, Table VIII",
        setting=SETTING,
        rows=(
            *rows("PSPS", PSPS, own, calibrated=("saved",)),
            *(row for r in TABLE_8 for row in rows(f"r = {r}", TABLE_8[r], fixed[r], calibrated=CALIBRATED[r])),
        ),
        claims={
            "one replica each is overloaded: a third is processed": calibrated(
                agrees(one.processed, TABLE_8[1].processed, SHARE), STREAM
            ),
            "at the highest latency of all": (
                one.latency_ms > max(own.latency_ms, four.latency_ms, eight.latency_ms),
                f"{one.latency_ms:,.0f} ms",
            ),
            "four process nearly as many events as PSPS": agrees(four.processed, own.processed, SHARE),
            "but less steadily: a higher throughput degradation than PSPS": (
                four.degradation > own.degradation,
                f"{four.degradation:.4f} against {own.degradation:.4f}",
            ),
            "and with more replicas: PSPS saves more (theirs: 0.5617 against 0.5)": calibrated(
                (own.saved > four.saved, f"{own.saved:.4f} against {four.saved:.4f}"), STREAM
            ),
            "four have a lower latency than PSPS (theirs: by 87.14 %)": unless(
                (four.latency_ms < own.latency_ms, f"{four.latency_ms:,.0f} against {own.latency_ms:,.0f} ms"),
                theirs(
                    "Fig. 9 shows four replicas working off a queue for 230 s, as ours do; by Little's law such a "
                    "queue cannot go with a mean of 270 ms, unless events wait for it outside of what was measured"
                ),
            ),
            "eight never queue: all processed, degradation 0, a lower latency than PSPS, nothing saved": calibrated(
                (
                    eight.processed > 0.9999
                    and eight.degradation < 0.005
                    and eight.saved == 0.0
                    and eight.latency_ms < own.latency_ms,
                    f"{eight.processed:.4f}, {eight.degradation:.4f}, {eight.latency_ms:.0f} ms",
                ),
                f"{STREAM}; {SERVICE}",
            ),
        },
    )


def fig_8() -> Item:
    """Active replicas over time."""
    own = replicas("PSPS", psps())
    fixed = tuple(replicas(f"r = {r}", storm(r)) for r in TABLE_8)
    calm = (0.0, *((a + b) / 2 for a, b in pairwise(SURGES)), own.x[-1])  # moments that part one surge from the next
    around = [[(t, k) for t, k in zip(own.x, own.y, strict=True) if a < t <= b] for a, b in pairwise(calm)]
    peaks = [max(part, key=lambda point: point[1]) for part in around]
    late = [t - surge for (t, _), surge in zip(peaks, SURGES, strict=True)]
    most = peaks[-1][1]
    return Item.of(
        title="PSPS, Fig. 8",
        setting=SETTING,
        rows=tuple(Row(f"most replicas around {s:g} s", None, k) for s, (_, k) in zip(SURGES, peaks, strict=True)),
        claims={
            "replicas follow the input: a peak within a minute after each surge": (
                all(0.0 <= behind <= 60.0 for behind in late),
                f"{', '.join(f'{behind:.0f}' for behind in late)} s after 200, 500 and 900 s",
            ),
            "around 900 s PSPS goes above r_over = 32 to work off its queues": (
                most > OVER_PROVISIONED,
                f"{most:.0f} replicas",
            ),
            "between surges it gives them back": (min(own.y) <= 4, f"down to {min(own.y):.0f} replicas"),
        },
        charts=(Chart("Fig. 8", "s", "active replicas", (own, *fixed)),),
    )


def fig_9() -> Item:
    """Throughput over time."""
    own, offered = throughput("PSPS", psps()), input_rate(psps())
    one, four, eight = (throughput(f"r = {r}", storm(r)) for r in TABLE_8)
    empty = [cycle.t for cycle in storm(4).cycles[0] if not any(o.queue for o in cycle.samples[-1].operators.values())]
    ends = [next(t for t in empty if t > surge) for surge in SURGES[:2]]
    busy = [
        rate
        for t, rate in zip(four.x, four.y, strict=True)
        if any(s < t < e for s, e in zip(SURGES[:2], ends, strict=True))
    ]
    flat = [rate for t, rate in zip(one.x, one.y, strict=True) if t > 120.0]
    more = [t for t, rate, came in zip(own.x, own.y, offered.y, strict=True) if rate > 1.1 * came]
    return Item.of(
        title="PSPS, Fig. 9",
        setting=SETTING,
        rows=tuple(
            Row(f"r = 4 has worked off surge {number}", paper, ours, "s", calibrated=True)
            for number, (paper, ours) in enumerate(zip(DRAINED, ends, strict=True), 1)
        ),
        claims={
            "one replica each does the same at any time": (
                max(flat) < 1.01 * min(flat),
                f"{min(flat):.0f} to {max(flat):.0f} events/s from 120 s on",
            ),
            "four are constant in a surge and until its queue is worked off, near 350 and 700 s": calibrated(
                (
                    all(DURATION.agrees(end, paper) for end, paper in zip(ends, DRAINED, strict=True))
                    and max(busy) < 1.01 * min(busy),
                    f"{min(busy):.0f} to {max(busy):.0f} events/s; queues are empty at {ends[0]:.0f} and "
                    f"{ends[1]:.0f} s",
                ),
                STREAM,
            ),
            "eight follow the input": calibrated(
                (
                    all(abs(rate / came - 1) < 0.01 for rate, came in zip(eight.y, offered.y, strict=True)),
                    "within 1 % in every interval",
                ),
                STREAM,
            ),
            "PSPS queues in each rise and does more than the input afterwards": (
                all(any(surge < t <= surge + 90.0 for t in more) for surge in SURGES),
                f"over 1.1 times the input at {', '.join(f'{t:.0f}' for t in more)} s",
            ),
        },
        charts=(Chart("Fig. 9", "s", "events/s", (offered, own, one, four, eight)),),
    )
