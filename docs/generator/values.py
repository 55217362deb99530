"""The pages of the words that programs meet: what is measured, why something was decided, what a snapshot holds."""

from __future__ import annotations

from docs.generator.markdown import code, fields_table, page, table
from penstock.model import Batch, Latency, OperatorSample, ReasonCode, Sample, Worker
from penstock.runs.result import Result
from penstock.stores.codec import SloInNumbers
from penstock.stores.snapshot import PresentOperator, SnapshotForm


def metrics_page() -> str:
    return page(
        "Metrics",
        "One vocabulary for everybody: the simulator and the snapshot fill it, policies read it. A figure that was not "
        "measured is missing (`None`, `null`), never 0, and nobody makes one up.",
        "## A sample: the job over one window",
        fields_table(Sample),
        "## An operator in a sample: sums over its instances",
        fields_table(OperatorSample),
        "## A micro-batch in a sample",
        fields_table(Batch),
        "## A latency",
        fields_table(Latency),
        "## The result of a run",
        "What `penstock simulate --json` prints. Of `decision_ms` it prints `p50` and `p99`.",
        fields_table(Result),
    )


def reasons_page() -> str:
    return page(
        "Reasons",
        "Every decision has a reason: a code for programs and a sentence for people. A guard that changed the plan "
        "adds a reason of its own.",
        table(
            ["code", "given by", "meaning"],
            [[code(each.value), f"the {each.origin}", each.meaning] for each in ReasonCode],
        ),
    )


def snapshot_page() -> str:
    return page(
        "Snapshot",
        "What `penstock decide` reads: one JSON document about one job. The [tutorial](../tutorial.md) shows a whole "
        "one. An unknown field, a wrong type or a sample of another job is refused in one sentence that names the "
        "field, with exit code 2.",
        fields_table(SnapshotForm, defaults=True),
        "## An operator",
        fields_table(PresentOperator, defaults=True),
        "## The targets",
        fields_table(SloInNumbers, defaults=True),
        "## A sample",
        "The fields are those of a [sample](metrics.md). A latency may be one number, which is its mean. Without "
        "`records_from`, a child receives all that its parents emit and a root all that `input_rate` offers. Samples "
        "with `warm_up` teach nobody and decide nothing.",
        "## A worker",
        fields_table(Worker, defaults=True),
        "## The answer",
        _answer(),
    )


def _answer() -> str:
    rows = (
        ("policy", "who decided"),
        ("parallelism", "instances for each operator, by name"),
        ("executors", "executors, or null where nobody decides on them"),
        ("placement", "a worker for each instance of each operator, or null where the cluster places them"),
        ("reason", "a `code` ([reasons](reasons.md)) and a `text`"),
        (
            "expected",
            "`throughput`, `processing_latency_ms`, `event_latency_ms` under that plan; null: nobody can tell",
        ),
        ("guards", "what each guard that changed the plan says; empty without `--guards`"),
        ("figures", "with `--explain` only: every intermediate number, under the paper's name for it"),
    )
    return table(["field", "meaning"], [[code(name), meaning] for name, meaning in rows])
