"""The pages that people read, and the blocks of code on them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent

PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "SECURITY.md",
        ROOT / "CHANGELOG.md",
        *(ROOT / "docs").rglob("*.md"),
    )
    if path.exists()
)

_BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>file|not run): (?P<what>[^\n]+) -->\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.M | re.S
)


@dataclass(frozen=True)
class Block:
    """A fenced block. `file`: where its text goes; `skipped`: why it is not run."""

    kind: str
    text: str
    file: str | None = None
    skipped: str | None = None

    @property
    def runs(self) -> bool:
        return self.skipped is None and (self.file is not None or self.kind in ("console", "python"))

    @property
    def commands(self) -> list[tuple[str, list[str]]]:
        """Each command of a console block, and the lines shown as its output."""
        found: list[tuple[str, list[str]]] = []
        for line in self.text.splitlines():
            if line.startswith("$ "):
                found.append((line.removeprefix("$ "), []))
            else:
                found[-1][1].append(line)
        return found


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(text: str) -> list[Block]:
    """
    >>> blocks("<!-- file: a.csv -->\\n```csv\\n1,2\\n```\\n")
    [Block(kind='csv', text='1,2\\n', file='a.csv', skipped=None)]
    """
    found = []
    for match in _BLOCK.finditer(text):
        mark = {match["mark"]: match["what"]}
        found.append(Block(match["kind"], match["text"], mark.get("file"), mark.get("not run")))
    return found
