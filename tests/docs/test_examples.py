"""What the pages show is what happens: commands are run and Python is executed, as they stand there.

On a page, in order and in one folder of its own:

    ```console      each line that begins with "$ " is run by a shell and must succeed; the lines below it must come
                    out in that order. A line "..." leaves lines out, "..." within a line leaves out that part
    ```python       is executed and must not fail
    <!-- file: NAME -->     before a block: its text becomes that file
    <!-- not run: WHY -->   before a block: it is left alone

The folder has the clone's `examples/` in it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import penstock
from pages import PAGES, ROOT, blocks, read

SOURCE = Path(penstock.__file__).parent.parent
ENVIRONMENT = {
    **os.environ,
    "COLUMNS": "80",
    "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
    "PYTHONPATH": str(SOURCE),
}

RUN = [page for page in PAGES if any(block.runs for block in blocks(read(page)))]


@pytest.mark.parametrize("page", RUN)
def test_a_page_does_what_it_shows(page: str, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for block in blocks(read(page)):
        if not block.runs:
            continue
        if block.file is not None:
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
        elif block.kind == "python":
            run([sys.executable, "-c", block.text], tmp_path)
        else:
            for command, shown in block.commands:
                missing = first_missing(shown, run(["bash", "-c", command], tmp_path))
                assert missing is None, f"$ {command}\nprints something else than the page here: {missing}"


def run(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command[-1]}\n{done.stderr}"
    return done.stdout


def first_missing(shown: list[str], printed: str) -> str | None:
    """The first line shown that was not printed, or printed that was neither shown nor left out by a "..."."""
    lines = [line.rstrip() for line in printed.rstrip().splitlines()]
    at, anywhere = 0, False
    for line in shown:
        if line.strip() == "...":
            anywhere = True
            continue
        pattern = ".*".join(re.escape(part) for part in line.rstrip().split("..."))
        candidates = range(at, len(lines) if anywhere else min(at + 1, len(lines)))
        found = next((n for n in candidates if re.fullmatch(pattern, lines[n])), None)
        if found is None:
            return line
        at, anywhere = found + 1, False
    return lines[at] if shown and not anywhere and at < len(lines) else None


@pytest.mark.parametrize(
    ("shown", "missing"),
    [
        ([], None),
        (["one", "two"], "three"),
        (["one", "two", "..."], None),
        (["two"], "two"),
        (["...", "two", "..."], None),
        (["...", "three", "two"], "two"),
        (["one", "...", "th...e"], None),
        (["one", "three"], "three"),
    ],
)
def test_shown_lines_are_compared_in_order(shown: list[str], missing: str | None) -> None:
    assert first_missing(shown, "one\ntwo  \nthree\n") == missing
