"""The command line, called as a shell would call it, but in this process."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from command_line import Command, Outcome
from penstock.cli.main import run


@pytest.fixture
def penstock(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Command:
    """Runs a command in an empty folder of its own, on a terminal of 100 columns."""
    monkeypatch.chdir(tmp_path_factory.mktemp("here"))
    monkeypatch.setenv("COLUMNS", "100")

    def call(*arguments: str | Path, stdin: str = "") -> Outcome:
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        capfd.readouterr()
        code = run([os.fspath(argument) for argument in arguments])
        out, err = capfd.readouterr()
        return Outcome(code, out, err)

    return call
