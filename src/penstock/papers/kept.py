"""Keeps what experiments found in a folder, one file each, so that hours of runs can be made in several sittings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from penstock.model import PenstockError
from penstock.report.folder import ReportFolder
from penstock.report.item import Item
from penstock.stores.codec import from_json, to_json


@dataclass(frozen=True)
class KeptItems:
    """A folder with a file for each item of each paper. What is there is not run again."""

    folder: Path

    def get(self, paper: str, key: str) -> Item | None:
        """The item as it was found before; None if it was not."""
        path = self.folder / self._name(paper, key)
        try:
            return from_json(Item, path.read_text(encoding="utf-8")) if path.exists() else None
        except (OSError, UnicodeDecodeError, PenstockError) as error:
            raise PenstockError(f"{path} cannot be read, delete it to run the item again: {error}") from None

    def put(self, paper: str, key: str, item: Item) -> None:
        ReportFolder(self.folder).put(self._name(paper, key), (to_json(item) + "\n").encode())

    @staticmethod
    def _name(paper: str, key: str) -> str:
        return f"{paper}-{key}.json"
