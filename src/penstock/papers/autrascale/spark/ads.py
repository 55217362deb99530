"""What happened to advertisements, as JSON: events of the Yahoo benchmark, and of AUTOSCALE's advertising topology."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from penstock.papers.spark.draws import below, uniform, zipf
from penstock.spark.io.replayed import Ids

ADS, ADS_OF_A_CAMPAIGN, ADDRESSES = 1000, 10, 250
KINDS = ("view", "click", "purchase")
EVERY_MS = 5
"""Milliseconds of event time from one event to the next."""

SCHEMA = "ad string, kind string, ip string, at bigint"


def ad_events(ids: Ids, views: float = 1 / 3) -> Sequence[bytes]:
    """Events say which ad, what was done, from where and when. The share `views` of them are views; a few addresses
    are behind many events (Zipf), and all ads are equally frequent.

    >>> ad_events(np.arange(1))
    [b'{"ad": "ad814", "kind": "purchase", "ip": "10.0.0.30", "at": 0}']
    """
    seen = uniform(ids, 0)
    kinds = np.where(seen < views, 0, 1 + (seen > (1 + views) / 2))
    columns = below(ids, 1, ADS).tolist(), kinds.tolist(), zipf(ids, 2, ADDRESSES).tolist(), (EVERY_MS * ids).tolist()
    return [
        f'{{"ad": "ad{ad}", "kind": "{KINDS[kind]}", "ip": "10.0.0.{ip}", "at": {at}}}'.encode()
        for ad, kind, ip, at in zip(*columns, strict=True)
    ]


def deserialised(frame: DataFrame) -> DataFrame:
    fields = F.from_json(F.col("value").cast("string"), SCHEMA)
    return frame.select(fields.alias("event"), "stamp").select("event.*", "stamp")


def only_views(frame: DataFrame) -> DataFrame:
    return frame.where("kind = 'view'")


def campaign(known: int = ADS) -> Column:
    """The campaign of the column `ad`: those below number `known` have one, for others it is null."""
    table = ",".join(f"ad{ad}:campaign{ad // ADS_OF_A_CAMPAIGN}" for ad in range(known))
    return F.str_to_map(F.lit(table))[F.col("ad")]
