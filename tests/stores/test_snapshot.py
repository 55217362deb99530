"""What `penstock decide` takes and refuses: each refusal is one sentence that names the field."""

import copy
import json
import math
from typing import Any

import pytest

from penstock.model import Actuation, Decision, Execution, Latency, PenstockError, Plan, ReasonCode, Slo, Worker
from penstock.stores.snapshot import decision_json, read_snapshot

REMOVED = object()

WHOLE: dict[str, Any] = {
    "operators": [
        {"name": "split", "parallelism": 1, "min": 1, "max": 40, "stateful": False},
        {"name": "count", "parallelism": 2, "min": 1, "max": 40, "stateful": True},
    ],
    "edges": [["split", "count"]],
    "slo": {"processing_latency_ms": 180, "event_latency_ms": 500, "drain_seconds": 360},
    "options": {"alpha": 0.8},
    "samples": [
        {
            "t": 0,
            "seconds": 10,
            "input_rate": 100,
            "throughput": 95,
            "backlog": 0,
            "processing_latency_ms": 120,
            "event_latency_ms": {"mean": 150, "p99": 400},
            "operators": {
                "split": {"parallelism": 1, "records_in": 1000, "records_out": 5000, "useful_seconds": 8.1},
                "count": {"parallelism": 2, "records_in": 5000, "records_from": {"split": 5000}},
            },
        },
        {"t": 10, "seconds": 10, "input_rate": {"split": 110}, "operators": {"split": {"parallelism": 1}}},
    ],
}


def changed(path: str, value: object) -> str:
    """The whole snapshot with one place changed; the path's numbers are places in lists."""
    whole = copy.deepcopy(WHOLE)
    *steps, last = [int(step) if step.isdigit() else step for step in path.split("/")]
    place: Any = whole
    for step in steps:
        place = place[step]
    if value is REMOVED:
        del place[last]
    else:
        place[last] = value
    return json.dumps(whole)


def refusal(text: str) -> str:
    with pytest.raises(PenstockError) as refused:
        read_snapshot(text)
    return str(refused.value)


def test_a_whole_snapshot_becomes_an_observation_at_the_end_of_its_last_sample() -> None:
    snapshot = read_snapshot(json.dumps(WHOLE))
    observation = snapshot.observation
    assert observation.t == 20
    assert observation.plan == Plan({"split": 1, "count": 2})
    assert observation.topology.roots == ("split",)
    assert observation.topology["count"].stateful
    assert observation.slo == Slo("180 ms", "500 ms", "6 min")
    assert [sample.job_input_rate for sample in observation.samples] == [100, 110]
    assert snapshot.options == {"alpha": 0.8}


def test_a_latency_may_be_one_number_its_mean() -> None:
    first = read_snapshot(json.dumps(WHOLE)).observation.samples[0]
    assert first.processing_latency_ms == Latency(mean=120)
    assert first.event_latency_ms == Latency(mean=150, p99=400)


def test_the_smallest_snapshot_has_operators_and_a_sample() -> None:
    text = '{"operators": [{"name": "all", "parallelism": 3}], "samples": [{"t": 5, "seconds": 1, "operators": {}}]}'
    snapshot = read_snapshot(text)
    assert snapshot.observation.slo == Slo()
    assert snapshot.observation.samples[0].backlog is None
    assert snapshot.options == {}


def test_all_that_the_model_knows_can_be_told() -> None:
    whole = WHOLE | {
        "executors": 4,
        "execution": "sequential",
        "source_partitions": 6,
        "workers": [{"name": "a", "cores": 4}],
        "operators": [
            {"name": "split", "parallelism": 1, "actuation": "restart", "cpu_cores": 0.5, "memory_mb": 512},
            {"name": "count", "parallelism": 2, "tie": "query"},
        ],
        "slo": {"statistic": "p95"},
    }
    observation = read_snapshot(json.dumps(whole)).observation
    assert observation.plan.executors == 4
    assert observation.execution is Execution.SEQUENTIAL
    assert observation.topology.ceiling("split") == 6
    assert observation.topology["split"].actuation is Actuation.RESTART
    assert observation.topology["split"].memory_mb == 512
    assert observation.topology["count"].tie == "query"
    assert observation.workers == (Worker("a", 4),)
    assert observation.slo.statistic == "p95"


def test_a_parallelism_outside_its_bounds_is_the_policys_to_mend() -> None:
    assert read_snapshot(changed("operators/0/parallelism", 400)).observation.plan["split"] == 400


def test_warm_up_windows_are_left_out_as_in_the_loop() -> None:
    observation = read_snapshot(changed("samples/1/warm_up", True)).observation
    assert [sample.t for sample in observation.samples] == [0]
    assert observation.t == 10


FIGURES = (
    "instance_rates, latency_ms, parallelism, queue, records_from, records_in, records_out, state_bytes, "
    "state_cache_hit_ratio, state_memory_bytes, useful_seconds, waiting_seconds"
)
SPLIT = "samples/0/operators/split"
REFUSED = [
    # numbers
    (f"{SPLIT}/records_in", -3, "samples[0].operators.split.records_in must be a finite number of at least 0, not -3"),
    (f"{SPLIT}/records_in", True, "samples[0].operators.split.records_in must be a number, not true"),
    (f"{SPLIT}/records_in", "3", 'samples[0].operators.split.records_in must be a number, not "3"'),
    (f"{SPLIT}/queue", math.nan, "samples[0].operators.split.queue must be a finite number, not NaN"),
    (f"{SPLIT}/queue", math.inf, "samples[0].operators.split.queue must be a finite number, not Infinity"),
    ("options/alpha", -math.inf, "options.alpha must be a finite number, not -Infinity"),
    ("samples/0/t", 10**400, f"samples[0].t must be a finite number, not 1{'0' * 39}..."),
    ("samples/0/t", -1, "samples[0].t must be a finite number of at least 0, not -1"),
    ("samples/0/seconds", 0, "samples[0].seconds must be positive, not 0"),
    (f"{SPLIT}/parallelism", 0, "samples[0].operators.split.parallelism must be a whole number of at least 1, not 0"),
    (f"{SPLIT}/parallelism", 1.5, "samples[0].operators.split.parallelism must be a whole number, not 1.5"),
    ("operators/0/parallelism", 0, "operators[0].parallelism must be a whole number of at least 1, not 0"),
    ("operators/0/min", 50, "operators[0].min must not exceed max, but 50 > 40"),
    ("operators/1/max", True, "operators[1].max must be a whole number, not true"),
    ("operators/1/cpu_cores", -1, "operators[1].cpu_cores must be a finite number of at least 0, not -1"),
    ("slo/processing_latency_ms", 0, "slo.processing_latency_ms must be positive, not 0"),
    ("slo/drain_seconds", -5, "slo.drain_seconds must be a finite number of at least 0, not -5"),
    ("slo/drain_seconds", 1e300, "slo.drain_seconds must be shorter than a million years, not 1e+300"),
    ("executors", -1, "executors must be a whole number of at least 0, not -1"),
    ("source_partitions", 0, "source_partitions must be a whole number of at least 1, not 0"),
    ("workers", [{"name": "a", "cores": -1}], "workers[0].cores must be a finite number of at least 0, not -1"),
    # kinds
    ("samples", {}, "samples must be a list, not {}"),
    ("samples/0", 3, "samples[0] must be an object, not 3"),
    ("samples/0/warm_up", 1, "samples[0].warm_up must be true or false, not 1"),
    ("samples/0/input_rate", "fast", 'samples[0].input_rate must be a number or an object, not "fast"'),
    ("samples/0/input_rate", {"split": True}, "samples[0].input_rate.split must be a number, not true"),
    (
        "samples/0/input_rate",
        {"split": -3},
        "samples[0].input_rate.split must be a finite number of at least 0, not -3",
    ),
    ("samples/0/event_latency_ms", True, "samples[0].event_latency_ms must be a number, not true"),
    ("samples/0/event_latency_ms", -1, "samples[0].event_latency_ms must be a finite number of at least 0, not -1"),
    ("samples/0/event_latency_ms", {"p95": "x"}, 'samples[0].event_latency_ms.p95 must be a number, not "x"'),
    ("operators/0/name", 3, "operators[0].name must be a string, not 3"),
    ("operators/0/name", "", "operators[0].name must be a word, not ''"),
    (
        "operators/0/actuation",
        "alive",
        "operators[0].actuation must be 'live', 'restart' or 'state_repartition', not \"alive\"",
    ),
    ("slo", 3, "slo must be an object, not 3"),
    ("options", [], "options must be an object, not []"),
    ("edges/0", "split", 'edges[0] must be a list, not "split"'),
    ("edges/0", ["split"], "edges[0][1] is missing"),
    ("edges/0", ["split", "count", "x"], 'edges[0] must have 2 items, not ["split", "count", "x"]'),
    # fields
    ("samples", REMOVED, "samples is missing"),
    ("operators", REMOVED, "operators is missing"),
    (f"{SPLIT}/parallelism", REMOVED, "samples[0].operators.split.parallelism is missing"),
    ("operators/1/parallelism", REMOVED, "operators[1].parallelism is missing"),
    (
        f"{SPLIT}/record_in",
        3,
        f"samples[0].operators.split: 'record_in' is not known; did you mean 'records_in'? There is: {FIGURES}",
    ),
    (
        "samples/0/event_latency_ms",
        {"p90": 3},
        "samples[0].event_latency_ms: 'p90' is not known; did you mean 'p99'? There is: mean, p50, p95, p99",
    ),
    (
        "slo/drain",
        3,
        "slo: 'drain' is not known. There is: drain_seconds, event_latency_ms, processing_latency_ms, statistic",
    ),
    (
        "edge",
        [],
        "field: 'edge' is not known; did you mean 'edges'? There is: "
        "edges, execution, executors, operators, options, samples, slo, source_partitions, workers",
    ),
    # the job
    ("operators", [], "operators must name at least one operator"),
    ("operators/1/name", "split", "operators must have different names, but 'split' stands twice"),
    (
        "edges/0",
        ["split", "cont"],
        "edges: split -> cont: 'cont' is not known; did you mean 'count'? There is: count, split",
    ),
    ("edges", [["split", "count"], ["count", "split"]], "edges must not form a cycle: split -> count -> split"),
    (
        "slo/statistic",
        "p90",
        "slo.statistic 'p90' is not known; did you mean 'p99'? There is: mean, p50, p95, p99",
    ),
    # samples of another job, or of another order
    (
        "samples/0/operators/splt",
        {"parallelism": 1},
        "samples[0].operators: 'splt' is not known; did you mean 'split'? There is: count, split",
    ),
    (
        "samples/0/operators/count/records_from",
        {"splt": 3},
        "samples[0].operators.count.records_from: 'splt' is not known; did you mean 'split'? There is: split",
    ),
    (
        f"{SPLIT}/records_from",
        {"count": 3},
        "samples[0].operators.split.records_from: 'count' is not a parent of split. There is: nothing",
    ),
    ("samples/1/input_rate", {"count": 3}, "samples[1].input_rate: 'count' is not a root. There is: split"),
    ("samples/0/t", 11, "samples[1].t must not be earlier than that of the sample before it, but 10 < 11"),
    ("samples", [], "samples must contain at least one without warm_up"),
]


@pytest.mark.parametrize(("path", "value", "sentence"), REFUSED)
def test_a_slip_is_named_by_its_path(path: str, value: object, sentence: str) -> None:
    assert refusal(changed(path, value)) == sentence


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "the text is not JSON: Expecting value at line 1 column 1"),
        ('{"operators":\n  [}', "the text is not JSON: Expecting value at line 2 column 4"),
        ("[]", "the text must be an object, not []"),
        ("NaN", "the text must be a finite number, not NaN"),
        (
            changed("operators/0/name", "\ud800"),
            "the text is not JSON: unexpected end of hex escape at line 1 column 32",
        ),
    ],
)
def test_a_text_that_is_no_snapshot_at_all_is_refused(text: str, sentence: str) -> None:
    assert refusal(text) == sentence


@pytest.mark.parametrize("text", ["[" * 100_000, "[" * 500 + "]" * 500, "9" * 5000, "\ufeff{}"])
def test_even_a_hostile_text_is_one_sentence(text: str) -> None:
    sentence = refusal(text)
    assert sentence.startswith("the text ")
    assert "\n" not in sentence


# The answer --------------------------------------------------------------------------------------------------


def test_an_answer_has_every_key_even_where_nothing_is_known() -> None:
    answer = decision_json(Decision.hold(Plan({"split": 2}), ReasonCode.STEADY, "all is well", policy="ds2"))
    assert answer == {
        "policy": "ds2",
        "parallelism": {"split": 2},
        "executors": None,
        "placement": None,
        "reason": {"code": "steady", "text": "all is well"},
        "expected": {"throughput": None, "processing_latency_ms": None, "event_latency_ms": None},
        "guards": [],
    }


def test_an_answer_tells_what_the_guards_did() -> None:
    decision = Decision.move(Plan({"split": 2}), Plan({"split": 90}), "split is busy")
    vetted = decision.vetted("bounds", ReasonCode.BOUNDS, "split may have 40", Plan({"split": 40}))
    answer = decision_json(vetted)
    assert answer["parallelism"] == {"split": 40}
    assert answer["guards"] == [{"name": "bounds", "code": "bounds", "text": "split may have 40"}]


def test_an_explanation_is_strict_json_even_when_a_figure_is_endless() -> None:
    figures = {"sojourn_ms": {"split": math.inf}, "scores": [1.5, math.nan]}
    answer = decision_json(Decision.hold(Plan({"split": 2}), ReasonCode.STEADY, "", figures=figures), explain=True)
    assert answer["figures"] == {"sojourn_ms": {"split": None}, "scores": [1.5, None]}
    json.dumps(answer, allow_nan=False)
