"""The server of page and metrics, over real connections."""

from __future__ import annotations

import socket
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from pathlib import Path

import pytest

from penstock.serving.access import Access
from penstock.serving.server import Answer, Request, Server

SECRET = 16 * "s"


def hello(request: Request) -> Answer:
    return Answer.text(f"hello {request.given.get('name', '')}")


def serve(access: Access) -> Server:
    return Server("hello", {"/": hello}, access, 0)


def status(
    server: Server, path: str = "/", headers: Mapping[str, str] | None = None, tls: ssl.SSLContext | None = None
) -> int:
    address = f"{server.access.scheme}://127.0.0.1:{server.port}{path}"
    try:
        with urllib.request.urlopen(
            urllib.request.Request(address, headers=dict(headers or {})), context=tls
        ) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        error.close()
        return int(error.code)


@pytest.fixture
def guarded() -> Iterator[Server]:
    made = serve(Access("0.0.0.0", "none", SECRET))
    yield made
    made.stop()


def test_by_default_no_other_address_of_this_machine_listens() -> None:
    server = serve(Access())
    assert status(server) == HTTPStatus.OK
    with socket.socket() as other, pytest.raises(ConnectionRefusedError):
        other.connect(("127.0.0.2", server.port))
    server.stop()


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        (f"/?token={SECRET}", {}),
        ("/", {"Cookie": f"penstock={SECRET}"}),
        ("/", {"Authorization": f"Bearer {SECRET}"}),
    ],
)
def test_whoever_has_the_token_is_answered(guarded: Server, path: str, headers: dict[str, str]) -> None:
    assert status(guarded, path, headers) == HTTPStatus.OK


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/", {}),
        ("/?token=wrong", {}),
        ("/", {"Cookie": "penstock=wrong"}),
        ("/", {"Authorization": "Bearer wrong"}),
        (f"/?token={SECRET}x", {}),
        ("/nothing", {}),
    ],
)
def test_whoever_has_not_learns_nothing(guarded: Server, path: str, headers: dict[str, str]) -> None:
    assert status(guarded, path, headers) == HTTPStatus.FORBIDDEN


def test_the_address_has_the_token_only_where_it_is_wanted(guarded: Server) -> None:
    assert SECRET not in guarded.url()
    assert SECRET in guarded.url(token=True)


def test_a_certificate_encrypts_and_one_who_never_ends_the_handshake_stops_nobody(certificate: Path) -> None:
    server = serve(Access("0.0.0.0", str(certificate), SECRET))
    assert server.url().startswith("https://")
    with socket.create_connection(("127.0.0.1", server.port)):  # and says nothing
        trusting = ssl.create_default_context(cafile=str(certificate))
        assert status(server, headers={"Authorization": f"Bearer {SECRET}"}, tls=trusting) == HTTPStatus.OK
        assert status(server, tls=trusting) == HTTPStatus.FORBIDDEN
        with pytest.raises(urllib.error.URLError, match="certificate verify failed"):
            status(server, tls=ssl.create_default_context())
    server.stop()
