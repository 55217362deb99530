"""Answers requests of those who may read, on a thread of its own. Nothing that is asked changes anything."""

from __future__ import annotations

import hmac
import logging
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from penstock.model import PenstockError
from penstock.serving.access import LOOPBACK, Access
from penstock.serving.connections import Connections

log = logging.getLogger("penstock")

PATIENCE_SECONDS = 30.0
"""A reader who sends nothing for so long is left."""

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


@dataclass(frozen=True)
class Request:
    """What was asked: the parameters of the address, the last of each name, and the headers."""

    given: Mapping[str, str]
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """What is sent back."""

    kind: str
    body: bytes
    status: HTTPStatus = HTTPStatus.OK
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def text(cls, text: str, kind: str = "text/plain", status: HTTPStatus = HTTPStatus.OK) -> Answer:
        return cls(f"{kind}; charset=utf-8", text.encode(), status)


Route = Callable[[Request], Answer]


class Server:
    """Serves paths until it is stopped.

    port  where it listens
    """

    def __init__(self, what: str, routes: Mapping[str, Route], access: Access, ports: range | int) -> None:
        """
        what    what is served, for a sentence about what is wrong
        routes  who answers, by path
        ports   the one to listen on, 0 for any free one; or some, of which the first free one is taken
        """
        self.access = access
        tls = access.tls()
        self._server = _bound(what, access.listen, range(ports, ports + 1) if isinstance(ports, int) else ports)
        self._server.routes, self._server.access = routes, access
        if tls is not None:
            # The handshake is left to the thread of the connection: a reader who never ends it must not stop others.
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = int(self._server.server_port)
        self._thread = threading.Thread(target=self._server.serve_forever, name="penstock-server", daemon=True)
        self._thread.start()

    def url(self, path: str = "/", token: bool = False) -> str:
        """The address for a reader; with the token in it, if wanted and if there is one."""
        host = self.access.listen if self.access.listen not in ("0.0.0.0", "::") else socket.gethostname()
        host = f"[{host}]" if ":" in host else host
        query = f"?{urlencode({'token': self.access.token})}" if token and self.access.token else ""
        return f"{self.access.scheme}://{host}:{self.port}{path}{query}"

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def wait(self) -> None:
        """Until it is stopped."""
        self._thread.join()


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    routes: Mapping[str, Route]
    access: Access

    def server_activate(self) -> None:
        self.connections = Connections()
        super().server_activate()

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.connections.remove(request)
        super().shutdown_request(request)

    def handle_error(self, request: object, client_address: object) -> None:
        log.debug("a request was broken off", exc_info=True)


class _Listener6(_Listener):
    address_family = socket.AF_INET6


def _bound(what: str, host: str, ports: range) -> _Listener:
    for port in ports:
        try:
            return (_Listener6 if ":" in host else _Listener)((host, port), _Handler)
        except OSError as error:
            last = error
    raise PenstockError(f"{what} cannot be served at {host}:{ports[0]}: {last.strerror or last}") from None


class _Handler(BaseHTTPRequestHandler):
    server: _Listener
    server_version, sys_version = "penstock", ""
    protocol_version = "HTTP/1.1"
    timeout = PATIENCE_SECONDS

    def do_GET(self) -> None:
        # Nobody needs to send anything but a question: what follows it is not read, and not taken for another one.
        if "Content-Length" in self.headers or "Transfer-Encoding" in self.headers:
            self.close_connection = True
        try:
            self._reply()
        except OSError:
            raise  # the reader is gone
        except Exception as error:
            log.debug("a request was not understood", exc_info=True)
            self.close_connection = True
            known = isinstance(error, ValueError | CookieError)
            status = HTTPStatus.BAD_REQUEST if known else HTTPStatus.INTERNAL_SERVER_ERROR
            self._send(Answer.text("the request was not understood", status=status))

    def _reply(self) -> None:
        address = urlsplit(self.path)
        given = {name: values[-1] for name, values in parse_qs(address.query).items()}
        if not self._is_ours():
            self._send(Answer.text("this page has another name", status=HTTPStatus.MISDIRECTED_REQUEST))
        elif not self._may_read(given):
            words = "open the address with the token that Penstock printed, or send it as a bearer token"
            self._send(Answer.text(words, status=HTTPStatus.FORBIDDEN))
        elif address.path in self.server.routes:
            request = Request(given, dict(self.headers.items()))
            self._send(self.server.routes[address.path](request), self._cookie(given))
        else:
            self._send(Answer.text("there is nothing here", status=HTTPStatus.NOT_FOUND))

    def _is_ours(self) -> bool:
        """A page elsewhere may give its own name this machine's address: its scripts could read ours then."""
        if not self.server.access.only_here:
            return True
        return urlsplit(f"//{self.headers.get('Host', '')}").hostname in LOOPBACK

    def _may_read(self, given: Mapping[str, str]) -> bool:
        token = self.server.access.token
        if token is None:
            return True
        cookie = SimpleCookie(self.headers.get("Cookie", "")).get("penstock")
        bearer = self.headers.get("Authorization", "").removeprefix("Bearer ")
        shown = bearer or given.get("token") or (cookie.value if cookie else "")
        return hmac.compare_digest(shown.encode(), token.encode())

    def _cookie(self, given: Mapping[str, str]) -> dict[str, str]:
        """So that a page's own requests need not carry the token in their addresses."""
        if self.server.access.token is None or "token" not in given:
            return {}
        secure = "; Secure" if self.server.access.scheme == "https" else ""
        return {"Set-Cookie": f"penstock={self.server.access.token}; HttpOnly; SameSite=Strict; Path=/{secure}"}

    def _send(self, answer: Answer, more: Mapping[str, str] | None = None) -> None:
        self.send_response(answer.status)
        for name, value in {**HEADERS, **answer.headers, **(more or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Type", answer.kind)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, format: str, *arguments: object) -> None:
        log.debug("served: " + format, *arguments)
