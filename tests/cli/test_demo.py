"""`penstock demo` tells the story it promises, in figures."""

from __future__ import annotations

import json
from pathlib import Path

from command_line import Command


def test_the_demo_follows_the_surges_with_far_fewer_cores_and_says_what_it_cost(
    penstock: Command, tmp_path: Path
) -> None:
    outcome = penstock("demo", "--engine", "simulator", "--fast", "--report", tmp_path / "demo")

    assert outcome.code == 0
    result = json.loads((tmp_path / "demo" / "result.json").read_text())
    fixed = result["fixed_plan"]
    assert result["violation_ratio"] < 0.03
    assert result["core_seconds"] < 0.7 * fixed["core_seconds"]
    assert result["lost_records"] == 0
    assert fixed["rescales"] == 0
    assert fixed["violation_ratio"] == 0.0

    plans = [
        json.loads(line)["parallelism"] for line in (tmp_path / "demo" / "decisions.jsonl").read_text().splitlines()
    ]
    totals = [sum(plan.values()) for plan in plans]
    assert max(totals) > 2 * totals[0]
    assert totals[-1] <= 0.75 * max(totals)  # two surges came within the hour, so it keeps room for a third

    said = " ".join(outcome.out.split())
    assert f"{result['rescales']} changes; it was outside the targets" in said
    assert "fewer slot-seconds than the fixed plan (nominal: slots of the plan, times seconds)" in said
    assert outcome.err.count("penstock: 1:") >= 4  # a line now and then, where there is no terminal


def test_the_demo_writes_to_out_demo_unless_told_otherwise(penstock: Command) -> None:
    assert penstock("demo", "--engine", "simulator", "--fast", "--policy", "static").code == 0

    assert (Path("out") / "demo" / "picture.png").exists()


def test_a_wrong_policy_is_one_line(penstock: Command) -> None:
    for engine in ("microbatch", "realtime", "simulator"):
        assert penstock("demo", "--engine", engine, "--policy", "ds3").complaint.startswith("policy 'ds3' is not known")
    assert not Path("out").exists()


def test_any_workload_can_be_watched(penstock: Command, tmp_path: Path) -> None:
    outcome = penstock(
        "demo",
        "--engine",
        "simulator",
        "--workload",
        "dns",
        "--fast",
        "--policy",
        "static",
        "--report",
        tmp_path / "dns",
    )

    assert outcome.code == 0
    assert json.loads((tmp_path / "dns" / "result.json").read_text())["workload"] == "dns"


def test_a_workload_that_the_engine_cannot_run_is_one_line(penstock: Command) -> None:
    for engine in ("microbatch", "realtime"):
        complaint = penstock("demo", "--engine", engine, "--workload", "nexmark_q5").complaint
        assert complaint.startswith("workload 'nexmark_q5' runs on the simulator, Spark as a native query (it keeps")
        assert "choose one of" in complaint
    for engine in ("microbatch", "realtime", "simulator"):
        complaint = penstock("demo", "--engine", engine, "--workload", "dsn").complaint
        assert complaint.startswith("workload 'dsn' is not known; did you mean 'dns'?")
    assert not Path("out").exists()


def test_a_wrong_engine_is_one_line(penstock: Command) -> None:
    assert penstock("demo", "--engine", "micro").complaint.startswith("engine 'micro' is not known; did you mean")


def test_how_a_plan_changes_is_a_matter_of_real_time(penstock: Command) -> None:
    for engine in ("microbatch", "simulator"):
        complaint = penstock("demo", "--engine", engine, "--change", "handover").complaint
        assert complaint == "change must be left out without --engine realtime: nothing else is restarted"
    complaint = penstock("demo", "--engine", "realtime", "--change", "handovr").complaint
    assert complaint.startswith("change 'handovr' is not known; did you mean")
