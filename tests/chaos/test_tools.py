"""The tools of chaos that need no Spark: a clock that is set for one process, and the page of its results."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from chaos.holdings import Holdings
from chaos.outside import Account
from chaos.process_faults import has_compiler, made_clock, set_to
from chaos.run import Outcome, Run
from docs.generator import reliability

TELL = "import time; print(json.dumps([time.time(), time.monotonic()]))"


@pytest.mark.parametrize("off", [3_600, -3_600])
def test_the_wall_clock_of_one_process_is_set_and_no_other_clock(off: int, tmp_path: Path) -> None:
    if not has_compiler(tmp_path):
        pytest.skip("there is no C compiler")
    environment = made_clock(tmp_path)
    set_to(tmp_path, off)
    program = [sys.executable, "-c", f"import json; {TELL}"]
    told = subprocess.run(program, env={**os.environ, **environment}, capture_output=True, text=True, check=True)
    plain = subprocess.run(program, capture_output=True, text=True, check=True)
    (day, steady), (true_day, true_steady) = json.loads(told.stdout), json.loads(plain.stdout)
    # Whatever passed between the two passed on both clocks.
    assert (true_day - day) - (true_steady - steady) == pytest.approx(-off, abs=30)


def test_a_driver_in_which_something_piled_up_does_not_hold() -> None:
    before = Holdings(30, 40, 200, 300, 5, 4)
    for held, holds in [
        (Holdings(45, 60, 300, 450, 5, 6), True),
        (Holdings(46, 40, 200, 300, 5, 4), False),
        (Holdings(30, 40, 200, 300, 5, 7), False),
        (Holdings(30, 40, 200, 300, 6, 4), False),
    ]:
        run = Run("restart", 1, 1.0, 2, 1, 0, before, (Outcome("nothing", 1.0, 0, held),), Account(9, 0, 0), True)
        assert run.holds is holds, held


def test_the_page_says_what_came_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = Holdings(30, 40, 200, 300, 5, 3), Holdings(31, 42, 210, 290, 5, 4)
    outcomes = (Outcome("kill_worker", 12.3, 0, after), Outcome("fill_disk", 40.0, 2, before))
    run = Run("watched", 7, 600.0, 55, 3, 0, before, outcomes, Account(1_234, 0, 0, 5), False, ("set_clock",))
    results = tmp_path / "chaos.json"
    results.write_text(json.dumps([asdict(run)]), encoding="utf-8")
    monkeypatch.setattr(reliability, "RESULTS", results)
    text = reliability.reliability_page()
    assert "| watched | 7 | 10 | 55 | 2 | 1,234 | 0 | 5 | 0 | 0 |" in text
    assert f"| {reliability.FAULTS['kill_worker']} | watched | 1 | 12 | 12 | 0 |" in text
    assert f"| {reliability.FAULTS['fill_disk']} | watched | 1 | 40 | 40 | 2 |" in text
    assert "| watched | 7 | 30, 30 (31) | 40, 40 (42) | 200, 200 (210) | 300, 300 (300) | 5, 5 (5) | 3, 3 (4) |" in text
    assert f"Left out, as the machine did not allow it: {reliability.FAULTS['set_clock']}." in text


def test_the_page_says_that_there_are_no_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reliability, "RESULTS", tmp_path / "none.json")
    assert "No results are kept yet" in reliability.reliability_page()
