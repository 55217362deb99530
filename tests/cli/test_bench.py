"""`penstock bench` and `simulate --seeds`: tables for people, JSON for programs, and nothing missing unsaid."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from command_line import Command

SHORT = ("--seconds", "600", "--master", "none")

BROKEN = """
class Broken:
    name = "broken"

    def decide(self, observation):
        raise RuntimeError("no idea")
"""


def without_wall_clock(result: dict[str, Any]) -> str:
    return json.dumps({name: value for name, value in result.items() if name not in ("decision_ms", "label")})


def test_the_table_has_a_line_for_each_policy_and_marks_the_best(penstock: Command) -> None:
    outcome = penstock("bench", "wordcount", "-p", "static", "-p", "ds2 utilisation=0.5", "--seeds", "2", *SHORT)

    assert outcome.code == 0
    assert "wordcount, trace surge, 2 seeds" in outcome.out
    assert "slot-s are nominal: slots of the plan, times seconds" in outcome.out
    (static,) = (line for line in outcome.out.splitlines() if line.strip().startswith("static"))
    (ds2,) = (line for line in outcome.out.splitlines() if line.strip().startswith("ds2 utilisation=0.5"))
    assert ds2.count("±") == static.count("±") == 3
    assert static.split()[4].endswith("*"), "static keeps the smallest plan"
    assert not ds2.split()[4].endswith("*")


def test_the_json_has_every_run_and_the_means_of_each_policy(penstock: Command) -> None:
    policies = ("-p", "ds2", "-p", "ds2 utilisation=0.5")
    found = penstock("bench", "wordcount", *policies, "--seeds", "2", "--seed", "5", "--json", *SHORT).json

    assert [(run["label"], run["policy"], run["seed"]) for run in found["runs"]] == [
        (label, "ds2", seed) for label in ("ds2", "ds2 utilisation=0.5") for seed in (5, 6)
    ]
    mean = found["summary"]["wordcount, trace surge"]["ds2"]["core_seconds"]["mean"]
    assert mean == sum(run["core_seconds"] for run in found["runs"][:2]) / 2
    assert found["failed"] == []
    assert found["stopped_early"] is False


def test_every_policy_is_measured_against_the_oracle_and_the_demand(penstock: Command, tmp_path: Path) -> None:
    picture = tmp_path / "pictures" / "rivals.png"
    run = ("bench", "clicks", "-p", "max", "-p", "ds2 utilisation=0.6", "--seeds", "2", *SHORT)
    found = penstock(*run, "--json", "--plot", picture).json

    summary, oracle = found["summary"]["clicks, trace evening"], found["oracles"]["clicks, trace evening"]
    assert list(summary) == ["max", "ds2 utilisation=0.6", "oracle"]
    for label in ("max", "ds2 utilisation=0.6", "oracle"):
        cores = summary[label]["core_seconds"]["mean"]
        assert summary[label]["oracle_ratio"]["mean"] == pytest.approx(cores / oracle["core_seconds"])
    assert summary["oracle"]["oracle_ratio"]["mean"] == pytest.approx(1.0)
    assert oracle["violation_ratio"] == summary["oracle"]["violation_ratio"]["mean"]
    costs = [cores for _, cores in oracle["frontier"]]
    assert costs == sorted(costs, reverse=True), "the frontier gets cheaper with each violation"
    assert (
        summary["max"]["elasticity"]["accuracy_over"]["mean"] > summary["oracle"]["elasticity"]["accuracy_over"]["mean"]
    )
    assert set(summary["max"]["elasticity"]) == {
        "accuracy_under", "accuracy_over", "normalised_under", "normalised_over", "timeshare_under", "timeshare_over",
        "instability", "jitter",
    }  # fmt: skip
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_tables_show_the_oracle_last_and_without_a_star(penstock: Command) -> None:
    outcome = penstock("bench", "clicks", "-p", "static", "--seeds", "1", *SHORT)

    (line,) = (line for line in outcome.out.splitlines() if line.strip().startswith("oracle"))
    assert "1.00" in line.split()
    assert "*" not in line
    assert "slots beside the demand d" in outcome.out


def test_without_an_oracle_nothing_is_compared_with_it(penstock: Command) -> None:
    found = penstock("bench", "-p", "static", "--seeds", "1", "--no-oracle", "--json", *SHORT).json

    assert list(found["summary"]["clicks, trace evening"]) == ["static"]
    assert found["summary"]["clicks, trace evening"]["static"]["oracle_ratio"] is None
    assert found["oracles"] == {}


def test_gaps_of_a_load_file_are_filled_if_that_is_asked_for(penstock: Command, tmp_path: Path) -> None:
    path = tmp_path / "gaps.csv"
    path.write_text("t_seconds,rate\n0,1\n60,2\n240,4\n300,4\n")
    bench = ("bench", "-p", "static", "--trace", path, "--seeds", "1", "--no-oracle", "--json", "--master", "none")
    simulate = ("simulate", "clicks", "-p", "static", "--trace", path, "--json")

    for command in (bench, simulate):
        assert "t_seconds must be evenly spaced by 60 s, but 240 follows 60" in penstock(*command).complaint
    assert penstock(*bench, "--fill-gaps").json["runs"][0]["seconds"] == 300.0
    assert penstock(*simulate, "--fill-gaps").json["seconds"] == 300.0


def test_loads_are_curves_or_files_scaled_to_the_jobs_own_peak(penstock: Command, tmp_path: Path) -> None:
    path = tmp_path / "ramp.csv"
    path.write_text("t_seconds,rate\n0,1\n300,2\n600,4\n")

    found = penstock("bench", "-p", "static", "--trace", "surge", "--trace", path, "--seeds", "1", "--json", *SHORT)

    assert [run["trace"] for run in found.json["runs"]] == ["surge", "ramp"]
    assert list(found.json["summary"]) == ["clicks, trace surge", "clicks, trace ramp", "all loads"]
    assert found.json["summary"]["all loads"]["static"]["runs"] == 2


def test_a_failed_run_is_named_and_the_exit_code_says_so(
    penstock: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "breaking.py").write_text(BROKEN)
    monkeypatch.syspath_prepend(tmp_path)

    outcome = penstock("bench", "-p", "static", "-p", "breaking:Broken", "--seeds", "1", "--json", *SHORT)

    assert outcome.code == 3
    assert [run["policy"] for run in outcome.json["runs"]] == ["static"]
    (failed,) = outcome.json["failed"]
    assert (failed["policy"], failed["seed"]) == ("breaking:Broken", 0)
    assert "failed: breaking:Broken on clicks, evening, seed 0: BrokenRunError" in outcome.err


def test_simulate_with_seeds_gives_what_single_runs_give(penstock: Command) -> None:
    run = ("simulate", "wordcount", "-p", "psps", "--seconds", "600", "--json")
    many = penstock(*run, "--seed", "3", "--seeds", "2", "--master", "none").json
    single = [penstock(*run, "--seed", seed).json for seed in ("3", "4")]

    assert list(map(without_wall_clock, many["runs"])) == list(map(without_wall_clock, single))
    assert many["summary"]["runs"] == 2


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        (["bench", "-p", "ds3"], "policy 'ds3' is not known"),
        (["bench", "-p", "ds2 utilisation"], "--policy ds2 must be name=value, not 'utilisation'"),
        (["bench", "clacks"], "workload 'clacks' is not known; did you mean 'clicks'?"),
        (["bench", "--trace", "sinus"], "--trace must be a .csv file or one of constant, steps,"),
        (["bench", "--trace", "missing.csv"], "trace missing.csv cannot be read"),
        (["simulate", "clicks", "-p", "ds2", "--seeds", "2", "--report", "r"], "--report must not be given with"),
    ],
)
def test_a_wrong_value_is_one_line(penstock: Command, command: list[str], complaint: str) -> None:
    assert penstock(*command).complaint.startswith(complaint)
