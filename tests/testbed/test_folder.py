"""A real process is ended by a real signal, and nothing of it stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from patience import wait_for
from penstock.spark.topics.offsets import Offsets
from penstock.testbed.folder import ProcessFolder

A_CHILD_THAT_GOES_ON = """
import subprocess
from penstock.testbed.folder import ProcessFolder
folder = ProcessFolder("penstock-")
child = subprocess.Popen(["sh", "-c", "read _"], stdin=subprocess.PIPE, pass_fds=folder.held)
other = subprocess.Popen(["sleep", "600"], pass_fds=folder.held, start_new_session=True)
print(other.pid, flush=True)
child.wait()
"""


@contextmanager
def running(folder: Path, *command: str) -> Iterator[subprocess.Popen[str]]:
    """A Python with its own folder for temporary files."""
    owner = subprocess.Popen(
        [sys.executable, *command], env={**os.environ, "TMPDIR": str(folder)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        yield owner
    finally:
        owner.kill()
        owner.communicate()


def said(owner: subprocess.Popen[str]) -> str:
    assert owner.stdout is not None
    return owner.stdout.readline().strip()


def ended(owner: subprocess.Popen[str]) -> int:
    """By SIGTERM, as a supervisor does it."""
    owner.send_signal(signal.SIGTERM)
    return owner.wait()


def test_a_folder_stays_until_the_last_process_that_holds_it_has_ended(tmp_path: Path) -> None:
    with running(tmp_path, "-c", A_CHILD_THAT_GOES_ON) as owner:
        other = int(said(owner))
        assert ended(owner) == -signal.SIGTERM
        assert list(tmp_path.glob("penstock-*"))
        os.kill(other, signal.SIGTERM)
        wait_for(lambda: not list(tmp_path.iterdir()), "an empty folder")


def test_a_folder_may_be_closed_twice() -> None:
    folder = ProcessFolder("penstock-")
    folder.close()
    folder.close()
    assert not folder.path.exists()


@pytest.mark.spark
def test_a_cluster_that_is_ended_by_a_signal_leaves_nothing_behind_and_says_where_its_page_is(tmp_path: Path) -> None:
    with running(tmp_path, "-m", "penstock.testbed.standalone", "--workers", "1", "--cores", "1") as owner:
        assert said(owner).startswith("spark://127.0.0.1:")
        assert list(tmp_path.glob("penstock-cluster-*/worker-0"))
        assert ended(owner) == -signal.SIGTERM
        assert said(owner).startswith("the master's page: http://127.0.0.1:")  # nothing, if that was not said
        wait_for(lambda: not list(tmp_path.glob("penstock-*")), "an empty folder")


@pytest.mark.spark
def test_a_broker_that_is_ended_by_a_signal_leaves_nothing_behind(tmp_path: Path) -> None:
    with running(tmp_path, "-m", "penstock.testbed.broker", "lines", "--partitions", "2", "--rate", "100") as owner:
        servers = said(owner)
        assert servers.startswith("127.0.0.1:")
        assert list(tmp_path.glob("penstock-kafka-*/data"))
        wait_for(lambda: (Offsets(servers).ends(["lines"]) or {"lines": 0})["lines"] > 0, "lines")
        assert Offsets(servers).partitions("lines") == 2
        assert ended(owner) == -signal.SIGTERM
        wait_for(lambda: not list(tmp_path.glob("penstock-*")), "an empty folder")
