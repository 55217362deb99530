"""Serves the page of a store. It only reads, and only who has the token is answered where others could reach it."""

from __future__ import annotations

import hmac
import json
import logging
import secrets
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlencode, urlsplit

from penstock.dashboard import answers
from penstock.model import InvalidValueError, PenstockError
from penstock.stores.history import History

log = logging.getLogger("penstock")

HOST, PORT = "127.0.0.1", 8787
LOOPBACK = ("127.0.0.1", "localhost", "::1")
PORTS_TRIED = 20
STATIC = {
    "/": ("page.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/charts.js": ("charts.js", "text/javascript"),
    "/page.js": ("page.js", "text/javascript"),
}
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}

Parameters = dict[str, str]


def static(name: str) -> str:
    """The text of a file of the page."""
    return (files("penstock.dashboard") / "static" / name).read_text(encoding="utf-8")


class Dashboard:
    """A running page; `stop` it, or use it in a `with` block.

    url  where it is, with the token if it needs one
    """

    def __init__(self, store: str, host: str = HOST, port: int | None = None, token: str | None = None) -> None:
        """
        store  the URL of a database
        host   the address to listen on; whoever can reach another than this machine's own needs the token
        port   None: the first free one from 8787 on; 0: any free one
        token  None: one is made where it is needed
        """
        self.history = History(store)
        self.token = token or (None if host in LOOPBACK else secrets.token_urlsafe(16))
        try:
            self._server = _bound(host, port)
        except OSError as error:
            self.history.close()
            raise PenstockError(f"the page cannot be served at {host}:{port or PORT}: {error.strerror}") from None
        self._server.dashboard = self
        self.host, self.port = host, int(self._server.server_port)
        query = f"?{urlencode({'token': self.token})}" if self.token else ""
        self.url = f"http://{host if host not in ('', '0.0.0.0', '::') else '127.0.0.1'}:{self.port}/{query}"
        self._thread = threading.Thread(target=self._server.serve_forever, name="penstock-page", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        self.history.close()

    def wait(self) -> None:
        """Until it is stopped."""
        self._thread.join()

    def __enter__(self) -> Dashboard:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    dashboard: Dashboard


def _bound(host: str, port: int | None) -> _Server:
    for tried in range(PORT, PORT + PORTS_TRIED) if port is None else (port,):
        try:
            return _Server((host, tried), _Handler)
        except OSError as error:
            last = error
    raise last


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version, sys_version = "penstock", ""
    protocol_version = "HTTP/1.1"

    QUESTIONS: ClassVar[dict[str, Callable[[History, Parameters], Any]]] = {
        "/api/jobs": lambda history, given: answers.jobs(history),
        "/api/job": lambda history, given: answers.job(
            history, _text(given, "job"), _whole(given, "since", 0), _number(given, "bucket"),
            _number(given, "begin"), _number(given, "end"),
        ),
        "/api/decisions": lambda history, given: answers.decisions(
            history, _text(given, "job"), _whole(given, "before", None), _whole(given, "after", 0),
            given.get("kind") == "changes",
        ),
        "/api/decision": lambda history, given: answers.decision(
            history, _text(given, "job"), _whole(given, "number", 0)
        ),
        "/api/what-if": lambda history, given: answers.what_if(history, _text(given, "job"), _plan(given)),
    }  # fmt: skip

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        given = {name: values[-1] for name, values in parse_qs(address.query).items()}
        if not self._is_ours():
            self._answer(HTTPStatus.MISDIRECTED_REQUEST, "text/plain", "this page has another name")
        elif not self._has_token(given):
            self._answer(HTTPStatus.FORBIDDEN, "text/plain", "open the address with the token that Penstock printed")
        elif address.path in STATIC:
            name, kind = STATIC[address.path]
            self._answer(HTTPStatus.OK, kind, static(name), self._cookie(given))
        elif address.path in self.QUESTIONS:
            self._ask(self.QUESTIONS[address.path], given)
        else:
            self._answer(HTTPStatus.NOT_FOUND, "text/plain", "there is nothing here")

    def _ask(self, question: Callable[[History, Parameters], Any], given: Parameters) -> None:
        try:
            status, answer = HTTPStatus.OK, question(self.server.dashboard.history, given)
        except InvalidValueError as error:
            status, answer = HTTPStatus.BAD_REQUEST, {"error": str(error)}
        except PenstockError as error:
            status, answer = HTTPStatus.SERVICE_UNAVAILABLE, {"error": str(error)}
        self._answer(status, "application/json", json.dumps(answer, allow_nan=False, separators=(",", ":")))

    def _is_ours(self) -> bool:
        """A page elsewhere may give its own name this machine's address: its scripts could read ours then."""
        if self.server.dashboard.host not in LOOPBACK:
            return True
        host = urlsplit(f"//{self.headers.get('Host', '')}").hostname
        return host in LOOPBACK

    def _has_token(self, given: Parameters) -> bool:
        token = self.server.dashboard.token
        if token is None:
            return True
        cookie = SimpleCookie(self.headers.get("Cookie", "")).get("penstock")
        shown = given.get("token") or (cookie.value if cookie else "")
        return hmac.compare_digest(shown.encode(), token.encode())

    def _cookie(self, given: Parameters) -> dict[str, str]:
        """So that the page's own requests need not carry the token in their addresses."""
        if self.server.dashboard.token is None or "token" not in given:
            return {}
        return {"Set-Cookie": f"penstock={self.server.dashboard.token}; HttpOnly; SameSite=Strict; Path=/"}

    def _answer(self, status: HTTPStatus, kind: str, text: str, more: dict[str, str] | None = None) -> None:
        body = text.encode()
        self.send_response(status)
        for name, value in {**HEADERS, **(more or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        log.debug("page: " + format, *arguments)


def _text(given: Parameters, name: str) -> str:
    if name not in given:
        raise InvalidValueError(name, "is missing")
    return given[name]


def _whole(given: Parameters, name: str, default: Any) -> Any:
    if name not in given:
        return default
    try:
        return int(given[name])
    except ValueError:
        raise InvalidValueError(name, f"must be a whole number, not {given[name]!r}") from None


def _number(given: Parameters, name: str) -> float | None:
    if name not in given:
        return None
    try:
        return float(given[name])
    except ValueError:
        raise InvalidValueError(name, f"must be a number, not {given[name]!r}") from None


def _plan(given: Parameters) -> dict[str, int]:
    """The parallelism of each operator, from a JSON object."""
    try:
        plan = json.loads(_text(given, "plan"))
    except ValueError:
        plan = None
    if not isinstance(plan, dict) or not all(type(k) is int and k >= 1 for k in plan.values()):
        raise InvalidValueError("plan", 'must be whole numbers by operator, such as {"parse": 3}')
    return plan
