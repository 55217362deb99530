"""Table X, Fig. 10 and Fig. 11 of PSPS: PSPS beside DABS-Storm, which restarts at each change."""

from __future__ import annotations

from statistics import fmean

from penstock.papers.psps.runs import (
    DABS_INTERVAL,
    PSPS,
    Metrics,
    dabs,
    input_rate,
    metrics,
    psps,
    replicas,
    rows,
    throughput,
)
from penstock.report.bands import CHANGE
from penstock.report.item import Chart, Item, Row
from penstock.report.judging import agrees, theirs, unless

DABS = Metrics(0.3962, 0.2849, 0.8283, 1391.28)
RESTARTS = (0.0, 2.0, 10.0)
SETTING = (
    "twitter, three surges in 1100 s: psps every 30 s with its own grouping, dabs every 10 s over a window of 60 s "
    "with shuffle; dabs restarts for 4 s, chosen, and loses its queues; nothing is random"
)


def table_10() -> Item:
    """DABS-Storm, which loses its queues with each change."""
    own, other = metrics(psps()), metrics(dabs(), DABS_INTERVAL)
    others = {seconds: metrics(dabs(seconds), DABS_INTERVAL) for seconds in RESTARTS}
    domino = theirs(
        "the rule of its authors' public code passes an impact on only as far as present instances can process it, so "
        "in a surge the third and fourth operator grow a minute after the first two; what waits there is lost with "
        "the next change, and asks for no replicas. After restarts of 0, 2 and 10 s it processes "
        f"{_of(others, 'processed')} and saves {_of(others, 'saved')}; PSPS prints neither its settings nor the "
        "length of a restart"
    )
    return Item.of(
        title="PSPS, Table X",
        setting=f"{SETTING}; other lengths show what that decides",
        rows=(
            *rows("PSPS", PSPS, own, calibrated=("saved",)),
            *rows("DABS", DABS, other),
            *(row for t, found in others.items() for row in rows(f"DABS, restart of {t:g} s", DABS, found)),
            Row("saved resources, PSPS over DABS", 0.5617 / 0.3962, own.saved / other.saved),
        ),
        claims={
            "DABS processes fewer events than PSPS, however long its restarts": (
                max(each.processed for each in (other, *others.values())) < own.processed,
                f"{other.processed:.4f} and {_of(others, 'processed')} against {own.processed:.4f}",
            ),
            "it processes 17.06 % fewer": unless(
                agrees(1 - other.processed / own.processed, 0.1706, CHANGE, ".2%"), domino
            ),
            "PSPS degrades less, by 35.73 %": unless(
                agrees(1 - own.degradation / other.degradation, 0.3573, CHANGE, ".2%"), domino
            ),
            "DABS has a lower latency, as what waits is lost": (
                other.latency_ms < own.latency_ms,
                f"{other.latency_ms:,.0f} against {own.latency_ms:,.0f} ms",
            ),
            "it is 33.71 % lower": unless(agrees(1 - other.latency_ms / own.latency_ms, 0.3371, CHANGE, ".2%"), domino),
            "PSPS saves 41.77 % more resources than DABS": unless(
                agrees(own.saved / other.saved - 1, 0.4177, CHANGE, ".2%"), domino
            ),
        },
    )


def _of(found: dict[float, Metrics], metric: str) -> str:
    return ", ".join(f"{getattr(each, metric):.4f}" for each in found.values())


def fig_10() -> Item:
    """Active replicas of PSPS and DABS-Storm."""
    own, other = replicas("PSPS", psps()), replicas("DABS", dabs())
    changes = {"PSPS": psps().results[0].rescales, "DABS": dabs().results[0].rescales}
    return Item.of(
        title="PSPS, Fig. 10",
        setting=SETTING,
        rows=tuple(Row(f"changes of {name}", None, count) for name, count in changes.items()),
        claims={
            "both follow the input: several times as many replicas in a surge as between": (
                all(max(series.y) > 4 * min(series.y) for series in (own, other)),
                f"PSPS {min(own.y):.0f} to {max(own.y):.0f}, DABS {min(other.y):.0f} to {max(other.y):.0f}",
            ),
        },
        charts=(Chart("Fig. 10", "s", "active replicas", (own, other)),),
    )


def fig_11() -> Item:
    """Throughput of PSPS and DABS-Storm."""
    offered, own = input_rate(psps()), throughput("PSPS", psps())
    other = throughput("DABS", dabs(), DABS_INTERVAL)
    missing = {"PSPS": 1 - metrics(psps()).processed, "DABS": 1 - metrics(dabs()).processed}
    below = fmean(b < 0.9 * a for a, b in zip(own.y, other.y, strict=True))
    return Item.of(
        title="PSPS, Fig. 11",
        setting=SETTING,
        rows=(Row("DABS below nine tenths of PSPS", None, below, "of all intervals"),),
        claims={
            "each restart shows in DABS's throughput: over all it stays behind PSPS's": (
                missing["DABS"] > missing["PSPS"],
                f"{missing['DABS']:.2%} of the input missing against {missing['PSPS']:.2%}",
            ),
        },
        charts=(Chart("Fig. 11", "s", "events/s", (offered, own, other)),),
    )
