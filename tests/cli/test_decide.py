"""`penstock decide`: snapshots in, decisions out, and one sentence about whatever is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from command_line import Command


def snapshot(**changes: Any) -> dict[str, Any]:
    """Two operators at 100 records/s: split could do 1000/8 per instance and second, count 5000/12.5."""
    return {
        "operators": [
            {"name": "split", "parallelism": 1, "min": 1, "max": 40, "stateful": False},
            {"name": "count", "parallelism": 2, "min": 1, "max": 40, "stateful": True},
        ],
        "edges": [["split", "count"]],
        "slo": {"processing_latency_ms": 180, "event_latency_ms": 500, "drain_seconds": 360},
        "samples": [
            {
                "t": 0, "seconds": 10, "input_rate": 200, "throughput": 95, "backlog": 0,
                "processing_latency_ms": 120, "event_latency_ms": 150,
                "operators": {
                    "split": {"parallelism": 1, "records_in": 1000, "records_out": 5000, "useful_seconds": 8.0,
                              "queue": 0, "latency_ms": 20},
                    "count": {"parallelism": 2, "records_in": 5000, "records_out": 5000,
                              "records_from": {"split": 5000}, "useful_seconds": 12.5},
                },
            }
        ],
    } | changes  # fmt: skip


def test_the_answer_has_the_plan_the_reason_and_what_to_expect(penstock: Command) -> None:
    outcome = penstock("decide", "--policy", "ds2", "-", stdin=json.dumps(snapshot()))

    assert outcome.code == 0
    answer = outcome.json
    # split: 200 / 125 = 1.6 -> 2; count: 1000 / 400 = 2.5 -> 3
    assert answer["parallelism"] == {"split": 2, "count": 3}
    assert answer["executors"] is None
    assert answer["reason"]["code"] == "scale_up"
    assert answer["expected"]["throughput"] == 200
    assert "figures" not in answer


def test_a_plan_is_answered_with_what_is_expected_of_it(penstock: Command) -> None:
    outcome = penstock("decide", "--plan", "split=2,count=3", "-", stdin=json.dumps(snapshot()))

    answer = outcome.json
    assert answer["parallelism"] == {"split": 2, "count": 3}
    assert (answer["slots"], answer["slots_now"]) == (5, 3)
    # split takes 125 records/s and instance, count 400, and each record becomes five words
    assert answer["utilisation"] == {"split": 200 / 250, "count": 1000 / 1200}
    assert answer["carries"] == 240
    assert answer["misses"] == []
    assert answer["sentence"].startswith(
        "split 2, count 3 carries 240 records/s with 5 slots, now there are 3: it would"
    )


def test_a_plan_that_is_too_small_falls_behind_and_operators_left_out_stay(penstock: Command) -> None:
    answer = penstock("decide", "--plan", "split=1", "-", stdin=json.dumps(snapshot())).json
    assert answer["parallelism"] == {"split": 1, "count": 2}
    assert answer["expected"] == {"throughput": 125, "processing_latency_ms": None, "event_latency_ms": None}
    assert answer["misses"] == ["keep_up"]


def test_a_policy_and_a_plan_are_answered_together(penstock: Command) -> None:
    outcome = penstock("decide", "-p", "ds2", "--plan", "split=2,count=3", "-", stdin=json.dumps(snapshot()))
    assert outcome.json["parallelism"] == outcome.json["what_if"]["parallelism"]


@pytest.mark.parametrize(
    ("plan", "sentence"),
    [
        ("splitt=2", "--plan: operator 'splitt' is not known; did you mean 'split'?"),
        ("split=two", "--plan: split must be a whole number of at least 1, not 'two'"),
        ("split=99", "plan: operator split must have from 1 (its min) to 40 (its max) instances, not 99"),
        ("split", "--plan"),
    ],
)
def test_a_wrong_plan_is_one_sentence(penstock: Command, plan: str, sentence: str) -> None:
    complaint = penstock("decide", "--plan", plan, "-", stdin=json.dumps(snapshot())).complaint
    assert complaint.startswith(sentence)


def test_neither_a_policy_nor_a_plan_is_refused(penstock: Command) -> None:
    assert "name a policy with --policy" in penstock("decide", "-", stdin=json.dumps(snapshot())).complaint


def test_a_file_is_read_as_standard_input_is(penstock: Command, tmp_path: Path) -> None:
    file = tmp_path / "snapshot.json"
    file.write_text(json.dumps(snapshot()))

    from_file = penstock("decide", "--policy", "ds2", file)

    assert from_file.json == penstock("decide", "--policy", "ds2", "-", stdin=file.read_text()).json


def test_explain_adds_every_figure_under_its_name(penstock: Command) -> None:
    figures = penstock("decide", "-p", "ds2", "-", "--explain", stdin=json.dumps(snapshot())).json["figures"]

    assert figures["true_processing_rate"] == {"split": 125, "count": 400}
    assert figures["throughput_parallelism"] == {"split": 2, "count": 3}


def test_options_of_the_policy_are_taken_from_the_snapshot(penstock: Command) -> None:
    half_busy = json.dumps(snapshot(options={"utilisation": 0.5}))

    assert penstock("decide", "-p", "ds2", "-", stdin=half_busy).json["parallelism"] == {"split": 4, "count": 5}


def test_one_snapshot_serves_every_policy_so_the_options_of_others_are_left_out(penstock: Command) -> None:
    for policy in ("ds2", "autrascale"):
        outcome = penstock("decide", "--policy", policy, "-", stdin=json.dumps(snapshot(options={"alpha": 0.8})))
        assert outcome.code == 0
    outcome = penstock("decide", "--policy", "ds2", "-", stdin=json.dumps(snapshot(options={"alhpa": 0.8})))
    assert outcome.code == 2
    assert outcome.err == (
        "penstock: policy ds2: option 'alhpa' is not known. There is: utilisation "
        "(`penstock policies` says what each does)\n"
    )


def test_guards_speak_only_when_asked(penstock: Command) -> None:
    flood = snapshot()
    flood["samples"][0]["input_rate"] = 4000

    free = penstock("decide", "-p", "ds2", "-", stdin=json.dumps(flood)).json
    vetted = penstock("decide", "-p", "ds2", "-", "--guards", stdin=json.dumps(flood)).json

    assert free["parallelism"]["split"] == 32
    assert free["guards"] == []
    assert vetted["parallelism"]["split"] < 32
    assert "max_step" in [guard["name"] for guard in vetted["guards"]]


def test_a_figure_that_nobody_measured_is_a_hold_not_a_guess(penstock: Command) -> None:
    blind = snapshot()
    del blind["samples"][0]["operators"]["count"]["useful_seconds"]

    answer = penstock("decide", "-p", "ds2", "-", stdin=json.dumps(blind)).json

    assert answer["reason"] == {"code": "missing_metrics", "text": "useful_seconds of count was not measured"}
    assert answer["parallelism"] == {"split": 1, "count": 2}


LEARNER = """
from penstock.model import Decision, ReasonCode


class Diligent:
    name = "diligent"

    def __init__(self):
        self.seen = []

    def learn(self, observation):
        self.seen.append(observation.latest.t)

    def decide(self, observation):
        figures = {"seen": self.seen, "odd": float("inf")}
        return Decision.hold(observation.plan, ReasonCode.STEADY, "learnt", figures=figures)

    def state(self):
        return {}

    def restore(self, state):
        pass
"""


def test_a_learner_learns_from_every_sample_in_turn_and_nothing_but_json_comes_out(
    penstock: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "school.py").write_text(LEARNER)
    monkeypatch.syspath_prepend(tmp_path)
    sample = snapshot()["samples"][0]
    text = json.dumps(snapshot(samples=[sample, sample | {"t": 10}, sample | {"t": 20}]))

    figures = penstock("decide", "-p", "school:Diligent", "-", "--explain", stdin=text).json["figures"]

    assert figures == {"seen": [0, 10, 20], "odd": None}


def spoilt(path: str, value: Any) -> str:
    """The snapshot with one value replaced, as JSON text."""
    data: Any = snapshot()
    place = data
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    for step in steps:
        place = place[step]
    place[last] = value
    return json.dumps(data)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"operators": [', "the text is not JSON: Expecting value at line 1 column 16"),
        ("", "the text is not JSON: Expecting value at line 1 column 1"),
        ("[]", "the text must be an object, not []"),
        (spoilt("operators.0.parallelism", "two"), 'operators[0].parallelism must be a whole number, not "two"'),
        (spoilt("samples.0.seconds", -10), "samples[0].seconds must be a finite number of at least 0, not -10"),
        (spoilt("samples.0.input_rate", float("nan")), "samples[0].input_rate must be a finite number, not NaN"),
        (spoilt("samples.0.operators.splitt", {"parallelism": 1}), "samples[0].operators: 'splitt' is not known"),
        (spoilt("edges.0.1", "cuont"), "edges: split -> cuont: 'cuont' is not known; did you mean 'count'?"),
        (spoilt("options", {"utilization": 1}), "policy ds2: option 'utilization' is not known; did you mean"),
        (spoilt("options", {"utilisation": "high"}), "policy ds2: utilisation must be of type float, not 'high'"),
        (spoilt("options", {"utilisation": 3}), "utilisation must be more than 0 and at most 1, not 3.0"),
        (spoilt("samples", []), "samples must contain at least one without warm_up"),
    ],
)
def test_a_bad_snapshot_is_one_sentence_that_names_the_field(penstock: Command, text: str, complaint: str) -> None:
    assert penstock("decide", "-p", "ds2", "-", stdin=text).complaint.startswith(complaint)


def test_an_unknown_policy_is_named_with_its_nearest_neighbour(penstock: Command) -> None:
    complaint = penstock("decide", "-p", "ds3", "-", stdin=json.dumps(snapshot())).complaint

    assert complaint.startswith("policy 'ds3' is not known; did you mean 'ds2'?")


def test_a_snapshot_that_cannot_be_read_is_named(penstock: Command, tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")

    assert penstock("decide", "-p", "ds2", tmp_path).complaint == f"snapshot {tmp_path} cannot be read: Is a directory"
    assert (
        penstock("decide", "-p", "ds2", binary).complaint == f"snapshot {binary} cannot be read: it is not a text file"
    )
    assert "cannot be read: No such file" in penstock("decide", "-p", "ds2", "missing.json").complaint


def test_a_policy_that_fails_is_one_sentence_too(
    penstock: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "outsider.py").write_text(
        "class Broken:\n    name = 'broken'\n    def decide(self, o):\n        raise ValueError('one line\\nmore')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)

    complaint = penstock("decide", "-p", "outsider:Broken", "-", stdin=json.dumps(snapshot())).complaint

    assert complaint == "policy outsider:Broken failed on this snapshot: ValueError: one line"
