"""A store that nobody named must not keep a job from starting: one that cannot be used is put aside."""

from __future__ import annotations

import logging
from contextlib import suppress
from pathlib import Path

from penstock.model import PenstockError

log = logging.getLogger("penstock")

BESIDE = ("", "-wal", "-shm")
"""The files of a SQLite database, by what is added to its name."""


def put_aside_if_broken(file: Path) -> Path | None:
    """Rename the SQLite file of a store that is cut off, foreign, or of a later Penstock; returns its new name. What it
    held is not lost that way, and a new one is begun."""
    if not file.exists():
        return None
    from penstock.stores.sql import SqlStore  # SQLAlchemy takes long to import

    try:
        SqlStore(f"sqlite:///{file}").close()
    except PenstockError as error:
        aside = next(name for number in range(1, 10_000) if not (name := Path(f"{file}.broken-{number}")).exists())
        for ending in BESIDE:
            with suppress(FileNotFoundError):
                Path(f"{file}{ending}").rename(f"{aside}{ending}")
        log.warning("%s; it is kept as %s, and a new one is begun", error, aside.name)
        return aside
    return None
