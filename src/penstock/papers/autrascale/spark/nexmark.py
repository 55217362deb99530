"""Nexmark's Query 5 (sliding window) and Query 11 (session window) as Spark operators, for streams and for tables.

Both take bids with event time. On a stream the watermark waits `DISORDER` for bids out of order and drops later ones;
a window is given out once, when the watermark has passed it.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

DISORDER = "3 seconds"
WINDOW, HOP = "10 seconds", "2 seconds"
SESSION_GAP = "5 seconds"


def hot_auctions(bids: DataFrame) -> DataFrame:
    """Query 5: in each window the auction with the most bids; of several, that with the greatest number."""
    counted = (
        bids.withWatermark("time", DISORDER)
        .groupBy(F.window("time", WINDOW, HOP).alias("period"), "auction")
        .agg(F.count("*").alias("bids"))
    )
    return (
        # A second window of one hop over the first one's time keeps the event time for the second aggregation.
        counted.groupBy(F.window(F.window_time("period"), HOP).alias("hop"))
        .agg(F.max(F.struct("bids", "auction")).alias("hottest"))
        .select(F.col("hop.end").alias("until"), "hottest.auction", "hottest.bids")
    )


def bidder_sessions(bids: DataFrame) -> DataFrame:
    """Query 11: how many bids each bidder made in each session of activity."""
    return (
        bids.withWatermark("time", DISORDER)
        .groupBy(F.session_window("time", SESSION_GAP).alias("session"), "bidder")
        .agg(F.count("*").alias("bids"))
        .select("bidder", F.col("session.start").alias("since"), F.col("session.end").alias("until"), "bids")
    )


QUERIES = {"nexmark_q5": hot_auctions, "nexmark_q11": bidder_sessions}
