"""What is done to a running job. Each fault takes the victim and dice, and leaves when it is over."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from chaos.input_faults import (
    add_partition,
    hot_key,
    huge_batch,
    kill_broker,
    kill_broker_and_driver,
    kill_broker_for_a_minute,
    odd_times,
    overtake_reader,
    poison,
)
from chaos.process_faults import (
    freeze_driver,
    has_compiler,
    kill_driver,
    kill_driver_in_a_change,
    kill_driver_in_its_first_batch,
    kill_executor,
    kill_executor_in_a_change,
    kill_worker,
    nothing,
    set_clock,
    slow_executor,
)
from chaos.store_faults import (
    cut_off_store,
    delete_store,
    fill_disk,
    lock_store,
    make_store_read_only,
    may_make_read_only,
    may_mount,
    move_store_away,
    overwrite_store,
    store_of_a_later_version,
    store_of_an_earlier_version,
)
from chaos.victim import Victim
from chaos.ways import JOBS, ON_A_CLUSTER

Fault = Callable[[Victim, random.Random], None]

ON_ANY: tuple[Fault, ...] = (
    nothing, kill_driver, kill_driver_in_a_change, kill_driver_in_its_first_batch, freeze_driver, set_clock,
    delete_store, move_store_away, lock_store, make_store_read_only, store_of_an_earlier_version, fill_disk,
)  # fmt: skip
WHERE_PENSTOCK_CHOSE_THE_STORE: tuple[Fault, ...] = (cut_off_store, overwrite_store, store_of_a_later_version)
"""One that somebody named is refused if it cannot be used."""
ON_KAFKA: tuple[Fault, ...] = (
    kill_broker, kill_broker_for_a_minute, kill_broker_and_driver, add_partition, overtake_reader, hot_key, huge_batch,
    odd_times,
)  # fmt: skip
ON_EXECUTORS: tuple[Fault, ...] = (kill_executor, kill_executor_in_a_change, kill_worker, slow_executor)

MAY_END_THE_JOB = (fill_disk, kill_broker_for_a_minute)
"""Spark ends a query that cannot write its checkpoint or reach its brokers: whoever runs the job starts it again."""

NEEDED: dict[Fault, Callable[[Path], bool]] = {
    set_clock: has_compiler, fill_disk: may_mount, make_store_read_only: may_make_read_only,
}  # fmt: skip
"""What this machine has to have for some of them, given a folder to try it in."""


def faults_of(job: str) -> tuple[Fault, ...]:
    """What can happen to a job."""
    if job in ON_A_CLUSTER:
        return ON_ANY + ON_KAFKA + ON_EXECUTORS
    return ON_ANY + WHERE_PENSTOCK_CHOSE_THE_STORE + (poison,) + (() if job == "microbatch" else ON_KAFKA)


ALL: tuple[Fault, ...] = tuple(dict.fromkeys(fault for job in JOBS for fault in faults_of(job)))
