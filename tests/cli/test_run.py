"""`penstock run`: a script runs as it would without, and ends as it would. What it does on a cluster is in
tests/spark/application/test_run.py."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cluster_story import environment
from command_line import Command
from patience import wait_for

OPTIONS = ("--slo-event", "10 s", "--executors", "1:3")


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "penstock", "run", *arguments]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), env=environment(), capture_output=True, text=True, check=False
    )  # fmt: skip


@pytest.fixture
def script(tmp_path: Path) -> Path:
    return tmp_path / "app.py"


def test_all_that_stands_behind_the_script_is_its_own(script: Path, tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("HERE = 'a module beside it'", encoding="utf-8")
    script.write_text(
        "import sys, beside\nassert __name__ == '__main__'\nprint(sys.argv[1:], beside.HERE)", encoding="utf-8"
    )
    done = run(*OPTIONS, str(script), "--mode", "fast", "-x", "--", "--help")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "['--mode', 'fast', '-x', '--', '--help'] a module beside it\n"
    assert done.stderr == "Penstock watched nothing\n"


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("pass", 0, ""),
        ("import sys; sys.exit(7)", 7, ""),
        ("import sys; sys.exit(-1)", 255, ""),
        ("import sys; sys.exit('no topic')", 1, "no topic"),
        ("raise KeyboardInterrupt", 130, ""),
        ("def job():\n    raise KeyError('clicks')\njob()", 1, "KeyError: 'clicks'"),
    ],
)
def test_its_exit_code_is_the_scripts(script: Path, text: str, code: int, said: str) -> None:
    script.write_text(text, encoding="utf-8")
    done = run(*OPTIONS, str(script))
    assert done.returncode == code
    assert said in done.stderr
    assert done.stderr.endswith("Penstock watched nothing\n")


def test_a_traceback_begins_in_the_script(script: Path) -> None:
    script.write_text("def job():\n    raise KeyError('clicks')\njob()", encoding="utf-8")
    lines = run(*OPTIONS, str(script)).stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert str(script) in lines[1]
    assert not [line for line in lines if "runpy" in line]


def test_a_script_that_is_terminated_ends_in_its_own_way_and_with_the_report(script: Path, tmp_path: Path) -> None:
    script.write_text(
        "import pathlib, threading\n"
        "try:\n    pathlib.Path('runs').touch()\n    threading.Event().wait()\n"
        "finally:\n    print('closed')",
        encoding="utf-8",
    )
    process = subprocess.Popen(
        command(*OPTIONS, str(script)), cwd=tmp_path, env=environment(), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    wait_for((tmp_path / "runs").exists)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate()
    assert (process.returncode, out, err) == (143, "closed\n", "Penstock watched nothing\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--executors", "3", "app.py"), "--executors must be the fewest and the most, such as 1:20, not '3'"),
        (("--executors", "3:1", "app.py"), "--executors must be at least 1 and not fall, not '3:1'"),
        (("--executors", "1:3", "--mode", "passive", "app.py"), "mode 'passive' is not known"),
        (("--executors", "1:3", "--slo-event", "10", "app.py"), "slo: event_latency must be a time with its unit"),
        (("--executors", "1:3", "--policy-option", "a=1", "app.py"), "--policy-option needs --policy"),
        (("--executors", "1:3", "--conf", "spark.x", "app.py"), "--conf must be name=value, not 'spark.x'"),
        (("--executors", "1:3", "--wait", "soon", "app.py"), "--wait must be a time with its unit"),
        (("--executors", "1:3", "--policy", "ds3", "app.py"), "'ds3' is not known; did you mean 'ds2'?"),
        (("--executors", "1:3", "missing.py"), "script missing.py is not a file"),
    ],
)
def test_what_is_wrong_is_one_sentence(arguments: tuple[str, ...], said: str, penstock: Command) -> None:
    Path("app.py").write_text("raise AssertionError('it must not run')", encoding="utf-8")
    assert said in penstock("run", *arguments).complaint
