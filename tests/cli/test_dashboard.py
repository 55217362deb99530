"""`penstock dashboard`: what it serves, and one sentence for what it cannot."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from command_line import Command


@pytest.mark.parametrize("named", ["folder", "file", "url"])
def test_the_folder_of_a_simulation_its_database_or_a_url_is_served(
    penstock: Command, tmp_path: Path, named: str
) -> None:  # fmt: skip
    report = tmp_path / "report"
    assert penstock("simulate", "clicks", "-p", "ds2", "--seconds", "1200", "--report", report, "--json").code == 0
    store = {"folder": str(report), "file": str(report / "history.db"), "url": f"sqlite:///{report / 'history.db'}"}
    command = [sys.executable, "-c", "from penstock.cli.main import main; main()", "dashboard", "--port", "0"]
    with subprocess.Popen([*command, store[named]], stdout=subprocess.PIPE, text=True) as served:
        try:
            assert served.stdout is not None
            words = served.stdout.readline().split()
            address = next(word for word in words if word.startswith("http://127.0.0.1:"))
            with urllib.request.urlopen(f"{address}api/jobs") as answer:
                assert [job["name"] for job in json.load(answer)["jobs"]] == ["clicks ds2"]
        finally:
            served.terminate()


@pytest.mark.parametrize(
    ("store", "sentence"),
    [
        (
            "nowhere",
            "nowhere is neither a file nor a folder: name a store such as sqlite:///penstock.db, or the folder",
        ),
        (".", ". has no history.db: name a store such as"),
        ("floppy://disk", "store floppy://disk cannot be used: "),
    ],
)
def test_what_cannot_be_served_is_one_sentence(penstock: Command, store: str, sentence: str) -> None:
    assert penstock("dashboard", store).complaint.startswith(sentence)
