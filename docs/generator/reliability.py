"""The page of what is promised and what was done to it, from the results of `make chaos`."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from docs.generator.markdown import page, table

RESULTS = Path(__file__).parent.parent.parent / "benchmarks" / "results" / "chaos.json"

WAYS = {
    "microbatch": ("pipeline in micro-batches, files as sink", "no record lost, none twice"),
    "restart": ('pipeline in real time, `change="restart"`', "no record lost; those that come twice are counted"),
    "handover": ('pipeline in real time, `change="handover"`', "no record lost; those that come twice are counted"),
    "native": ("native query with state", "every record in the state once"),
}
"""By the name of the job under chaos: the way to run, and what is promised for it."""

FAULTS = {
    "nothing": "only changes of plan, with every decision",
    "kill_driver": "the driver, its JVM and its workers killed with -9, and started again",
    "kill_driver_in_its_first_batch": "the same, and again before the second life has decided anything",
    "freeze_driver": "the driver stopped for 5 to 15 s (SIGSTOP)",
    "delete_store": "the files of the store deleted",
    "lock_store": "the store locked by somebody else for 6 to 9 s",
    "cut_off_store": "the store cut off in the middle, then the driver killed",
    "overwrite_store": "the store overwritten by another program, then the driver killed",
    "store_of_a_later_version": "the driver killed, and the store that of a later Penstock",
    "kill_broker": "the broker killed with -9, back after 1 or 10 s",
    "kill_broker_and_driver": "both killed with -9",
}


def reliability_page() -> str:
    runs: list[Mapping[str, Any]] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else []
    return page(
        "What is promised, and what was done to it",
        "A policy that wants another plan with every window steers a job of numbered records, and the job is broken "
        "again and again. Afterwards every record is accounted for, and the plan that is believed in force must be the "
        "one in force after every cycle. `make chaos` does it again, for an hour and with the seed that you give it; a "
        "slice of it is part of `make test`.",
        "## What is promised",
        table(["job", "promise"], [list(words) for words in WAYS.values()]),
        "Whatever happens to Penstock itself, its store or its metrics, the job goes on under its last plan.",
        *_accounts(runs),
        *_faults(runs),
        "## What was not done",
        "Executors and workers of a cluster are killed by stories of their own (`make test-cluster`), not at random. "
        "The clock that is set, records that make an operator raise and partitions that are added have tests of their "
        "own. Nobody has let the retention of a topic overtake its reader, or filled the disk of a checkpoint.",
    )


def _accounts(runs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if not runs:
        return
    yield "## What became of the records"
    yield (
        "*Counted* are those records that the engine said come twice. What it counted after its last word is lost when "
        "the driver is killed, so more may have come twice than were counted."
    )
    head = ("job", "seed", "minutes", "changes", "kills of the driver", "records out", "lost", "twice", "counted")
    yield table(head, [_account(run) for run in runs])


def _account(run: Mapping[str, Any]) -> list[str]:
    found = run["account"]
    figures = (run["changes"], run["kills"] - 1, found["records"], found["lost"], found["twice"], run["counted"])
    return [run["job"], str(run["seed"]), f"{run['seconds'] / 60:.0f}", *(f"{figure:,}" for figure in figures)]


def _faults(runs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    lasted: dict[tuple[str, str], list[float]] = defaultdict(list)
    for run in runs:
        for outcome in run["outcomes"]:
            lasted[outcome["fault"], run["job"]].append(outcome["recovered_seconds"])
    if not lasted:
        return
    yield "## What was done, and how long it took to recover"
    yield (
        "From the fault to a job that has decided four times, changed its plan and written new records, with the "
        "time of the fault itself and of starting Spark where the driver was killed. On two cores."
    )
    rows = [
        [FAULTS[fault], job, str(len(each)), f"{median(each):.0f}", f"{max(each):.0f}"]
        for fault in FAULTS
        for job in WAYS
        if (each := lasted.get((fault, job)))
    ]
    yield table(["what was done", "job", "times", "seconds, median", "longest"], rows)
