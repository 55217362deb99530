"""Table XII and Fig. 14 of PSPS: DNS queries."""

from __future__ import annotations

from penstock.papers.psps.runs import TIMEOUT, Metrics, input_rate, metrics, psps, replicas, rows, storm, throughput
from penstock.report.item import Chart, Item, lower, near

DNS_PSPS, DNS_STORM = Metrics(0.6062, 0.3734, 0.9884, 335.95), Metrics(0.6666, 0.4521, 0.9759, 476.12)
DNS_SETTING = "dns: 4 operators, r_over 12, log-normal around 28 events/s from minute to minute, 1200 s"


def table_12() -> Item:
    """A restless stream that one replica of each operator nearly carries."""
    own, one = metrics(psps("dns")), metrics(storm(1, "dns", TIMEOUT))
    return Item.of(
        title="PSPS, Table XII",
        setting=f"{DNS_SETTING}; psps every 30 s, static with one replica of each operator; time-out 30 s; its trace "
        "comes from a fixed seed",
        rows=(*rows("r = 1", DNS_STORM, one), *rows("PSPS", DNS_PSPS, own)),
        claims={
            "PSPS leaves at most 1.16 % of the events unprocessed, fewer than one replica each": (
                own.processed >= 0.9884 and own.processed > one.processed,
                f"{1 - own.processed:.2%} against {1 - one.processed:.2%}",
            ),
            "it lowers latency (theirs: by 29.44 %)": lower(own.latency_ms, one.latency_ms),
            "and throughput degradation (theirs: by 17.40 %)": lower(own.degradation, one.degradation),
            "and saves 0.6062 of r_over (within 0.05)": near(own.saved, 0.6062, 0.05),
            "at a latency of 336 ms and a degradation of 0.3734 (within a factor of 2)": (
                0.5 < own.latency_ms / DNS_PSPS.latency_ms < 2.0 and 0.5 < own.degradation / DNS_PSPS.degradation < 2.0,
                f"{own.latency_ms:,.0f} ms, {own.degradation:.4f}: steeper or quicker jumps of the input raise both; "
                "theirs with one replica, 2 % lost at a mean of 0.5 s, fits neither time-outs nor full queues",
            ),
        },
    )


def fig_14() -> Item:
    """Replicas, input and throughput of the DNS application."""
    runs = psps("dns")
    offered, own, awake = input_rate(runs), throughput("PSPS", runs), replicas("PSPS", runs)
    calm = [(came, left) for came, left in zip(offered.y, own.y, strict=True) if abs(left / came - 1) < 0.1]
    return Item.of(
        title="PSPS, Fig. 14",
        setting=f"{DNS_SETTING}; psps every 30 s, time-out 30 s",
        rows=(),
        claims={
            "throughput follows a very restless input (within 10 % in four of five intervals)": (
                len(calm) >= 0.8 * len(own.y) and max(offered.y) > 3 * min(offered.y),
                f"{len(calm)} of {len(own.y)} intervals; input {min(offered.y):.0f} to {max(offered.y):.0f} events/s",
            ),
            "replicas change with it": (
                max(awake.y) > min(awake.y),
                f"{min(awake.y):.0f} to {max(awake.y):.0f} replicas",
            ),
        },
        charts=(
            Chart("Fig. 14: throughput", "s", "events/s", (offered, own)),
            Chart("Fig. 14: replicas", "s", "active replicas", (awake,)),
        ),
    )
