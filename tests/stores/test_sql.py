"""What a database adds to the laws of a store: it outlives its process, and says what is wrong with it."""

import sqlite3
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from penstock.model import Cycle, Decision, Mode, PenstockError, Plan, ReasonCode
from penstock.stores import sql as module
from penstock.stores.sql import SqlStore

RECORDER = Path(__file__).with_name("recorder.py")


def cycle_at(t: float) -> Cycle:
    plan = Plan({"split": 1})
    return Cycle(t=t, mode=Mode.ACTIVE, before=plan, decision=Decision.hold(plan, ReasonCode.STEADY, "all is well"))


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'penstock.db'}"


def test_a_killed_process_loses_at_most_the_cycle_it_was_in(url: str) -> None:
    kept = 0
    for lines_until_the_kill in (1, 2, 7, 40):  # each process goes on where the one before it was killed
        with subprocess.Popen([sys.executable, str(RECORDER), url], stdout=subprocess.PIPE, text=True) as recorder:
            assert recorder.stdout is not None
            for _ in range(lines_until_the_kill):
                recorder.stdout.readline()
            recorder.kill()
            rest = recorder.stdout.read().splitlines()
        reported = kept + lines_until_the_kill + len(rest)
        store = SqlStore(url)
        numbers = [cycle.t for cycle in store.recent(10_000)]
        kept = len(numbers)
        assert numbers == list(range(1, kept + 1))
        assert reported <= kept <= reported + 1
        assert store.state("learner") == {"seen": kept}
        store.close()


def test_a_failed_write_leaves_neither_the_cycle_nor_the_state(url: str, tmp_path: Path) -> None:
    store = SqlStore(url)
    store.record(cycle_at(1), "learner", {"seen": 1})
    with sqlite3.connect(tmp_path / "penstock.db") as other:
        other.execute(
            "CREATE TRIGGER full_disk BEFORE UPDATE ON penstock_states BEGIN SELECT RAISE(ABORT, 'disk is full'); END"
        )
    other.close()
    with pytest.raises(PenstockError, match=r"^store sqlite:.*penstock\.db cannot be written: disk is full$"):
        store.record(cycle_at(2), "learner", {"seen": 2})
    assert [cycle.t for cycle in store.recent(10)] == [1]
    assert store.state("learner") == {"seen": 1}
    store.close()


def test_a_reopened_store_carries_on(url: str) -> None:
    first = SqlStore(url, "clicks")
    first.record(cycle_at(1), "learner", {"seen": 1})
    first.close()
    second = SqlStore(url, "clicks")
    second.record(cycle_at(2), "learner")
    assert [cycle.t for cycle in second.all()] == [1, 2]
    assert second.state("learner") == {"seen": 1}
    second.close()


def test_a_report_reads_while_the_loop_writes(url: str) -> None:
    loop, report = SqlStore(url), SqlStore(url)
    for t in range(3):
        loop.record(cycle_at(t), "ds2")
    reading = report.all()
    assert next(reading).t == 0
    loop.record(cycle_at(3), "ds2")
    assert [cycle.t for cycle in reading][:2] == [1, 2]
    loop.close()
    report.close()


def test_people_can_query_by_hand(url: str, tmp_path: Path) -> None:
    for job in ("clicks", "views"):
        store = SqlStore(url, job)
        store.record(cycle_at(10), "ds2")
        store.record(cycle_at(20), "ds2")
        store.close()
    with sqlite3.connect(tmp_path / "penstock.db") as database:
        rows = database.execute(
            "SELECT job, number, t, mode, changed, reason FROM penstock_cycles ORDER BY job, number"
        )
        assert list(rows) == [
            ("clicks", 1, 10, "active", 0, "steady"),
            ("clicks", 2, 20, "active", 0, "steady"),
            ("views", 1, 10, "active", 0, "steady"),
            ("views", 2, 20, "active", 0, "steady"),
        ]
    database.close()


def test_the_newest_cycles_are_found_by_the_index(url: str, tmp_path: Path) -> None:
    SqlStore(url).close()
    question = "SELECT body FROM penstock_cycles WHERE job = 'clicks' ORDER BY number DESC LIMIT 120"
    with sqlite3.connect(tmp_path / "penstock.db") as database:
        plan = " ".join(row[-1] for row in database.execute(f"EXPLAIN QUERY PLAN {question}"))
    database.close()
    assert "USING INDEX" in plan
    assert "TEMP B-TREE" not in plan


def test_tables_of_a_later_version_are_refused_politely(url: str, tmp_path: Path) -> None:
    SqlStore(url).close()
    with sqlite3.connect(tmp_path / "penstock.db") as database:
        database.execute("UPDATE penstock_schema SET version = 7")
    database.close()
    with pytest.raises(PenstockError, match="has tables of version 7, but this Penstock knows 3: use the Penstock"):
        SqlStore(url)


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("sqlite:////no/such/folder/x.db", "store sqlite:////no/such/folder/x.db cannot be opened: unable to open"),
        ("sqlite:////dev/null/x.db", "store sqlite:////dev/null/x.db cannot be opened: unable to open database file"),
        ("floppy://disk", "store floppy://disk cannot be used: Can't load plugin: sqlalchemy.dialects:floppy"),
        ("nonsense", "store 'nonsense' cannot be used: Could not parse"),
    ],
)
def test_a_place_that_cannot_be_used_is_one_sentence(url: str, sentence: str) -> None:
    with pytest.raises(PenstockError) as refused:
        SqlStore(url)
    assert str(refused.value).startswith(sentence)
    assert "\n" not in str(refused.value)


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear reader, this is not a database. " * 50)
    with pytest.raises(PenstockError, match="cannot be opened: file is not a database"):
        SqlStore(f"sqlite:///{letter}")
    assert letter.read_text().startswith("Dear reader")


def test_a_password_is_never_told() -> None:
    with pytest.raises(PenstockError) as refused:
        SqlStore("floppy://me:secret@disk/drive")
    assert "secret" not in str(refused.value)


def test_a_file_that_was_deleted_is_said_once_and_begun_anew(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "penstock.db"
    store, other = SqlStore(f"sqlite:///{file}", "clicks"), SqlStore(f"sqlite:///{file}", "views")
    for each in (store, other):
        each.record(cycle_at(1), "ds2")
    for left in tmp_path.iterdir():
        left.unlink()
    for t in (2, 3):
        store.record(cycle_at(t), "ds2")
        other.record(cycle_at(t), "ds2")
    assert [each.t for each in store.recent(10)] == [each.t for each in other.recent(10)] == [2.0, 3.0]
    assert [each.t for each in SqlStore(f"sqlite:///{file}", "clicks").recent(10)] == [2.0, 3.0]
    assert [record.message for record in caplog.records] == [
        f"store sqlite:///{file} was deleted: a new one is begun, and what it held is lost"
    ]


def test_old_cycles_are_removed_as_new_ones_come_and_those_of_other_jobs_stay(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CYCLES_BETWEEN", 5)
    day = 86_400.0
    mine, other = SqlStore(url, "mine", timedelta(days=10)), SqlStore(url, "other", timedelta(days=10))
    other.record(cycle_at(0.0), "ds2")
    for number in range(31):
        mine.record(cycle_at(number * day), "ds2", {"seen": number})
    assert [cycle.t / day for cycle in mine.all()] == list(range(20, 31))
    assert mine.state("ds2") == {"seen": 30}
    assert len(list(other.all())) == 1
    mine.close()
    other.close()


def test_by_default_a_season_is_kept(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CYCLES_BETWEEN", 1)
    store = SqlStore(url)
    for day in (0, 89, 90, 91):
        store.record(cycle_at(day * 86_400.0), "ds2")
    assert [cycle.t / 86_400.0 for cycle in store.all()] == [89, 90, 91]
    store.close()
