"""`penstock simulate`: its JSON, its report, its ways to be steered, and what it refuses."""

from __future__ import annotations

import json
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from command_line import Command
from penstock.cli.interrupt import Interrupt
from penstock.stores import open_store

FIELDS = [
    "policy", "workload", "trace", "seed", "seconds", "violation_ratio", "core_seconds", "mean_parallelism", "rescales",
    "processed_ratio", "throughput_degradation", "saved_resources", "lost_records", "processing_latency_ms",
    "event_latency_ms", "decision_ms",
]  # fmt: skip

RUN = ("simulate", "wordcount", "--policy", "ds2", "--seconds", "600")


def without_wall_clock(result: dict[str, Any]) -> str:
    return json.dumps({name: value for name, value in result.items() if name != "decision_ms"})


# What comes out ------------------------------------------------------------------------------------------------------


def test_the_json_has_every_field_that_programs_rely_on(penstock: Command) -> None:
    outcome = penstock(*RUN, "--json")

    assert outcome.code == 0
    assert list(outcome.json) == FIELDS
    assert outcome.json["policy"] == "ds2"
    assert outcome.json["workload"] == "wordcount"
    assert outcome.json["seconds"] == 600.0
    assert set(outcome.json["event_latency_ms"]) == {"mean", "p50", "p95", "p99"}
    assert set(outcome.json["decision_ms"]) == {"p50", "p99"}


def test_the_same_seed_is_the_same_run_and_another_seed_another(penstock: Command) -> None:
    first, again, other = (penstock(*RUN, "--json", "--seed", seed).json for seed in ("3", "3", "4"))

    assert without_wall_clock(first) == without_wall_clock(again)
    assert (first["seed"], other["seed"]) == (3, 4)
    assert without_wall_clock(first) != without_wall_clock(other | {"seed": 3})


def test_without_json_it_prints_tables_with_reasons(penstock: Command) -> None:
    outcome = penstock(*RUN)

    assert outcome.code == 0
    assert "ds2 on wordcount, trace surge: 10 min, seed 0" in outcome.out
    assert "scale_up: count would be busy 353%" in " ".join(outcome.out.split())


def test_the_report_has_the_same_result_and_every_decision(penstock: Command, tmp_path: Path) -> None:
    outcome = penstock(*RUN, "--report", tmp_path / "run", "--json")

    assert json.loads((tmp_path / "run" / "result.json").read_text()) == outcome.json
    lines = (tmp_path / "run" / "decisions.jsonl").read_text().splitlines()
    assert [json.loads(line)["t"] for line in lines] == [60.0 * minute for minute in range(1, 11)]
    assert (tmp_path / "run" / "picture.png").stat().st_size > 10_000
    assert (tmp_path / "run" / "report.md").read_text().startswith("# ds2 on wordcount")


@pytest.mark.parametrize("quiet", ["--no-report", "--json"])
def test_a_run_for_programs_or_without_a_report_writes_nothing(quiet: str, penstock: Command) -> None:
    assert penstock(*RUN, quiet).code == 0

    assert list(Path.cwd().iterdir()) == []


def test_a_run_for_people_leaves_its_report_where_it_says(penstock: Command) -> None:
    outcome = penstock(*RUN)

    assert "Report: out/wordcount-ds2, picture: out/wordcount-ds2/picture.png" in outcome.out
    assert Path("out/wordcount-ds2/picture.png").read_bytes().startswith(b"\x89PNG")


def test_the_store_remembers_every_cycle(penstock: Command, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'run.db'}"
    assert penstock(*RUN, "--store", url, "--json").code == 0

    store = open_store(url, job="wordcount ds2 0")
    assert [cycle.t for cycle in store.recent(100)] == [60.0 * minute for minute in range(1, 11)]
    store.close()


# How it can be steered -----------------------------------------------------------------------------------------------


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "busy.csv"
    path.write_text("t_seconds,rate\n" + "".join(f"{60 * i},{1000 * (1 + i % 2)}\n" for i in range(11)))
    return path


def test_a_trace_is_scaled_to_a_peak_compressed_and_cut(penstock: Command, trace: Path) -> None:
    fixed = ("simulate", "wordcount", "-p", "static", "--trace", trace, "--json")
    whole = penstock(*fixed).json
    short = penstock(*fixed, "--compress", "2", "--peak", "90000", "--seconds", "240").json

    assert (whole["trace"], whole["seconds"]) == ("busy", 600.0)
    assert short["seconds"] == 240.0
    # One instance of count carries 31k records/s: a peak of 2k is easy for it, one of 90k is not.
    assert whole["processed_ratio"] > 0.99
    assert short["processed_ratio"] < 0.7


def test_options_reach_the_policy(penstock: Command) -> None:
    tight, roomy = (penstock(*RUN, "--no-guards", "--json", "-o", f"utilisation={u}").json for u in ("1", "0.5"))

    assert roomy["mean_parallelism"] > 1.5 * tight["mean_parallelism"]


def test_options_that_are_mappings_or_texts_reach_the_policy_too(penstock: Command) -> None:
    plan = '{"source": 1, "flat_map": 2, "count": 5, "sink": 4}'
    result = penstock(
        "simulate", "wordcount", "-p", "static", "-o", "kind=expert", "-o", f"parallelism={plan}", "--seconds", "600",
        "--no-guards", "--json",
    ).json  # fmt: skip

    assert result["rescales"] == 1
    assert result["mean_parallelism"] == pytest.approx((60 * 4 + 540 * 12) / 600)


def test_guards_vet_by_default_and_can_be_tuned_or_left_out(penstock: Command) -> None:
    roomy = (*RUN, "--policy-option", "utilisation=0.75", "--json")
    runs = {
        "tuned": penstock(*roomy, "--guard-option", "max_step.first_factor=4").json,
        "none": penstock(*roomy, "--no-guards").json,
        "quota": penstock(*roomy, "--guard-option", "quota.slots=5").json,
        "off": penstock(*roomy, "--guard-option", "max_step=off").json,
    }

    # The first step wants more than four times the present parallelism.
    assert runs["tuned"]["rescales"] == 2
    assert runs["none"]["rescales"] == runs["off"]["rescales"] == 1
    assert runs["quota"]["mean_parallelism"] < 5


def test_a_forecaster_can_be_chosen(penstock: Command) -> None:
    surge = ("simulate", "clicks", "-p", "ds2", "--seconds", "1800", "--json")

    assert without_wall_clock(penstock(*surge, "--forecaster", "linear").json) != without_wall_clock(
        penstock(*surge).json
    )


def test_targets_can_be_changed_and_dropped(penstock: Command) -> None:
    def violations(*targets: str) -> float:
        result = penstock("simulate", "clicks", "-p", "static", "--seconds", "600", "--json", *targets).json
        ratio: float = result["violation_ratio"]
        return ratio

    assert violations() == 0.0
    assert violations("--slo-event", "1 ms") == 1.0
    assert violations("--slo-event", "none", "--slo-processing", "1 ms") == 1.0
    assert violations("--slo-event", "none") == 0.0
    assert violations("--slo-event", "200 ms", "--slo-statistic", "p99") > 0.5


def test_what_a_change_costs_can_be_chosen(penstock: Command) -> None:
    live, restart = (penstock(*RUN, "--change", change, "--json").json for change in ("live", "restart"))

    assert live["event_latency_ms"]["mean"] < restart["event_latency_ms"]["mean"]


# Ctrl-C --------------------------------------------------------------------------------------------------------------

IMPATIENT = """
import signal

from penstock.model import Decision, ReasonCode


class Impatient:
    '''Presses Ctrl-C at its third decision.'''

    name, times = "impatient", 0

    def decide(self, observation):
        self.times += 1
        if self.times == 3:
            signal.raise_signal(signal.SIGINT)
        return Decision.hold(observation.plan, ReasonCode.STEADY, "waiting")
"""


def test_ctrl_c_ends_a_run_with_the_report_of_what_was_run(
    penstock: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "impatience.py").write_text(IMPATIENT)
    monkeypatch.syspath_prepend(tmp_path)
    before = signal.getsignal(signal.SIGINT)

    outcome = penstock("simulate", "wordcount", "-p", "impatience:Impatient", "--report", tmp_path / "run")

    assert outcome.code == 130
    assert "3 min, seed 0, stopped early" in outcome.out
    assert json.loads((tmp_path / "run" / "result.json").read_text())["seconds"] == 180.0
    assert len((tmp_path / "run" / "decisions.jsonl").read_text().splitlines()) == 3
    assert signal.getsignal(signal.SIGINT) is before


def test_a_second_ctrl_c_ends_it_at_once() -> None:
    with Interrupt() as interrupt:
        assert not interrupt()
        signal.raise_signal(signal.SIGINT)
        assert interrupt()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_a_run_on_another_thread_leaves_the_signals_alone() -> None:
    before = signal.getsignal(signal.SIGINT)

    def enter() -> None:
        with Interrupt() as interrupt:
            assert not interrupt()

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()

    assert signal.getsignal(signal.SIGINT) is before


# What is refused -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        (["--policy", "ds3"], "policy 'ds3' is not known; did you mean 'ds2'?"),
        (["--policy", "no_such_module:Policy"], "policy 'no_such_module:Policy' cannot be loaded"),
        (
            ["--policy-option", "utilization=1"],
            "policy ds2: option 'utilization' is not known; did you mean 'utilisation'?",
        ),
        (["--policy-option", "utilisation=high"], "policy ds2: utilisation must be of type float, not 'high'"),
        (["--policy-option", "utilisation=NaN"], "policy ds2: utilisation must be a number, not nan"),
        (["--policy-option", "utilisation"], "--policy-option must be name=value, not 'utilisation'"),
        (["--forecaster", "oracle"], "forecaster 'oracle' is not known"),
        (["--forecaster-option", "alpha=1"], "Invalid value: --forecaster-option needs --forecaster"),
        (["--guard-option", "patients.seconds=1"], "guard 'patients' is not known; did you mean 'patience'?"),
        (["--guard-option", "patience.second=1"], "guard patience: option 'second' is not known"),
        (["--guard-option", "patience=60"], "--guard-option must be guard.name=value or guard=off, not patience=60"),
        (["--peak", "-1"], "peak must be a finite number of at least 0, not -1.0"),
        (["--peak", "nan"], "peak must be a finite number"),
        (["--compress", "0"], "compress must be a finite number"),
        (["--seconds", "0"], "seconds must be a finite number"),
        (["--interval", "0 s"], "interval must be positive"),
        (["--interval", "1000000 h"], "interval must be at most 1000000 steps of 1 s"),
        (["--peak", "1e17"], "trace surge: rate at"),
        (["--step", "61"], "step_seconds must not exceed the interval, 60 s"),
        (["--slo-event", "500"], "slo: event_latency must be a time with its unit"),
        (["--slo-statistic", "p42"], "slo: statistic 'p42' is not known"),
        (["--store", "nonsense"], "store 'nonsense' cannot be used"),
        (["--trace", "missing.csv"], "trace missing.csv cannot be read: No such file or directory"),
    ],
)
def test_a_wrong_value_is_one_line_and_nothing_is_written(
    penstock: Command, changed: list[str], complaint: str
) -> None:
    outcome = penstock("simulate", "wordcount", "--policy", "ds2", "--report", "report", *changed)

    assert outcome.complaint.startswith(complaint)
    assert list(Path.cwd().iterdir()) == []


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ("", "must begin with the line t_seconds,rate"),
        ("time,load\n0,1\n", "must begin with the line t_seconds,rate"),
        ("t_seconds,rate\n", "must have at least two lines of figures"),
        ("t_seconds,rate\n0,1\n60,many\n", "line 3: rate must be a number, not 'many'"),
        ("t_seconds,rate\n0,1\n60,-5\n", "line 3: rate must not be negative or infinite, not -5"),
        ("t_seconds,rate\n0,1\n60,nan\n", "line 3: rate must not be negative or infinite, not nan"),
        ("t_seconds,rate\n0,1\n60,1\n240,1\n", "line 4: t_seconds must be evenly spaced by 60 s, but 240 follows 60"),
        ("t_seconds,rate\n0,1\n60,1\n60,1\n", "line 4: t_seconds must grow, but 60 follows 60"),
        ("t_seconds,rate\n0,1,2\n", "line 2: must have two values, not 3"),
    ],
)
def test_a_bad_trace_is_refused_by_its_line(penstock: Command, tmp_path: Path, lines: str, complaint: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(lines)

    said = penstock("simulate", "wordcount", "-p", "ds2", "--trace", path, "--report", "report").complaint

    assert said.startswith(f"trace {path}")
    assert said.endswith(complaint)
    assert list(Path.cwd().iterdir()) == []


def test_a_folder_that_cannot_be_written_is_refused_before_the_run(penstock: Command, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    url = f"sqlite:///{tmp_path / 'run.db'}"

    complaint = penstock(*RUN, "--report", file / "report", "--store", url).complaint

    assert complaint == f"report folder {file / 'report'} cannot be created: {file} is not a folder"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_harder_conditions_are_off_unless_asked_for(penstock: Command) -> None:
    run = ("simulate", "clicks", "-p", "static", "--seconds", "600", "--json")
    ideal, plain, spark = (
        penstock(*run, *more).json for more in (("--conditions", "ideal"), (), ("--conditions", "spark"))
    )

    del ideal["decision_ms"], plain["decision_ms"]
    assert ideal == plain
    assert plain["core_seconds"] == 600 * 8
    assert spark["core_seconds"] == 600 * 8, "two executors of four slots"
    assert spark["event_latency_ms"]["p99"] > plain["event_latency_ms"]["p99"]

    said = {more: " ".join(penstock(*run[:-1], "--conditions", more).out.split()) for more in ("ideal", "spark")}
    assert "slots held, nominal 4,800 slot-seconds" in said["ideal"]
    assert "cores, by simulated executors 4,800 core-seconds" in said["spark"]
