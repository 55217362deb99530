"""Output and exit codes of the commands."""

from __future__ import annotations

import json
import sys
from typing import Any

import typer

BROKEN_PIPE, WRONG_INPUT, RUNS_FAILED, INTERRUPTED = 1, 2, 3, 130
"""Exit codes: the first is that of typer and rich, the last is 128 plus the signal, as in shells."""


def print_json(value: Any) -> None:
    """Print one JSON document. NaN and infinity are not JSON and raise an error."""
    typer.echo(json.dumps(value, indent=2, allow_nan=False))


def talks_to_a_person() -> bool:
    """Whether standard error is a terminal."""
    return sys.stderr.isatty()
