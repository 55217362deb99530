"""What the commands share in how they answer."""

from __future__ import annotations

import json
import sys
from typing import Any

import typer

BROKEN_PIPE, WRONG_INPUT, RUNS_FAILED, INTERRUPTED = 1, 2, 3, 130
"""Exit codes: the first is what typer and rich give for it, the last 128 plus the signal, as shells count."""


def print_json(value: Any) -> None:
    """One JSON document. NaN and infinity are not JSON: they are a mistake by whoever hands them here."""
    typer.echo(json.dumps(value, indent=2, allow_nan=False))


def talks_to_a_person() -> bool:
    """Whether standard error is a terminal: progress and live views go there or not at all."""
    return sys.stderr.isatty()
