"""The page of what Penstock itself costs, from the results of the benchmarks: nothing on it is typed by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from docs.generator.markdown import page, table

RESULTS = Path(__file__).parent.parent.parent / "benchmarks" / "results"
LINEAR = 1.15
"""An exponent up to this is linear, as far as a few milliseconds can tell."""


def costs_page() -> str:
    return page(
        "What Penstock costs",
        "What the controller takes from the driver that it runs in, and how that grows. `python -m benchmarks scale`, "
        "`scale_on_spark` and `soak` measure it again. The *power* is that of the growth from the row above: 1 is "
        "linear, 0 does not grow.",
        *_section(
            "scale",
            "Cycles, stores, pages and series",
            "Milliseconds of CPU on one core. A cycle is everything from reading a window to keeping the decision, "
            "with all guards and a store in memory; recording a cycle has the SQLite file on top.",
        ),
        *_section(
            "scale_on_spark",
            "What a driver pays to read Spark",
            "Milliseconds on the clock, in the gateway between Python and the JVM. Executors are told to the status "
            "store of a real Spark by the events that a cluster would send. One decision with executors reads the list "
            "once or twice, and asks of each executor whether it is active.",
        ),
        *_soak(),
        *_changes_of_state(),
    )


def _section(name: str, title: str, words: str) -> Iterator[str]:
    rows = _rows(name)
    if not rows:
        return
    yield f"## {title}"
    yield words
    yield table(
        ["what", "of", "how many", "ms", "power", "answer, kB"],
        [[row["what"], row["of"], f"{row['count']:,}", _milliseconds(row), _power(row), _size(row)] for row in rows],
    )
    worst = max((row["exponent"] for row in rows if row["exponent"] is not None), default=0.0)
    if worst <= LINEAR:
        yield "Nothing here grows faster than linearly."


def _soak() -> Iterator[str]:
    rows = _rows("soak")
    if not rows:
        return
    yield "## Over many cycles"
    yield "A controller that steers five operators under `predictive`, one cycle behind the other, with a SQLite store."
    head = ("cycles", "CPU ms a cycle", "memory, MB", "threads", "file handles", "store, MB")
    keys = ("cycles", "cpu_ms_per_cycle", "memory_mb", "threads", "handles", "store_mb")
    yield table(head, [[f"{row[key]:,}" for key in keys] for row in rows])


def _changes_of_state() -> Iterator[str]:
    rows = [row for row in _rows("state") if "state_mb" in row]
    if not rows:
        return
    yield "## Changes of a native query"
    yield (
        "Seconds of a change, in the median of those of one query, on two cores (`python -m benchmarks state`). "
        "*State* is what its files take, or its memory before there are files. *Batch* is a batch of as few records as "
        "the first one after a change has, at another time."
    )
    if (said := _configuration("state").get("run")) is not None:
        yield f"They were measured {said}."
    head = ("query", "keys", "state, MB", "changes", "stop", "repartition", "start", "first batch", "in all", "batch")
    keys = ("stop_s", "repartition_s", "start_s", "first_batch_s", "all_s", "batch_s")
    table_rows = []
    for query, count in dict.fromkeys((row["query"], round(row["keys"], -3)) for row in rows):
        each = [row for row in rows if (row["query"], round(row["keys"], -3)) == (query, count)]
        state = median(row["state_mb"] for row in each)
        size = f"{state:,.0f}" if state >= 10 else f"{state:.1f}"
        seconds = [f"{median(row[key] for row in each):.2f}" for key in keys]
        table_rows.append([query, f"{count:,}", size, len(each), *seconds])
    yield table(head, table_rows)
    for line in (row for row in _rows("state") if "fixed_s" in row):
        yield (
            f"The line through all changes but the first: {line['fixed_s']:.2f} s, and {line['seconds_per_gb']:.1f} s "
            f"for each gigabyte; in the median a change differs from it by {line['error']:.0%}."
        )


def _rows(name: str) -> Sequence[Mapping[str, Any]]:
    found: Sequence[Mapping[str, Any]] = _kept(name).get("rows", [])
    return found


def _configuration(name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = _kept(name).get("configuration", {})
    return found


def _kept(name: str) -> Mapping[str, Any]:
    file = RESULTS / f"{name}.json"
    kept: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return kept


def _milliseconds(row: Mapping[str, Any]) -> str:
    return f"{row['ms']:,.0f}" if row["ms"] >= 1000 else f"{row['ms']:.3g}"


def _power(row: Mapping[str, Any]) -> str:
    return "" if row["exponent"] is None else f"{row['exponent']:.2f}"


def _size(row: Mapping[str, Any]) -> str:
    return "" if row.get("kilobytes") is None else f"{row['kilobytes']:,.0f}"
