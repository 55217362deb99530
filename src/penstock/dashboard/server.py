"""Serves the page of a store. It only reads."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from functools import partial
from http import HTTPStatus
from importlib.resources import files
from typing import Any

from penstock.dashboard import answers
from penstock.model import InvalidValueError, PenstockError
from penstock.serving.access import Access
from penstock.serving.server import Answer, Request, Server
from penstock.stores.history import History

PORT, PORTS_TRIED = 8787, 20
STATIC = {
    "/": ("page.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/charts.js": ("charts.js", "text/javascript"),
    "/page.js": ("page.js", "text/javascript"),
}

LARGEST, LARGEST_PLAN = 2**62, 1_000_000
"""Numbers beyond are no cycles, times or plans, and databases cannot count with them."""

Parameters = Mapping[str, str]

QUESTIONS: dict[str, Callable[[History, Parameters], Any]] = {
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


def static(name: str) -> str:
    """The text of a file of the page."""
    return (files("penstock.dashboard") / "static" / name).read_text(encoding="utf-8")


class Dashboard:
    """A running page; `stop` it, or use it in a `with` block.

    url     where it is, with the token if it needs one
    server  where it listens, and whom it answers
    """

    def __init__(self, store: str, access: Access | None = None, port: int | None = None) -> None:
        """
        store   the URL of a database
        access  who may read; None: only this machine
        port    None: the first free one from 8787 on; 0: any free one
        """
        self.history = History(store)
        routes = {path: partial(_file, *file) for path, file in STATIC.items()}
        routes |= {path: partial(_ask, question, self.history) for path, question in QUESTIONS.items()}
        try:
            ports = range(PORT, PORT + PORTS_TRIED) if port is None else port
            self.server = Server("the page", routes, access or Access(), ports)
        except PenstockError:
            self.history.close()
            raise
        self.url = self.server.url(token=True)

    def stop(self) -> None:
        self.server.stop()
        self.history.close()

    def wait(self) -> None:
        """Until it is stopped."""
        self.server.wait()

    def __enter__(self) -> Dashboard:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()


def _file(name: str, kind: str, _request: Request) -> Answer:
    return Answer.text(static(name), kind)


def _ask(question: Callable[[History, Parameters], Any], history: History, request: Request) -> Answer:
    try:
        status, answer = HTTPStatus.OK, question(history, request.given)
    except InvalidValueError as error:
        status, answer = HTTPStatus.BAD_REQUEST, {"error": str(error)}
    except PenstockError as error:
        status, answer = HTTPStatus.SERVICE_UNAVAILABLE, {"error": str(error)}
    return Answer.text(json.dumps(answer, allow_nan=False, separators=(",", ":")), "application/json", status)


def _text(given: Parameters, name: str) -> str:
    if name not in given:
        raise InvalidValueError(name, "is missing")
    return given[name]


def _whole(given: Parameters, name: str, default: Any) -> Any:
    if name not in given:
        return default
    try:
        whole = int(given[name])
    except ValueError:
        whole = LARGEST
    if abs(whole) >= LARGEST:
        raise InvalidValueError(name, f"must be a whole number, not {given[name][:40]!r}")
    return whole


def _number(given: Parameters, name: str) -> float | None:
    if name not in given:
        return None
    try:
        number = float(given[name])
    except ValueError:
        number = math.nan
    if not abs(number) < LARGEST:
        raise InvalidValueError(name, f"must be a number, not {given[name][:40]!r}")
    return number


def _plan(given: Parameters) -> dict[str, int]:
    """The parallelism of each operator, from a JSON object."""
    try:
        plan = json.loads(_text(given, "plan"))
    except (ValueError, RecursionError):
        plan = None
    if not isinstance(plan, dict) or not all(type(k) is int and 1 <= k <= LARGEST_PLAN for k in plan.values()):
        raise InvalidValueError("plan", 'must be whole numbers by operator, such as {"parse": 3}')
    return plan
