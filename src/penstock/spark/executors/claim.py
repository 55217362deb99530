"""One controller for the executors of an application: two would undo each other's changes."""

from __future__ import annotations

import threading

from pyspark import SparkContext

from penstock.model import PenstockError

_lock = threading.Lock()
_holders: dict[str, str] = {}  # by application


class ClaimedError(PenstockError):
    """Somebody else changes the executors of this application."""


class Claim:
    """The right to change the executors of an application, until it is released."""

    def __init__(self, application: str) -> None:
        self._application: str | None = application

    def release(self) -> None:
        """Let somebody else claim the application. A second call does nothing."""
        with _lock:
            if self._application is not None:
                del _holders[self._application]
                self._application = None


def claim(context: SparkContext, who: str) -> Claim:
    """Claim the executors of an application. Raises ClaimedError, with the name of who has them, if they are taken.

    who  what the message calls the controller, such as "watch" or "pipeline 'clicks'"
    """
    application = context.applicationId
    with _lock:
        holder = _holders.get(application)
        if holder is not None:
            raise ClaimedError(
                f"{who} cannot change the executors of this application, because {holder} does: end that first, or "
                "let one penstock.spark.watch steer all its queries"
            )
        _holders[application] = who
    return Claim(application)
