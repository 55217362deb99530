"""What tests of the command line share."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        def refuse(word: str) -> None:
            raise AssertionError(f"{word} is not JSON")

        return json.loads(self.out, parse_constant=refuse)

    @property
    def complaint(self) -> str:
        """The one line of a refusal, after its shape was checked."""
        assert self.code == 2
        assert self.out == ""
        (line,) = self.err.splitlines()
        return line.removeprefix("penstock: ")


Command = Callable[..., Outcome]
"""Takes the arguments of a command, and perhaps its standard input."""
