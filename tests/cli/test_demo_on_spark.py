"""`penstock demo` on real Spark, as a new user runs it: on both engines, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.spark

SECONDS = 20
"""In micro-batches the first windows are warm-up: a shorter run measures nothing."""


@pytest.mark.parametrize(
    ("engine", "words"), [("microbatch", "Spark micro-batches"), ("realtime", "Spark real-time mode on Kafka")]
)
def test_the_demo_runs_to_its_end_and_leaves_a_report(engine: str, words: str, tmp_path: Path) -> None:
    run = [sys.executable, "-c", "from penstock.cli.main import main; main()", "demo"]
    done = subprocess.run(
        [*run, "--engine", engine, "--seconds", str(SECONDS)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert f"{words}: warming up, then {SECONDS} s of clicks" in done.stdout
    assert "Traceback" not in done.stderr

    folder = tmp_path / "out" / "demo"
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    assert (result["policy"], result["workload"]) == ("ds2", "clicks")
    assert result["lost_records"] is None  # nobody counts them in a live run
    assert result["core_seconds"] > 0
    if "fixed_plan" in result:  # a machine so busy that no window is measured in time has nothing to compare with
        assert "core-seconds than the fixed plan" in " ".join(done.stdout.split())
        assert result["fixed_plan"]["seconds"] == pytest.approx(result["seconds"], abs=1.0)
    decisions = [json.loads(line) for line in (folder / "decisions.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {*decisions[-1]["parallelism"]} == {"parse", "enrich", "sessions", "publish"}
    assert {path.name for path in folder.iterdir()} >= {"report.md", "result.json", "decisions.jsonl"}
