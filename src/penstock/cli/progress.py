"""Shows the progress of a run that takes longer than a moment."""

from __future__ import annotations

import threading

import typer

from penstock.cli.output import talks_to_a_person
from penstock.model import Cycle
from penstock.report.words import ratio

QUIET_SECONDS = 2.0
LINE_EVERY_SECONDS = 10.0
PREPARING = "preparing the simulator (compiled once)"


class ProgressBar:
    """Shows progress towards `total`, from a thread of its own, as the first step may take longest of all."""

    def __init__(self, what: str, total: float, preparing: str = PREPARING) -> None:
        self._what = what
        self._total = total
        self._preparing = preparing
        self._done = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._show, daemon=True, name="penstock-progress")

    def __call__(self, cycle: Cycle) -> None:
        """Take the time of a cycle as progress, where the total is the seconds of the run."""
        self.reached(cycle.t)

    def reached(self, done: float) -> None:
        self._done = done

    def __enter__(self) -> ProgressBar:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    @property
    def _status(self) -> str:
        return f"{self._what}, {ratio(self._done / self._total)} done" if self._done else self._preparing

    def _show(self) -> None:
        if self._ended.wait(QUIET_SECONDS):
            return
        if talks_to_a_person():
            self._show_bar()
        else:
            self._show_lines()

    def _show_bar(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar

        with Bar(BarColumn(), TextColumn("{task.description}"), console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(self._status, total=self._total)
            while not self._ended.wait(0.1):
                bar.update(task, completed=self._done, description=self._status)

    def _show_lines(self) -> None:
        while True:
            typer.echo(f"penstock: {self._status}", err=True)
            if self._ended.wait(LINE_EVERY_SECONDS):
                return
