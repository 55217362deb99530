from __future__ import annotations

from pathlib import Path

import pandas as pd

from penstock.papers.autrascale.spark.bids import EPOCH, Bids, write

BIDS = Bids(disorder_seconds=3.0, late_share=0.05, late_seconds=20.0, seed=4)


def seconds(bids: pd.DataFrame) -> pd.Series:
    return (bids["time"] - EPOCH).dt.total_seconds()


def test_a_file_of_bids_is_the_same_whenever_and_wherever_it_is_made() -> None:
    pd.testing.assert_frame_equal(BIDS.file(30), Bids(late_share=0.05, late_seconds=20.0, seed=4).file(30))
    assert not BIDS.file(30).equals(BIDS.file(31))


def test_late_bids_lie_behind_every_watermark_and_the_others_before_it() -> None:
    late, on_time = 0, 0
    newest = float("-inf")
    for number in range(60):
        bids = BIDS.file(number)
        watermark = newest - BIDS.disorder_seconds
        assert (seconds(bids[~bids["late"]]) >= watermark).all()
        # By the watermark before last, as Spark drops; and the last window that a bid is in ends ten seconds later.
        assert (seconds(bids[bids["late"]]) + 10.0 < watermark - BIDS.file_seconds).all()
        newest = max(newest, seconds(bids).max())
        late, on_time = late + bids["late"].sum(), on_time + (~bids["late"]).sum()
    assert 0.005 < late / on_time < 0.06


def test_files_are_whole_and_as_old_as_their_number(tmp_path: Path) -> None:
    for number in (1, 0):
        write(BIDS.file(number), tmp_path, number)
    by_age = sorted(tmp_path.iterdir(), key=lambda path: path.stat().st_mtime)
    assert [path.name for path in by_age] == ["bids-000000.parquet", "bids-000001.parquet"]
    assert len(pd.read_parquet(by_age[0])) == BIDS.rate * BIDS.file_seconds
