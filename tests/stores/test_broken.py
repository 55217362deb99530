"""A store beside a checkpoint that cannot be used is put aside, and one that can is left alone."""

import sqlite3
from pathlib import Path

import pytest

from loop_fakes import a_loop
from penstock.stores.broken import put_aside_if_broken, usable_store
from penstock.stores.sql import SqlStore


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "penstock.db"
    store = SqlStore(f"sqlite:///{made}")
    a_loop(store=store).run_once()
    store.close()
    return made


def recorded(file: Path) -> int:
    store = SqlStore(f"sqlite:///{file}")
    found = len(store.recent(10))
    store.close()
    return found


def test_one_that_can_be_used_is_left_alone(file: Path) -> None:
    assert put_aside_if_broken(file) is None
    assert recorded(file) == 1


def test_none_is_none(tmp_path: Path) -> None:
    assert put_aside_if_broken(tmp_path / "penstock.db") is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"not a database at all, but a text", b"SQLite format 3\x00" + bytes(84)])
def test_a_foreign_file_is_put_aside_and_kept(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    aside = put_aside_if_broken(file)
    assert aside is not None
    assert aside.read_bytes() == content
    assert recorded(file) == 0
    file.write_bytes(content)
    assert put_aside_if_broken(file) not in (None, aside)  # the one before is kept too


def test_one_of_a_later_penstock_is_put_aside(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE penstock_schema SET version = 99")
    connection.close()
    assert put_aside_if_broken(file) is not None
    assert "has tables of version 99" in caplog.text
    assert "it is kept as penstock.db.broken-1, and a new one is begun" in caplog.text


def test_one_that_is_cut_off_is_put_aside(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:5000])
    assert put_aside_if_broken(file) is not None
    assert recorded(file) == 0


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("/proc/penstock.db", "unable to open database file"),  # where nobody can make a file
        ("/proc/self/status", "/proc/self/status"),  # one that is foreign, and that nobody can put aside
    ],
)
def test_where_there_can_be_no_store_the_history_is_kept_in_memory(
    place: str, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert usable_store(Path(place)) is None
    assert f"the history is kept in memory, as there can be no store at {place}" in caplog.text
    assert why in caplog.text


def test_a_store_that_can_be_used_is_used(file: Path, tmp_path: Path) -> None:
    assert usable_store(file) == f"sqlite:///{file}"
    assert recorded(file) == 1
    assert usable_store(tmp_path / "new.db") == f"sqlite:///{tmp_path / 'new.db'}"
