"""Runs an unmodified PySpark script in this process, and watches the queries that it starts."""

from __future__ import annotations

import logging
import os
import runpy
import shlex
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from pyspark import SparkContext
from pyspark.sql import SparkSession

from penstock.control.think import sentence
from penstock.model import InvalidValueError, Mode, PenstockError
from penstock.spark.application.configuration import needed_settings
from penstock.spark.application.watch import Watch
from penstock.spark.executors.executor_slots import check_settings

LOOK_SECONDS = 0.1
"""From one look for a Spark session of the script to the next."""

TERMINATED, INTERRUPTED, FAILED = 128 + signal.SIGTERM, 128 + signal.SIGINT, 1
"""Exit codes, as shells have them."""

log = logging.getLogger("penstock")


@dataclass(frozen=True, slots=True)
class Script:
    """A script and what it is run with.

    path       the script
    arguments  its own arguments
    master     the master of its sessions, unless the script says otherwise
    settings   the same for its Spark configuration
    most       the most executors that it may have
    """

    path: Path
    arguments: Sequence[str] = ()
    master: str | None = None
    settings: Mapping[str, str] | None = None
    most: int = 1

    def run(self, watch: Callable[[SparkSession], Watch], show: Callable[[str], None]) -> int:
        """Run the script to its end, however that comes about, and return its exit code.

        watch  begins to watch a session of the script
        show   is called with the report at the end, and whenever the signal USR1 comes; USR2 changes between the modes
               monitor and active
        """
        if not self.path.is_file():
            raise InvalidValueError("script", f"{self.path} is not a file")
        self._submit_arguments()
        follower = _Follower(watch, show)
        with ExitStack() as stack:
            stack.enter_context(_configured(self.most))
            stack.enter_context(_signals(follower))
            stack.callback(follower.end)
            follower.start()
            return self._run()

    def _submit_arguments(self) -> None:
        """Spark starts its JVM with these; what the script itself says in its session counts more."""
        given = [*(["--master", self.master] if self.master else [])]
        for name, value in (self.settings or {}).items():
            given += ["--conf", f"{name}={value}"]
        if given and "PYSPARK_GATEWAY_PORT" in os.environ:
            raise PenstockError("spark-submit has started Spark already: give it --master and --conf instead")
        if given:
            others = os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell")
            os.environ["PYSPARK_SUBMIT_ARGS"] = f"{shlex.join(given)} {others}"
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the workers would take the first one on the path
        os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)

    def _run(self) -> int:
        sys.argv = [str(self.path), *self.arguments]
        sys.path.insert(0, str(self.path.resolve().parent))
        try:
            runpy.run_path(str(self.path), run_name="__main__")
        except PenstockError:
            raise
        except SystemExit as ended:
            return _exit_code(ended)
        except KeyboardInterrupt:
            return INTERRUPTED
        except BaseException as error:
            _print_as_python_does(error, str(self.path))
            return FAILED
        return 0


class _Follower:
    """Watches the session of the script as soon as there is one, and the next one if the script makes another."""

    def __init__(self, watch: Callable[[SparkSession], Watch], show: Callable[[str], None]) -> None:
        self._watch = watch
        self._show = show
        self._current: tuple[SparkContext, Watch | None] | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="penstock-run", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        self._ended.set()
        self._thread.join()
        self.show()
        if self._current is not None and self._current[1] is not None:
            self._current[1].stop()

    def show(self) -> None:
        watched = None if self._current is None else self._current[1]
        self._show("Penstock watched nothing" if watched is None else str(watched.report()))

    def change_mode(self) -> None:
        """Between monitor and active. A change that waits for executors is over first, so nobody is kept waiting."""
        watched = None if self._current is None else self._current[1]
        if watched is not None:
            other = Mode.MONITOR if watched.mode is Mode.ACTIVE else Mode.ACTIVE
            threading.Thread(target=setattr, args=(watched, "mode", other), daemon=True).start()

    def _follow(self) -> None:
        while not self._ended.wait(LOOK_SECONDS):
            session = SparkSession._instantiatedSession
            context = None if session is None else session._sc
            if session is None or context is None or context._jsc is None:
                continue
            if self._current is None or self._current[0] is not context:
                self._current = (context, self._begin(session))

    def _begin(self, session: SparkSession) -> Watch | None:
        try:
            return self._watch(session)
        except Exception as error:  # the job is more important than who watches it
            log.warning("the script runs on unwatched: %s", sentence(error))
            return None


@contextmanager
def _configured(most: int) -> Iterator[None]:
    """Sessions get the configuration that executors need to come and go, where neither the script nor its user has set
    it. One under which they cannot is refused before it starts."""
    ours = SparkContext.__dict__["_initialize_context"]

    def initialize(context: SparkContext, configuration: Any) -> Any:
        given = {pair._1(): pair._2() for pair in configuration.getAll()}
        for name, value in needed_settings(given, most).items():
            configuration.set(name, value)
            given[name] = value
        check_settings(given.get("spark.master", ""), given)
        return ours(context, configuration)

    SparkContext._initialize_context = initialize  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        SparkContext._initialize_context = ours  # type: ignore[method-assign]


@contextmanager
def _signals(follower: _Follower) -> Iterator[None]:
    def end(number: int, frame: FrameType | None) -> None:
        raise SystemExit(TERMINATED)

    wanted: dict[signal.Signals, Any] = {
        signal.SIGTERM: end,
        signal.SIGUSR1: lambda number, frame: follower.show(),
        signal.SIGUSR2: lambda number, frame: follower.change_mode(),
    }
    if threading.current_thread() is not threading.main_thread():  # signals reach only the main thread
        wanted = {}
    before = {number: signal.signal(number, handler) for number, handler in wanted.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _exit_code(ended: SystemExit) -> int:
    """As Python itself would have it.

    >>> _exit_code(SystemExit()), _exit_code(SystemExit(7)), _exit_code(SystemExit(-1))
    (0, 7, 255)
    """
    if ended.code is None or isinstance(ended.code, int):
        return (ended.code or 0) & 0xFF
    print(ended.code, file=sys.stderr)
    return FAILED


def _print_as_python_does(error: BaseException, path: str) -> None:
    """The traceback, from the script's own first line on."""
    at = error.__traceback__
    while at is not None and at.tb_frame.f_code.co_filename != path:
        at = at.tb_next
    traceback.print_exception(type(error), error, at or error.__traceback__)
