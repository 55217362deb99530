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
    "attached": ("a query with state on a cluster, with `attach`", "every record in the state once"),
    "watched": (
        "two queries on a cluster, with `watch`",
        "every record in the state of one and in the files of the other once",
    ),
}
"""By the name of the job under chaos: the way to run, and what is promised for it."""

FAULTS = {
    "nothing": "only changes of plan, with every decision",
    "kill_driver": "the driver, its JVM and its workers killed with -9, and started again",
    "kill_driver_in_a_change": "the same within 1.5 s of a decision: in a change, a repartition, a decommissioning",
    "kill_driver_in_its_first_batch": "the same, and again before the second life has decided anything",
    "freeze_driver": "the driver stopped for 5 or 30 s (SIGSTOP)",
    "set_clock": "the driver's wall clock set forward by 90 s or an hour, back behind the true time, and right again",
    "kill_executor": "an executor killed with -9",
    "kill_executor_in_a_change": "an executor killed with -9 within 3 s of a decision",
    "kill_worker": "a worker and its executors killed with -9, back after 1 or 10 s",
    "slow_executor": "an executor stopped nine tenths of the time, for 10 to 20 s",
    "delete_store": "the files of the store deleted",
    "move_store_away": "the files of the store away for two cycles, and back",
    "lock_store": "the store locked by somebody else for 6 to 9 s",
    "make_store_read_only": "the store read only, also for a driver that starts",
    "cut_off_store": "the store cut off in the middle, then the driver killed",
    "overwrite_store": "the store overwritten by another program, then the driver killed",
    "store_of_an_earlier_version": "the driver killed, and the store that of the first Penstock",
    "store_of_a_later_version": "the driver killed, and the store that of a later Penstock",
    "fill_disk": "the disk of checkpoint and store full for 3 to 8 s; a job that ended was started again",
    "kill_broker": "the broker killed with -9, back after 1 or 10 s",
    "kill_broker_for_a_minute": "the same, back after 60 s; a job that ended was started again",
    "kill_broker_and_driver": "both killed with -9",
    "add_partition": "a partition added to the topic",
    "overtake_reader": "unread records thrown away by the topic; the job ended, and the loss was accepted",
    "poison": "a record that makes an operator raise; the job ended, and was started with operators that can stand it",
    "hot_key": "half of all records with one key, in one partition, for 5 to 10 s",
    "huge_batch": "a hundred times the records of a batch in one moment",
    "odd_times": "records with creation times in the future, then without any",
}

HELD = {
    "threads": "threads, Python",
    "handles": "handles, Python",
    "jvm_threads": "threads, JVM",
    "jvm_handles": "handles, JVM",
    "topics": "topics",
    "temporary": "temporary files",
}
"""What the driver holds, by the field of the results."""


def reliability_page() -> str:
    runs: list[Mapping[str, Any]] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else []
    return page(
        "What is promised, and what was done to it",
        "A policy that wants another plan with every window steers a job of numbered records, and the job is broken "
        "again and again. Afterwards every record is accounted for, and the plan that is believed in force must be the "
        "one in force after every cycle; on a cluster, where lost executors are replaced, when the job has recovered. "
        "`make chaos` does it again, for an hour and with the seed that you give it; a slice of it is part of "
        "`make test`.",
        "## What is promised",
        table(["job", "way to run", "promise"], [[job, *words] for job, words in WAYS.items()]),
        "Whatever happens to Penstock itself, its store or its metrics, the job goes on under its last plan.",
        *(_results(runs) if runs else ["## What came of it", "No results are kept yet: `make chaos` writes them."]),
        "## What was not done",
        "A store that somebody named, as `attach` and `watch` take it, is refused where it cannot be used, so it is "
        "not broken here before a start. The clock is set for the driver alone, not for brokers and executors. A disk "
        "that is full is that of the checkpoint and of the store together. Records that make an operator raise are "
        "left to the jobs that Penstock starts.",
    )


def _results(runs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield from _accounts(runs)
    yield from _faults(runs)
    yield from _held(runs)
    left_out = sorted({fault for run in runs for fault in run.get("left_out", ())})
    if left_out:
        yield f"Left out, as the machine did not allow it: {'; '.join(FAULTS[fault] for fault in left_out)}."


def _accounts(runs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "## What became of the records"
    yield (
        "*Counted* are those records that the engine said come twice. What it counted after its last word is lost when "
        "the driver is killed, so more may have come twice than were counted. *Overtaken* are those that the topic had "
        "thrown away before the job could read them: they are lost, and the job said so before it went on."
    )
    head = (
        "job", "seed", "minutes", "changes", "kills of the driver", "records out", "lost", "overtaken", "twice",
        "counted",
    )  # fmt: skip
    yield table(head, [_account(run) for run in runs])


def _account(run: Mapping[str, Any]) -> list[str]:
    found = run["account"]
    figures = (
        run["changes"], run["kills"] - 1, found["records"], found["lost"], found["overtaken"], found["twice"],
        run["counted"],
    )  # fmt: skip
    return [run["job"], str(run["seed"]), f"{run['seconds'] / 60:.0f}", *(f"{figure:,}" for figure in figures)]


def _faults(runs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for run in runs:
        for outcome in run["outcomes"]:
            found[outcome["fault"], run["job"]].append(outcome)
    if not found:
        return
    yield "## What was done, and how long it took to recover"
    yield (
        "From the fault to a job that has decided four times, changed its plan and written new records, with the "
        "time of the fault itself and of starting Spark where the driver was killed. *Ended* is how often the job "
        "had ended by itself after the fault and was started again. On two cores."
    )
    rows = [
        [FAULTS[fault], job, str(len(each)), f"{median(_seconds(each)):.0f}", f"{max(_seconds(each)):.0f}",
         str(sum(outcome["restarts"] for outcome in each))]
        for fault in FAULTS
        for job in WAYS
        if (each := found.get((fault, job)))
    ]  # fmt: skip
    yield table(["what was done", "job", "times", "seconds, median", "longest", "ended"], rows)


def _seconds(outcomes: Sequence[Mapping[str, Any]]) -> list[float]:
    return [outcome["recovered_seconds"] for outcome in outcomes]


def _held(runs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Figures before the first fault, after the last one, and the most after any."""
    rows = [
        [run["job"], str(run["seed"]), *(_before_and_after(run, field) for field in HELD)]
        for run in runs
        if run["outcomes"]
    ]
    if rows:
        yield "## What the driver held"
        yield (
            "Before the first fault, after the last one, and in brackets the most after any. A run holds only if there "
            "is no topic more after any fault, and of the rest at most one and a half times as much."
        )
        yield table(["job", "seed", *HELD.values()], rows)


def _before_and_after(run: Mapping[str, Any], field: str) -> str:
    before, after = run["before"][field], [outcome["holdings"][field] for outcome in run["outcomes"]]
    return "" if before is None else f"{before}, {after[-1]} ({max(after)})"
