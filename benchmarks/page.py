"""How quickly the page is answered over a month of cycles: the whole job, what is new, the list, one decision.

The cycles of two hours of `clicks` under `ds2` are repeated, as a live job would record them.
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from penstock.cli.workloads import workload
from penstock.dashboard import answers
from penstock.model import Cycle
from penstock.runs.simulation import Simulation
from penstock.stores.history import History
from penstock.stores.run_history import RunHistory

INTERVAL_SECONDS = 30.0
DAYS = 30
ROUNDS = 5
BEGAN = 1.8e9


@dataclass(frozen=True)
class Answer:
    cycles: int
    store_mb: float
    question: str
    median_ms: float
    kilobytes: float


def rows() -> Iterator[Answer]:
    simulation = Simulation(workload("clicks"), policy="ds2", interval=f"{INTERVAL_SECONDS:g} s")
    recorded: list[Cycle] = []
    simulation.run(recorded.append)
    count = int(DAYS * 86_400 / INTERVAL_SECONDS)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "month.db"
        with closing(RunHistory(f"sqlite:///{file}", "clicks", simulation.description())) as kept:
            for i in range(count):
                kept(replace(recorded[i % len(recorded)], t=BEGAN + i * INTERVAL_SECONDS))
        with closing(History(f"sqlite:///{file}")) as history:
            whole = answers.job(history, "clicks")
            questions: dict[str, Callable[[], Any]] = {
                "the list of jobs": lambda: answers.jobs(history),
                "a job, the whole month": lambda: answers.job(history, "clicks"),
                "a job, one day of it": lambda: answers.job(history, "clicks", begin=BEGAN, end=BEGAN + 86_400),
                "what is new": lambda: answers.job(
                    history, "clicks", whole["chart"]["number"][-1], whole["bucket_seconds"]
                ),
                "the newest decisions": lambda: answers.decisions(history, "clicks"),
                "one decision": lambda: answers.decision(history, "clicks", count // 2),
            }
            for question, ask in questions.items():
                times, size = [], 0
                for _ in range(ROUNDS):
                    began = time.perf_counter()
                    size = len(json.dumps(ask()))
                    times.append(1e3 * (time.perf_counter() - began))
                yield Answer(count, file.stat().st_size / 1e6, question, statistics.median(times), size / 1e3)
