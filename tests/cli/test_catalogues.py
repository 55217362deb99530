"""What there is, listed for people and for programs."""

from __future__ import annotations

import pytest

from command_line import Command
from penstock.cli.workloads import workloads
from penstock.guards import DEFAULT_ORDER
from penstock.policies import POLICIES


def test_every_policy_is_listed_with_its_source_and_options(penstock: Command) -> None:
    listed = {entry["name"]: entry for entry in penstock("policies", "--json").json}

    assert sorted(listed) == POLICIES.names()
    assert listed["ds2"]["source"].startswith("DS2 (OSDI 2018)")
    assert all(entry["summary"] for entry in listed.values())
    (utilisation,) = listed["ds2"]["options"]
    assert utilisation == {
        "name": "utilisation",
        "meaning": "how busy instances may be; 1 is the paper's, less leaves headroom",
        "unit": "ratio",
        "type": "float",
        "default": 1.0,
    }


def test_one_policy_is_shown_in_detail(penstock: Command) -> None:
    shown = penstock("policies", "ds2").out

    assert "DS2 (OSDI 2018)" in shown
    assert "utilisation" in shown
    assert "ratio" in shown
    assert penstock("policies", "ds2", "--json").json["name"] == "ds2"


@pytest.mark.parametrize("kind", ["policies", "guards", "forecasters", "workloads"])
def test_the_table_names_all_that_the_json_names(penstock: Command, kind: str) -> None:
    entries, table = penstock(kind, "--json").json, penstock(kind).out

    assert entries
    for entry in entries:
        assert f" {entry['name']} " in table
        assert penstock(kind, entry["name"]).code == 0


def test_every_default_guard_is_there(penstock: Command) -> None:
    assert {entry["name"] for entry in penstock("guards", "--json").json} >= set(DEFAULT_ORDER)


def test_a_workload_tells_its_operators_target_and_load(penstock: Command) -> None:
    listed = {entry["name"]: entry for entry in penstock("workloads", "--json").json}

    assert set(listed) == set(workloads())
    assert listed["wordcount"]["slo"] == {"processing_latency_ms": 180.0, "statistic": "mean"}
    assert [operator["name"] for operator in listed["wordcount"]["operators"]] == [
        "source", "flat_map", "count", "sink",
    ]  # fmt: skip
    assert listed["wordcount"]["trace"] == {"name": "surge", "seconds": 7200.0, "peak": 350e3}
    assert "20 s of standstill" in penstock("workloads", "wordcount").out


@pytest.mark.parametrize(
    ("name", "places", "words"),
    [
        ("yahoo", ["simulator", "microbatch", "realtime"], "Spark in micro-batches and in real time"),
        ("nexmark_q11", ["simulator", "native"], "Spark as a native query (it keeps state"),
        ("wordcount_case_study", ["simulator"], "Runs on: the simulator\n"),
    ],
)
def test_a_workload_tells_on_what_it_runs(penstock: Command, name: str, places: list[str], words: str) -> None:
    assert penstock("workloads", name, "--json").json["runs_on"] == places
    assert words in penstock("workloads", name).out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["policies", "ds3"], "policy 'ds3' is not known; did you mean 'ds2'?"),
        (["guards", "patients"], "guard 'patients' is not known; did you mean 'patience'?"),
        (["forecasters", "hold"], "forecaster 'hold' is not known; did you mean 'holt'?"),
        (["workloads", "wordcont", "--json"], "workload 'wordcont' is not known; did you mean 'wordcount'?"),
    ],
)
def test_what_there_is_not_is_refused_by_name(penstock: Command, arguments: list[str], complaint: str) -> None:
    assert penstock(*arguments).complaint.startswith(complaint)
