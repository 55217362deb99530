"""Files that others write: event logs, load curves, snapshots, databases. Read, or refused in one line."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzz import mutated, refused_in_one_line
from loop_fakes import Counts, a_loop
from made_up_log import MadeUpJob
from penstock.advise.history import read_history
from penstock.advise.log_files import BrokenLogError, EventLog
from penstock.dashboard import answers
from penstock.load.trace import Trace, read_trace
from penstock.model import PenstockError, ReasonCode, Slo
from penstock.stores.codec import to_json
from penstock.stores.history import History
from penstock.stores.snapshot import Snapshot, read_snapshot
from penstock.stores.sql import SqlStore

SNAPSHOT = {
    "operators": [
        {"name": "split", "parallelism": 1, "min": 1, "max": 40, "stateful": False},
        {"name": "count", "parallelism": 2, "min": 1, "max": 40, "stateful": True},
    ],
    "edges": [["split", "count"]],
    "slo": {"processing_latency_ms": 180, "event_latency_ms": 500, "drain_seconds": 360},
    "options": {"alpha": 0.8},
    "samples": [
        {
            "t": 0, "seconds": 10, "input_rate": 100, "throughput": 95, "backlog": 0, "processing_latency_ms": 120,
            "event_latency_ms": 150,
            "operators": {
                "split": {"parallelism": 1, "records_in": 1000, "records_out": 5000, "useful_seconds": 8.1, "queue": 0},
                "count": {"parallelism": 2, "records_in": 5000, "records_out": 5000, "records_from": {"split": 5000}},
            },
        }
    ],
}  # fmt: skip

LOG = [json.dumps(event) for event in MadeUpJob(seconds=40).events()]


def text_of(value: Any) -> str:
    return json.dumps(value).encode("utf-8", "replace").decode()


@settings(max_examples=100)
@given(snapshot=mutated(SNAPSHOT))
def test_a_snapshot_is_read_or_refused_by_the_name_of_its_field(snapshot: Any) -> None:
    with refused_in_one_line(PenstockError):
        assert isinstance(read_snapshot(text_of(snapshot)), Snapshot)


@settings(max_examples=60)
@given(text=st.text() | st.binary().map(lambda each: each.decode("latin-1")))
def test_a_text_that_is_no_snapshot_is_refused(text: str) -> None:
    with refused_in_one_line(PenstockError):
        read_snapshot(text)
        pytest.fail("it was read")


LINES = st.lists(
    st.tuples(
        st.sampled_from(["0", "5", "10", "-1", "", "nan", "inf", "1e400", "0x10", "x", "５", "1_0", '"']),
        st.sampled_from(["100", "0", "-3", "", "NaN", "Infinity", "1e300", "1e13", "1,2", "null", "\x00"]),
    ),
    max_size=6,
)


@settings(max_examples=100)
@given(lines=LINES, head=st.sampled_from(["t_seconds,rate", " t_seconds , rate ", "rate", "\ufefft_seconds,rate", ""]))
def test_a_load_curve_is_read_or_refused_by_its_line(lines: list[tuple[str, str]], head: str) -> None:
    _read_a_file("\n".join([head, *(",".join(line) for line in lines)]).encode(), _curve)


@given(content=st.binary(max_size=200))
def test_a_file_that_is_no_load_curve_is_refused(content: bytes) -> None:
    _read_a_file(content, _curve)


def _curve(path: Path) -> None:
    for fill_gaps in (False, True):
        with refused_in_one_line(PenstockError):
            assert isinstance(read_trace(path, fill_gaps=fill_gaps), Trace)


@settings(max_examples=60)
@given(data=st.data())
def test_an_event_log_is_read_or_refused_by_its_line(data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(LOG) - 1))
    wrong = data.draw(mutated(json.loads(LOG[place])))
    lines = [*LOG[:place], json.dumps(wrong, separators=(",", ":")), *LOG[place + 1 :]]
    _read_a_file("\n".join(lines).encode("utf-8", "replace"), _log)


@settings(max_examples=60)
@given(data=st.data())
def test_a_log_with_wrong_bytes_is_read_or_refused(data: st.DataObject) -> None:
    whole = bytearray("\n".join(LOG).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(whole) - 1))
        whole[at : at + 1] = data.draw(st.binary(max_size=4))
    _read_a_file(bytes(whole[: data.draw(st.integers(0, len(whole)))]), _log)


def _log(path: Path) -> None:
    with refused_in_one_line(BrokenLogError):
        read_history(EventLog(path), Slo(event_latency="30 s"))


def _read_a_file(content: bytes, read: Callable[[Path], None]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "given")
        path.write_bytes(content)
        read(path)


# Databases --------------------------------------------------------------------------------------------------------


def _recorded(path: Path) -> str:
    url = f"sqlite:///{path}"
    store = SqlStore(url)
    loop = a_loop(store=store)
    for _ in range(3):
        loop.run_once()
    store.close()
    return url


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "penstock.db"
    _recorded(path)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return path


def _used(path: Path) -> None:
    """A loop that is given this database goes on, with it or without; whoever reads it gets one line."""
    url = f"sqlite:///{path}"
    with refused_in_one_line(PenstockError), closing(SqlStore(url)) as store:
        loop = a_loop(store=store)
        loop.resume()
        # What it reads may say that the newest window is known already; then it waits for the next one.
        assert loop.run_once().decision.reason.code in (ReasonCode.SCALE_UP, ReasonCode.NO_NEW_WINDOW)
        for read in (lambda: store.recent(10), lambda: list(store.all()), lambda: store.state("wants")):
            with refused_in_one_line(PenstockError):
                read()
    with refused_in_one_line(PenstockError), closing(History(url)) as history:
        for job in [each["name"] for each in answers.jobs(history)["jobs"]]:
            answers.job(history, job)
            answers.decisions(history, job)
            answers.decision(history, job, 1)


@settings(max_examples=40)
@given(data=st.data())
def test_a_database_that_is_cut_off_or_changed_harms_no_loop(recorded: Path, data: st.DataObject) -> None:
    whole = bytearray(recorded.read_bytes())
    if data.draw(st.booleans()):
        del whole[data.draw(st.integers(0, len(whole))) :]
    else:
        at = data.draw(st.integers(0, len(whole) - 1))
        whole[at : at + 64] = data.draw(st.binary(min_size=1, max_size=64))
    _read_a_file(bytes(whole), _used)


@given(content=st.binary(min_size=1, max_size=5000))
@settings(max_examples=20)
def test_a_file_that_is_no_database_harms_no_loop(content: bytes) -> None:
    _read_a_file(content, _used)


@settings(max_examples=60)
@given(data=st.data())
def test_rows_of_another_version_harm_no_loop(recorded: Path, data: st.DataObject) -> None:
    table = data.draw(st.sampled_from(["penstock_cycles", "penstock_jobs"]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "penstock.db")
        path.write_bytes(recorded.read_bytes())
        with sqlite3.connect(path) as connection:
            (body,) = connection.execute(f"SELECT body FROM {table} LIMIT 1").fetchone()
            wrong = text_of(data.draw(mutated(json.loads(body))))
            connection.execute(f"UPDATE {table} SET body = ?", [wrong])
        connection.close()
        _used(path)


@settings(max_examples=40)
@given(state=mutated(json.loads(to_json({"times": [0.0, 10.0]}))))
def test_knowledge_of_another_version_is_left(recorded: Path, state: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "penstock.db")
        path.write_bytes(recorded.read_bytes())
        store = SqlStore(f"sqlite:///{path}")
        loop = a_loop(store=store, policy=Counts())
        loop.run_once()
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE penstock_states SET body = ?", [text_of(state)])
        connection.close()
        again = a_loop(store=store, policy=Counts())
        again.resume()
        again.run_once()
        store.close()
