"""A log is a file or a folder of parts; a folder of logs stands for all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.advise.log_files import BrokenLogError, EventLog, find_logs
from penstock.model import PenstockError


def rolled(folder: Path, *parts: str, status: str = "appstatus_app-1") -> Path:
    log = folder / "eventlog_v2_app-1"
    log.mkdir()
    for name in (*parts, status):
        (log / name).touch()
    return log


def test_parts_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    log = rolled(tmp_path, "events_10_app-1.zstd", "events_2_app-1.zstd", "events_1_app-1.zstd")
    assert [part.name.split("_")[1] for part in EventLog(log).parts] == ["1", "2", "10"]


def test_what_was_compacted_is_not_read_twice(tmp_path: Path) -> None:
    log = rolled(tmp_path, "events_1_a", "events_2_a", "events_2_a.compact", "events_3_a", "events_4_a")
    assert [part.name for part in EventLog(log).parts] == ["events_2_a.compact", "events_3_a", "events_4_a"]


def test_a_folder_stands_for_all_logs_in_it(tmp_path: Path) -> None:
    log = rolled(tmp_path, "events_1_app-1")
    for name in ("app-2.lz4", "app-3.inprogress", ".app-2.lz4.crc", "_SUCCESS"):
        (tmp_path / name).touch()
    (tmp_path / "other").mkdir()
    assert [found.path for found in find_logs([tmp_path])] == [
        tmp_path / "app-2.lz4",
        tmp_path / "app-3.inprogress",
        log,
    ]
    assert [found.path for found in find_logs([log, tmp_path / "app-2.lz4", log])] == [log, tmp_path / "app-2.lz4"]


def test_whether_an_application_runs_is_in_the_name(tmp_path: Path) -> None:
    assert EventLog(tmp_path / "app-1.zstd.inprogress").running
    assert not EventLog(tmp_path / "app-1.zstd").running
    assert EventLog(rolled(tmp_path, "events_1_a", status="appstatus_app-1.inprogress")).running


def test_what_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(PenstockError, match="there is no event log"):
        find_logs([tmp_path / "nothing"])
    with pytest.raises(PenstockError, match="has no event logs in it"):
        find_logs([tmp_path])
    with pytest.raises(BrokenLogError, match="must have files named events_"):
        _ = EventLog(rolled(tmp_path)).parts
