"""`penstock demo` on real Spark, as a new user runs it: on both engines, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.spark

WORDS = {"microbatch": "Spark micro-batches", "realtime": "Spark real-time mode on Kafka"}
SECONDS = 20
"""In micro-batches the first windows are warm-up: a shorter run measures nothing."""


@dataclass(frozen=True)
class Demo:
    """What a demo left behind."""

    code: int
    out: str
    err: str
    folder: Path


@pytest.fixture(scope="module")
def demos(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Demo]:
    """Both at the same time: most of a demo is waiting."""
    command = [sys.executable, "-c", "from penstock.cli.main import main; main()", "demo", "--seconds", str(SECONDS)]
    folders = {engine: tmp_path_factory.mktemp(engine) for engine in WORDS}
    running = {
        engine: subprocess.Popen(
            [*command, "--engine", engine], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for engine, folder in folders.items()
    }
    said = {engine: process.communicate() for engine, process in running.items()}
    return {
        engine: Demo(process.returncode, *said[engine], folders[engine] / "out" / "demo")
        for engine, process in running.items()
    }


@pytest.mark.parametrize("engine", WORDS)
def test_the_demo_runs_to_its_end_and_leaves_a_report(engine: str, demos: dict[str, Demo]) -> None:
    demo = demos[engine]
    assert demo.code == 0, demo.err
    assert f"{WORDS[engine]}: warming up, then {SECONDS} s of clicks" in demo.out
    assert "Traceback" not in demo.err

    result = json.loads((demo.folder / "result.json").read_text(encoding="utf-8"))
    assert (result["policy"], result["workload"]) == ("predictive", "clicks")
    assert result["lost_records"] is None  # nobody counts them in a live run
    said, fixed = " ".join(demo.out.split()), result["fixed_plan"]  # it has really run, for as long
    assert "slot-seconds than the fixed plan (nominal: slots of the plan, times seconds)" in said
    assert fixed["rescales"] == 0
    for run in (result, fixed):
        assert run["seconds"] >= SECONDS
    slots = fixed["core_seconds"] / fixed["seconds"]
    assert slots == pytest.approx(round(slots))
    lines = (demo.folder / "decisions.jsonl").read_text(encoding="utf-8").splitlines()
    assert {*json.loads(lines[-1])["parallelism"]} == {"parse", "enrich", "sessions", "publish"}
    assert {path.name for path in demo.folder.iterdir()} >= {"report.md", "result.json", "decisions.jsonl"}
