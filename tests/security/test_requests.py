"""A slow, huge or broken request harms nobody, and none changes anything."""

from __future__ import annotations

import socket
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from loop_fakes import a_loop
from patience import wait_for
from penstock.dashboard.server import Dashboard
from penstock.serving.access import Access
from penstock.serving.connections import MOST_CONNECTIONS
from penstock.serving.server import Answer, Request, Server
from penstock.stores.sql import SqlStore


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server("hello", {"/": lambda request: Answer.text("hello"), "/broken": _broken}, Access(), 0)
    yield made
    made.stop()


def _broken(request: Request) -> Answer:
    raise ZeroDivisionError("1 / 0")


def asked(port: int, raw: bytes) -> bytes:
    """All that is answered to these bytes, until the server closes."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(raw)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        with suppress(ConnectionResetError):  # what was not read when it closed
            while more := connection.recv(65536):
                answer += more
        return answer


def status(answer: bytes) -> int | None:
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/") else None


HOST = b"Host: localhost\r\n"
HELLO = b"GET / HTTP/1.1\r\n" + HOST + b"\r\n"


@pytest.mark.parametrize(
    ("raw", "answered"),
    [
        (b"GET /" + 70_000 * b"x" + b" HTTP/1.1\r\n" + HOST + b"\r\n", 414),
        (b"GET / HTTP/1.1\r\n" + 200 * (b"X: y\r\n") + HOST + b"\r\n", 431),
        (b"GET / HTTP/1.1\r\nX: " + 70_000 * b"y" + b"\r\n\r\n", 431),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", None),  # whoever says no version gets no status
        (b"GET / HTTP/9.9\r\n\r\n", None),
        (b"GET http://[ HTTP/1.1\r\n" + HOST + b"\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: [\r\n\r\n", 400),
        (b"GET /broken HTTP/1.1\r\n" + HOST + b"\r\n", 500),
        (b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421),
        (b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 3\r\n\r\nabc", 501),
        (b"DELETE / HTTP/1.1\r\n" + HOST + b"\r\n", 501),
        (b"PUT / HTTP/1.1\r\n" + HOST + b"\r\n", 501),
        (b"OPTIONS * HTTP/1.1\r\n" + HOST + b"\r\n", 501),
    ],
)
def test_what_is_no_question_is_refused_and_the_next_is_answered(
    server: Server, raw: bytes, answered: int | None
) -> None:
    assert status(asked(server.port, raw)) == answered
    assert status(asked(server.port, HELLO)) == 200


def test_what_follows_a_question_is_not_taken_for_another(server: Server) -> None:
    hidden = b"GET /broken HTTP/1.1\r\n" + HOST + b"\r\n"
    head = b"GET / HTTP/1.1\r\n" + HOST + b"Content-Length: %d\r\n\r\n" % len(hidden)
    assert asked(server.port, head + hidden).count(b"HTTP/1.1") == 1


def test_many_who_say_nothing_keep_nobody_out(server: Server) -> None:
    """Each holds a thread: the oldest of them is ended when there are too many."""
    before = threading.active_count()
    silent = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(MOST_CONNECTIONS + 20)]
    try:
        assert status(asked(server.port, HELLO)) == 200
        wait_for(lambda: threading.active_count() <= before + MOST_CONNECTIONS, "the threads of the oldest to end")
        silent[0].settimeout(60)
        assert silent[0].recv(1) == b""  # it was ended
    finally:
        for each in silent:
            each.close()


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Dashboard]:
    store = SqlStore(f"sqlite:///{tmp_path / 'penstock.db'}", "clicks")
    loop = a_loop(store=store)
    for _ in range(3):
        loop.run_once()
    store.close()
    made = Dashboard(f"sqlite:///{tmp_path / 'penstock.db'}", port=0)
    yield made
    made.stop()


@pytest.mark.parametrize(
    "question",
    [
        "/api/job?job=clicks&since=" + 4000 * "9",
        "/api/job?job=clicks&bucket=nan",
        "/api/job?job=clicks&begin=inf",
        "/api/job?job=clicks&begin=-1e400",
        "/api/decisions?job=clicks&before=99999999999999999999",
        "/api/decision?job=clicks&number=x",
        "/api/decision?job=clicks&number=-5",
        "/api/what-if?job=clicks&plan=" + 3000 * "[",
        '/api/what-if?job=clicks&plan={"split":99999999999999999999}',
        "/api/job?job=" + 3000 * "%00",
        "/api/job?job=' OR 1=1 --".replace(" ", "%20"),
        "/api/job",
    ],
)
def test_a_question_of_the_page_with_nonsense_in_it_is_refused(page: Dashboard, question: str) -> None:
    answer = asked(page.server.port, f"GET {question} HTTP/1.1\r\n".encode() + HOST + b"\r\n")
    assert status(answer) == 400
    assert b'{"error":' in answer


def test_a_chart_is_never_finer_than_somebody_can_look_at(page: Dashboard) -> None:
    answer = asked(page.server.port, b"GET /api/job?job=clicks&bucket=1e-9 HTTP/1.1\r\n" + HOST + b"\r\n")
    assert b'"bucket_seconds":1e-09' not in answer
    assert status(answer) == 200


def test_no_request_changes_the_store(page: Dashboard, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "penstock.db") as connection:
        before = list(connection.iterdump())
    for method in ("GET", "POST", "PUT", "DELETE", "PATCH"):
        for path in ("/", "/api/jobs", "/api/job?job=clicks", "/api/decision?job=clicks&number=1"):
            asked(page.server.port, f"{method} {path} HTTP/1.1\r\n".encode() + HOST + b"\r\n")
    with sqlite3.connect(tmp_path / "penstock.db") as connection:
        assert list(connection.iterdump()) == before
    connection.close()
