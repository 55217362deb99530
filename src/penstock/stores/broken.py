"""A store that nobody named must not keep a job from starting: one that cannot be used is put aside."""

from __future__ import annotations

import logging
from contextlib import suppress
from pathlib import Path

from penstock.model import PenstockError

log = logging.getLogger("penstock")

BESIDE = ("", "-wal", "-shm")
"""The files of a SQLite database, by what is added to its name."""


def usable_store(file: Path) -> str | None:
    """The URL of a store in this file, once one that cannot be used is put aside; None where there cannot be any, as
    the disk is full or nobody may write there: the history is kept in memory then.

    >>> usable_store(Path("/proc/penstock.db")) is None
    True
    """
    url = f"sqlite:///{file}"
    try:
        put_aside_if_broken(file)
        _try(url)
    except (PenstockError, OSError) as error:
        log.warning("the history is kept in memory, as there can be no store at %s: %s", file, error)
        return None
    return url


def put_aside_if_broken(file: Path) -> Path | None:
    """Rename the SQLite file of a store that is cut off, foreign, or of a later Penstock; returns its new name. What it
    held is not lost that way, and a new one is begun."""
    if not file.exists():
        return None
    try:
        _try(f"sqlite:///{file}")
    except PenstockError as error:
        aside = next(name for number in range(1, 10_000) if not (name := Path(f"{file}.broken-{number}")).exists())
        for ending in BESIDE:
            with suppress(FileNotFoundError):
                Path(f"{file}{ending}").rename(f"{aside}{ending}")
        log.warning("%s; it is kept as %s, and a new one is begun", error, aside.name)
        return aside
    return None


def _try(url: str) -> None:
    """Raises PenstockError for a store that cannot be used."""
    from penstock.stores.sql import SqlStore  # SQLAlchemy takes long to import

    SqlStore(url).close()
