"""Every decision of a run as one JSON line, written as it goes, so that memory stays constant."""

from __future__ import annotations

import json
from typing import TextIO

from penstock.model import Cycle
from penstock.stores.cycle_json import cycle_json


class Journal:
    """Writes each cycle that it is called with to a file."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def __call__(self, cycle: Cycle) -> None:
        self._file.write(json.dumps(cycle_json(cycle), allow_nan=False, separators=(",", ":")) + "\n")
