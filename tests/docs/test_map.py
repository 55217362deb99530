"""The map in CONTRIBUTING.md shows the house as it is."""

from __future__ import annotations

import re
from pathlib import Path

from pages import ROOT, read

HOUSE = ROOT / "src" / "penstock"
OF_PAPERS = HOUSE / "papers"
"""One folder a paper: the map has a line for all of them."""


def rooms(folder: Path) -> set[str]:
    """The packages of the house, those of single papers apart."""
    found = {path.parent for path in folder.rglob("__init__.py")} - {HOUSE}
    inside = {path for path in found if OF_PAPERS in path.parents}
    return {f"{path.relative_to(ROOT).as_posix()}/" for path in found - inside}


def test_every_room_is_on_the_map_and_the_map_has_no_other() -> None:
    mapped = re.findall(r"^\| `(src/penstock/[\w/]+/)` \|", read("CONTRIBUTING.md"), re.M)
    assert len(mapped) == len(set(mapped))
    assert set(mapped) == rooms(HOUSE)


def test_the_layers_on_the_page_are_those_that_are_enforced() -> None:
    contract = read("pyproject.toml").partition("layers = [")[2].partition("]")[0]
    enforced = [set(re.findall(r"penstock\.(\w+)", line)) for line in contract.splitlines() if "penstock" in line]
    sentence = " ".join(read("CONTRIBUTING.md").partition("those below it only: ")[2].partition(". Inside")[0].split())
    shown = [set(re.split(r", | and ", layer)) for layer in sentence.split("; ")]
    assert shown == enforced[::-1]
