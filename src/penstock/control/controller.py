"""Runs the loop beside a live job, on a thread of its own, and fails static: whatever happens to the controller, the
job runs on with its last plan."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable

from penstock.control.clock import Stopwatch
from penstock.control.cycle_log import CycleLog
from penstock.control.loop import Loop
from penstock.control.think import sentence
from penstock.model import Cycle

log = logging.getLogger("penstock")

SLOW_INTERVALS = 5
"""A cycle that takes this many intervals, and a minute at least, is said to hang."""

LOOK_SECONDS = 0.5
"""How often to look for the first window that counts."""

LOOKS_AN_INTERVAL, SHORTEST_WINDOW = 6, 5.0
"""How often to look whether a decision is overtaken, and the least seconds from one such look to the next: where the
time between two looks is a window, a shorter one would show little but chance."""


class Controller:
    """Runs one cycle every `loop.settings.interval_seconds`, and calls `observers` and `on_cycle` with it.

    The first decision does not wait for the end of an interval: it comes with the first window that counts. Nor does
    the one after a decision that was overtaken: a burst came that it was not made for.
    """

    def __init__(
        self,
        loop: Loop,
        on_cycle: Callable[[Cycle], None] = lambda cycle: None,
        *,
        run: Callable[[], Cycle] | None = None,
        name: str = "",
    ) -> None:
        """
        run   runs one cycle of the loop; given where that takes more than `loop.run_once`
        name  the job's: what the lines in the log begin with
        """
        self.loop = loop
        self.name = name
        self.observers: list[Callable[[Cycle], None]] = []
        self.failures = 0
        self._run_once = run or loop.run_once
        self._cycle_log = CycleLog(name)
        self.interval_seconds = loop.settings.interval_seconds
        self.look_seconds = max(SHORTEST_WINDOW, self.interval_seconds / LOOKS_AN_INTERVAL)
        self.hangs_after_seconds = max(60.0, SLOW_INTERVALS * self.interval_seconds)
        self.cycle_seconds: float | None = None  # of the newest cycle
        self.decision_ms: deque[float] = deque(maxlen=1_000)  # of cycles without a change, which waits for executors
        self._on_cycle = on_cycle
        self._stopped = threading.Event()
        self._cycle_over = threading.Event()
        self._had_news = False
        self._complained = False
        self._logging = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="penstock-controller", daemon=True)
        self._watchdog = threading.Thread(target=self._watch, name="penstock-watchdog", daemon=True)

    def start(self) -> None:
        self._thread.start()
        self._watchdog.start()

    def stop(self, limit_seconds: float = 10.0) -> None:
        """Decide no more, and say no more. A cycle that hangs is left behind."""
        self._stopped.set()
        self._cycle_over.set()
        for thread in (self._thread, self._watchdog):
            if thread.is_alive() and threading.current_thread() is not thread:
                thread.join(limit_seconds)

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    @property
    def healthy(self) -> bool:
        """Whether it runs, does not hang, and its last cycle went well."""
        return self.alive and not self._complained

    def _run(self) -> None:
        try:
            while self._wait_for_the_next_cycle():
                self._cycle()
                self._cycle_over.set()
        except BaseException as error:  # sys.exit() in a policy of the user's, say
            self._complain(f"the controller has ended ({sentence(error)}); the job runs on with its last plan")

    def _wait_for_the_next_cycle(self) -> bool:
        """Wait until it is due; False if the controller was stopped meanwhile."""
        due = time.monotonic() + self.interval_seconds
        while not self._had_news:
            if self._stopped.wait(min(LOOK_SECONDS, max(0.0, due - time.monotonic()))):
                return False
            self._had_news = self.loop.has_news()
            if self._had_news or time.monotonic() >= due:
                return True
        while (left := due - time.monotonic()) > 0:
            early = self.loop.may_be_overtaken and left > 1.5 * self.look_seconds  # else it is due before the next look
            if self._stopped.wait(self.look_seconds if early else left):
                return False
            if early and self.loop.overtaken():
                break
        return not self._stopped.is_set()

    def _cycle(self) -> None:
        try:
            watch = Stopwatch()
            cycle = self._run_once()
            took = watch.lap_ms()
            self.cycle_seconds = took / 1e3
            if cycle.change_seconds is None:
                self.decision_ms.append(took)
            self._cycle_log(cycle)
            self._show(cycle)
            self._on_cycle(cycle)
            self._complained = False
        except Exception as error:
            self.failures += 1
            self._complain(f"the controller fails ({sentence(error)}); the job runs on with its last plan")
            log.debug("the controller fails", exc_info=True)

    def _show(self, cycle: Cycle) -> None:
        """Whoever looks on cannot harm the job: an observer that fails is left out of this cycle."""
        for observe in self.observers:
            try:
                observe(cycle)
            except Exception:
                log.debug("an observer failed", exc_info=True)

    def _watch(self) -> None:
        while not self._stopped.is_set() and self._thread.is_alive():
            if not self._cycle_over.wait(self.interval_seconds + self.hangs_after_seconds):
                self._complain(
                    f"the controller has not come back for {self.hangs_after_seconds:.0f} s; "
                    "the job runs on with its last plan"
                )
            self._cycle_over.clear()

    def _complain(self, text: str) -> None:
        """Say it once, until a cycle goes well again."""
        with self._logging:  # controller and watchdog may want to log at the same moment
            first, self._complained = not self._complained, True
        if first:
            log.warning(text)
