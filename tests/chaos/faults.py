"""What is done to a running job. Each fault takes the victim and dice, and leaves when it is over."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

from chaos.victim import Victim

Fault = Callable[[Victim, random.Random], None]


def nothing(victim: Victim, dice: random.Random) -> None:
    """The plan changes with every decision, and nothing else happens."""


def kill_driver(victim: Victim, dice: random.Random) -> None:
    """The driver, its JVM and its workers are killed with -9 at any moment, and started again."""
    time.sleep(dice.uniform(0, 2))
    victim.kill()
    victim.start()


def kill_driver_in_its_first_batch(victim: Victim, dice: random.Random) -> None:
    """The same, and again before the second life has decided anything."""
    victim.kill()
    victim.start()
    time.sleep(dice.uniform(4, 12))
    victim.kill()
    victim.start()


def freeze_driver(victim: Victim, dice: random.Random) -> None:
    """The driver stops for some seconds (SIGSTOP): it is blind, and does not notice."""
    victim.freeze(True)
    time.sleep(dice.uniform(5, 15))
    victim.freeze(False)


def delete_store(victim: Victim, dice: random.Random) -> None:
    """The files of the store are deleted under it."""
    for file in _files(victim.store):
        file.unlink(missing_ok=True)


def lock_store(victim: Victim, dice: random.Random) -> None:
    """Somebody else locks the store, for longer than a cycle waits for it."""
    connection = sqlite3.connect(victim.store, timeout=60, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    time.sleep(dice.uniform(6, 9))
    connection.execute("ROLLBACK")
    connection.close()


def cut_off_store(victim: Victim, dice: random.Random) -> None:
    """The store is cut off in the middle under the driver, which is then killed and finds it so."""
    _overwrite(victim.store, victim.store.read_bytes()[: victim.store.stat().st_size // 2])
    victim.cycle()
    victim.kill()
    victim.start()


def overwrite_store(victim: Victim, dice: random.Random) -> None:
    """Another program overwrites the store, and the driver is killed and finds it so."""
    _overwrite(victim.store, dice.randbytes(20_000))
    victim.cycle()
    victim.kill()
    victim.start()


def store_of_a_later_version(victim: Victim, dice: random.Random) -> None:
    """The driver is killed, and finds a store that a later Penstock wrote."""
    victim.kill()
    with sqlite3.connect(victim.store, timeout=60) as connection:
        connection.execute("UPDATE penstock_schema SET version = 99")
    connection.close()
    victim.start()


def kill_broker(victim: Victim, dice: random.Random) -> None:
    """The broker is killed with -9, and back after 1 s or 10 s."""
    broker = victim.outside.broker
    assert broker is not None
    broker.kill()
    time.sleep(dice.choice((1.0, 10.0)))
    broker.restart()


def kill_broker_and_driver(victim: Victim, dice: random.Random) -> None:
    """Both are killed, and the driver is started again when the broker is back."""
    broker = victim.outside.broker
    assert broker is not None
    victim.kill()
    broker.kill()
    broker.restart()
    victim.start()


ON_ANY: tuple[Fault, ...] = (
    nothing, kill_driver, kill_driver_in_its_first_batch, freeze_driver, delete_store, lock_store, cut_off_store,
    overwrite_store, store_of_a_later_version,
)  # fmt: skip
ON_KAFKA: tuple[Fault, ...] = (kill_broker, kill_broker_and_driver)


def faults_of(job: str) -> tuple[Fault, ...]:
    """What can happen to a job."""
    return ON_ANY if job == "microbatch" else ON_ANY + ON_KAFKA


def _files(store: Path) -> list[Path]:
    return [Path(f"{store}{ending}") for ending in ("", "-wal", "-shm")]


def _overwrite(store: Path, content: bytes) -> None:
    with store.open("r+b") as file:
        file.truncate(0)
        file.write(content)
