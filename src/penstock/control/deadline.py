"""Runs a call that must not hold up the loop."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class TooSlowError(Exception):
    """The call did not return in time; it may still be running."""


class StillBusyError(TooSlowError):
    """The call was not begun, because an earlier one has not returned."""


class _Call(threading.Thread, Generic[T]):
    def __init__(self, function: Callable[[], T]) -> None:
        super().__init__(daemon=True, name="penstock-policy")
        self.function = function
        self.result: T
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.result = self.function()
        except BaseException as error:  # even sys.exit() ends this call only
            self.error = error


class Deadline:
    """Calls one function at a time, each on a thread of its own, and gives up waiting after `seconds`.

    A thread cannot be killed, so a call that hangs is left behind; until it returns, every further call is
    refused immediately. `seconds=None` calls directly, without a thread: right for a simulation, whose clock
    stands still meanwhile.
    """

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._left_behind: threading.Thread | None = None

    @property
    def busy(self) -> bool:
        """Whether a call that was given up on is still running."""
        return self._left_behind is not None and self._left_behind.is_alive()

    def call(self, function: Callable[[], T]) -> T:
        if self.seconds is None:
            return function()
        if self.busy:
            raise StillBusyError("an earlier call is still running")
        call = _Call(function)
        call.start()
        call.join(self.seconds)
        if call.is_alive():
            self._left_behind = call
            raise TooSlowError(f"no answer within {self.seconds:g} s")
        if call.error is not None:
            raise call.error if isinstance(call.error, Exception) else RuntimeError(repr(call.error))
        return call.result
