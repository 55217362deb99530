"""The report as a folder of files, each of which is written completely or not at all, and is its owner's to read: it
tells what somebody's job does."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TextIO

from penstock.model import Cycle, JobDescription, PenstockError
from penstock.report.markdown import PICTURE, report_text
from penstock.report.story import Story

RESULT, DECISIONS, PAGE, HISTORY, HTML = "result.json", "decisions.jsonl", "report.md", "history.db", "report.html"


class ReportFolder:
    """The folder of a report. It is checked before the run, so that an unwritable folder is noticed immediately."""

    def __init__(self, path: Path) -> None:
        self.path = path
        nearest = next(parent for parent in (path, *path.parents, Path()) if parent.exists())
        if not nearest.is_dir():
            raise PenstockError(f"report folder {path} cannot be created: {nearest} is not a folder")
        if not os.access(nearest, os.W_OK | os.X_OK):
            raise PenstockError(f"report folder {path} cannot be written: no permission for {nearest.absolute()}")

    def write(self, story: Story) -> None:
        """Write the report into the folder, except for the decisions, which `decisions` wrote."""
        from penstock.report.picture import draw  # matplotlib takes long to import: only a picture needs it

        result = story.result.to_json()
        if story.rival is not None:
            result |= {"fixed_plan": story.rival.result.to_json()}
        self.put(RESULT, (json.dumps(result, allow_nan=False, indent=2) + "\n").encode())
        self.put(PICTURE, draw(story))
        self.put(PAGE, report_text(story).encode())
        if (self.path / HISTORY).exists():
            from penstock.report.html_page import html_page

            self.put(HTML, html_page(f"sqlite:///{self.path / HISTORY}", story).encode())

    @contextmanager
    def history(self, job: str, description: JobDescription) -> Iterator[Callable[[Cycle], None]]:
        """Keeps each cycle that what it gives is called with in a database, for `penstock dashboard`; it gets its name
        when the run has ended without an error."""
        from penstock.stores.run_history import RunHistory

        with self._named(HISTORY) as path:
            path.unlink(missing_ok=True)
            with closing(RunHistory(f"sqlite:///{path}", job, description)) as history:
                yield history

    @contextmanager
    def decisions(self) -> Iterator[TextIO]:
        """A file to write decisions to during the run; it gets its name when the run has ended without an error."""
        with self._named(DECISIONS) as path, path.open("w", encoding="utf-8") as file:
            yield file

    def put(self, name: str, content: bytes) -> None:
        """Write one file, completely or not at all; its name may contain a folder."""
        with self._named(name) as path:
            path.write_bytes(content)

    @contextmanager
    def _named(self, name: str) -> Iterator[Path]:
        """A temporary path beside `name`, renamed to it at the end or removed after an error."""
        final = self.path / name
        written = final.with_name(f".{final.name}.{os.getpid()}")
        try:
            written.parent.mkdir(parents=True, exist_ok=True)
            written.touch(0o600)
            yield written
            written.chmod(0o600)  # whoever wrote it may have made it anew
            written.replace(final)
        except BaseException as error:
            with suppress(OSError):
                written.unlink()
            if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
                raise PenstockError(f"{final} cannot be written: {error.strerror or error}") from None
            raise
