"""How the command begins and ends, whatever it is asked."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from command_line import Command
from penstock import __version__

COMMANDS = (
    "demo", "simulate", "bench", "dashboard", "decide", "reproduce", "policies", "guards", "forecasters", "workloads",
    "run",
)  # fmt: skip
MAIN = "from penstock.cli.main import main; main()"


def shell(*arguments: str, stdout: int = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", MAIN, *arguments], stdout=stdout, stderr=subprocess.PIPE, text=True, check=False
    )


HEAVY = {"numpy", "numba", "matplotlib", "scipy", "pandas", "sqlalchemy", "pydantic", "pyspark"}


def loaded_after(script: str) -> set[str]:
    """Which of the heavy libraries a fresh Python has imported in the end."""
    script += "\nimport sys; print(*sys.modules, file=sys.stderr)"
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return HEAVY & set(answer.stderr.split())


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_80_columns_and_cuts_no_type_in_two(
    penstock: Command, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    outcome = penstock(*filter(None, [command]), "--help")
    assert outcome.code == 0
    for line in outcome.out.splitlines():
        assert len(line) <= 80
        assert not re.search(r"<[a-z][^>]*$", line), line


def test_importing_the_command_line_imports_nothing_heavy() -> None:
    assert loaded_after("import penstock.cli.main") == set()


def test_help_brings_in_nothing_heavy_but_what_typer_itself_needs() -> None:
    help_text = "from penstock.cli.main import run; assert run(['simulate', '--help']) == 0"

    assert loaded_after(help_text) <= {"pydantic"}


def test_to_list_the_workloads_or_simulate_one_takes_no_spark() -> None:
    for arguments in (["workloads", "--json"], ["simulate", "clicks", "--policy", "static", "--seconds", "60"]):
        assert "pyspark" not in loaded_after(f"from penstock.cli.main import run; assert run({arguments}) == 0")


def test_help_names_every_command(penstock: Command) -> None:
    outcome = penstock("--help")

    assert outcome.code == 0
    assert all(f" {command} " in outcome.out for command in COMMANDS)


def test_without_a_command_it_shows_the_same_help(penstock: Command) -> None:
    assert penstock().out.rstrip() == penstock("--help").out.rstrip()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_an_example(penstock: Command, command: str) -> None:
    outcome = penstock(command, "--help")

    assert outcome.code == 0
    assert f"Example: penstock {command} " in " ".join(outcome.out.split())


def test_it_tells_its_version(penstock: Command) -> None:
    assert penstock("--version").out == f"penstock {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["simulate", "wordcount", "--polcy", "ds2"], "No such option: --polcy"),
        (["simulate", "wordcount"], "Missing option '--policy'"),
        (["simulate", "--policy", "ds2"], "Missing argument"),
        (["simulate", "wordcount", "--policy", "ds2", "--seed", "x"], "Invalid value for '--seed'"),
        (["simulate", "wordcount", "--policy", "ds2", "--seed", "-1"], "Invalid value for '--seed'"),
        (["simulate", "wordcount", "--policy", "ds2", "--change", "never"], "Invalid value for '--change'"),
        (["simulat"], "No such command 'simulat'"),
        (["decide", "--policy", "ds2"], "Missing argument"),
        (["policies", "ds2", "drs"], "unexpected extra argument"),
    ],
)
def test_a_slip_in_the_arguments_is_one_line_and_exit_code_2(
    penstock: Command, arguments: list[str], complaint: str
) -> None:
    assert complaint in penstock(*arguments).complaint


def test_a_real_process_answers_the_same_way() -> None:
    wrong = shell("simulate", "wordcont", "--policy", "ds2")

    assert wrong.returncode == 2
    assert wrong.stdout == ""
    assert wrong.stderr.startswith("penstock: workload 'wordcont' is not known; did you mean 'wordcount'?")
    assert wrong.stderr.count("\n") == 1


def test_a_reader_who_leaves_is_not_an_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        answer = shell("policies", "--json", stdout=writing)
    finally:
        os.close(writing)

    assert answer.stderr == ""
    assert answer.returncode == 1
