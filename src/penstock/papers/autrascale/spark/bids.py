"""Nexmark's stream of bids: a fixed function of its seed, with disorder and late records, as a folder of files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

SCHEMA = "auction BIGINT, bidder BIGINT, price BIGINT, time TIMESTAMP, late BOOLEAN"
EPOCH = pd.Timestamp("2026-01-01", tz="UTC")
NOBODY = -1
"""The auction and the bidder of bids that are only there to move event time on."""


@dataclass(frozen=True)
class Bids:
    """Bids in files; file `n` is about the seconds from n * file_seconds on.

    rate              bids per second of event time
    auctions, bidders how many there are; a few auctions are hot, as in Nexmark
    disorder_seconds  bids come up to so much out of order, and still count
    late_share        part of the bids that come far too late, after `late_seconds`: a watermark that waits for the
                      disorder has left them behind, whichever batch they are in
    active            bidders of one file are among so many neighbours, so that their sessions end
    """

    rate: int = 200
    file_seconds: float = 2.0
    auctions: int = 40
    bidders: int = 400
    active: int = 60
    disorder_seconds: float = 3.0
    late_share: float = 0.02
    late_seconds: float = 60.0
    seed: int = 0

    def file(self, number: int) -> pd.DataFrame:
        """The bids of one file.

        >>> Bids(rate=2, seed=1).file(3)[["auction", "bidder", "late"]].to_dict("list")["late"]
        [False, False, False, False]
        """
        random = np.random.default_rng([self.seed, number])
        count = round(self.rate * self.file_seconds)
        start = number * self.file_seconds
        seconds = start + random.uniform(0.0, self.file_seconds, count)
        # The last bid of each file is on time: how far the watermark is depends on the file alone.
        on_time = np.arange(count) == count - 1
        seconds = np.where(
            on_time, start + self.file_seconds, seconds - random.uniform(0, self.disorder_seconds, count)
        )
        late = (random.uniform(size=count) < self.late_share) & ~on_time & (start > 2 * self.late_seconds)
        hot = random.uniform(size=count) < 0.5
        return pd.DataFrame({
            "auction": np.where(hot, number // 8 % self.auctions, random.integers(0, self.auctions, count)),
            "bidder": (7 * number + random.integers(0, self.active, count)) % self.bidders,
            "price": random.integers(1, 10_000, count),
            "time": EPOCH + pd.to_timedelta(np.where(late, seconds - self.late_seconds, seconds), unit="s"),
            "late": late,
        })  # fmt: skip

    def closing(self, number: int) -> pd.DataFrame:
        """A file that carries event time far beyond the others, so that all their windows close."""
        time = EPOCH + pd.to_timedelta(self.file_seconds * number + 1e6, unit="s")
        return pd.DataFrame({"auction": [NOBODY], "bidder": [NOBODY], "price": [0], "time": [time], "late": [False]})


def write(bids: pd.DataFrame, folder: Path, number: int) -> None:
    """Put a file where a stream reads it: whole or not at all, and younger than the ones before it."""
    whole = folder / f"bids-{number:06}.parquet"
    unseen = folder / f".{whole.name}"
    bids.assign(time=bids["time"].astype("datetime64[us, UTC]")).to_parquet(unseen, index=False)
    os.utime(unseen, (1_600_000_000 + number, 1_600_000_000 + number))  # the source takes files by age
    unseen.rename(whole)
