"""Table XI of PSPS: tweets that are split by their kind."""

from __future__ import annotations

from penstock.papers.psps.runs import TIMEOUT, Metrics, metrics, psps, rows, storm
from penstock.report.item import Item, near

COMPLEX_PSPS, COMPLEX_STORM = Metrics(0.745, 0.0911, 0.9970, 219.13), Metrics(0.0, 0.0, 1.0, 31.99)


def table_11() -> Item:
    """Eight operators, of which r_over holds five replicas each."""
    own, five = metrics(psps("twitter_complex")), metrics(storm(5, "twitter_complex", TIMEOUT))
    return Item.of(
        title="PSPS, Table XI",
        setting="twitter_complex: 8 operators, r_over 40, twitter's stream; psps every 30 s; static with 5 replicas "
        "of each operator; time-out 30 s; nothing is random",
        rows=(*rows("PSPS", COMPLEX_PSPS, own), *rows("r = 5", COMPLEX_STORM, five)),
        claims={
            "PSPS needs 74.5 % fewer active replicas than five of each (within 5 points)": near(
                own.saved, 0.745, 0.05, ".2%"
            ),
            "and processes nearly all events (0.9970, within 0.005)": near(own.processed, 0.997, 0.005),
            "at some times the latency of five replicas (theirs: 6.8 times; 3 to 12 times)": (
                3.0 < own.latency_ms / five.latency_ms < 12.0,
                f"{own.latency_ms / five.latency_ms:.1f} times",
            ),
            "with a throughput degradation of less than 0.1": (own.degradation < 0.1, f"{own.degradation:.4f}"),
            "fewer replicas mean less CPU: 8.41 % against 14.66 %": (
                None,
                "the simulator counts work and replicas, not what an idle thread costs on their machines",
            ),
        },
    )
