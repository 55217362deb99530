"""Faults of the store and of the disk that it shares with the checkpoint.

Each takes the victim and dice, and leaves when it is over.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chaos.victim import Victim

DISK_MEGABYTES = 256


def delete_store(victim: Victim, dice: random.Random) -> None:
    """The files of the store are deleted under it."""
    for file in _files(victim.store):
        file.unlink(missing_ok=True)


def move_store_away(victim: Victim, dice: random.Random) -> None:
    """The files of the store are away for two cycles, and then there again in the place of those that came after."""
    away = victim.folder / "away"
    away.mkdir(exist_ok=True)
    moved = [(file, away / file.name) for file in _files(victim.store) if file.exists()]
    for file, place in moved:
        shutil.move(file, place)
    victim.cycle()
    victim.cycle()
    delete_store(victim, dice)
    for file, place in moved:
        shutil.move(place, file)


def lock_store(victim: Victim, dice: random.Random) -> None:
    """Somebody else locks the store, for longer than a cycle waits for it."""
    connection = sqlite3.connect(victim.store, timeout=60, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    time.sleep(dice.uniform(6, 9))
    connection.execute("ROLLBACK")
    connection.close()


def make_store_read_only(victim: Victim, dice: random.Random) -> None:
    """Nobody may write the store, neither the driver that runs nor one that is started meanwhile."""
    read_only(victim.store, True)
    try:
        victim.cycle()
        victim.cycle()
        victim.kill()
        victim.start()
        victim.cycle()
    finally:
        for file in victim.store.parent.glob(f"{victim.store.name}*"):  # it may have been put aside
            read_only(file, False)


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
    _between_two_lives(victim, "UPDATE penstock_schema SET version = 99")


def store_of_an_earlier_version(victim: Victim, dice: random.Random) -> None:
    """The driver is killed, and finds a store that the first Penstock wrote, which had no points."""
    _between_two_lives(victim, "DROP TABLE penstock_points", "UPDATE penstock_schema SET version = 1")


def fill_disk(victim: Victim, dice: random.Random) -> None:
    """The disk of checkpoint and store is full for some seconds. A job that ends of it is started again."""
    assert victim.outside.disk is not None
    ballast = victim.outside.disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        size = 1 << 20
        while size:
            try:
                file.write(b"\0" * size)
            except OSError:  # in smaller and smaller pieces, until there is no room for a byte
                size //= 2
    time.sleep(dice.uniform(3, 8))
    ballast.unlink()


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """A small disk of its own at a folder, in memory."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MEGABYTES}m", "tmpfs", str(folder)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)  # processes that were killed may still hold it


def may_mount(folder: Path) -> bool:
    """Whether there may be a small disk."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        return False
    try:
        with small_disk(folder / "tried"):
            return True
    except subprocess.CalledProcessError:
        return False
    finally:
        (folder / "tried").rmdir()


def read_only(file: Path, on: bool) -> None:
    """For everybody: whoever runs this as root may write what the rights of a file forbid."""
    if os.geteuid() == 0:
        subprocess.run(["chattr", "+i" if on else "-i", str(file)], check=True)
    else:
        file.chmod(0o400 if on else 0o600)


def may_make_read_only(folder: Path) -> bool:
    tried = folder / "tried"
    tried.touch()
    try:
        read_only(tried, True)
        read_only(tried, False)
    except (OSError, subprocess.CalledProcessError):
        return False
    finally:
        tried.unlink()
    return True


def _between_two_lives(victim: Victim, *statements: str) -> None:
    victim.kill()
    with sqlite3.connect(victim.store, timeout=60) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()
    victim.start()


def _files(store: Path) -> list[Path]:
    return [Path(f"{store}{ending}") for ending in ("", "-wal", "-shm")]


def _overwrite(store: Path, content: bytes) -> None:
    with store.open("r+b") as file:
        file.truncate(0)
        file.write(content)
