"""A database by its URL: SQLite in a file, or any other that SQLAlchemy supports."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import sqlalchemy as sql
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from penstock.model import PenstockError
from penstock.model.secrets import without_secrets


class Database:
    """What a store and a history share: the engine, and errors in sentences.

    name  the URL without its password
    file  the file of a SQLite database; None for one in memory, and for other databases
    """

    def __init__(self, url: str) -> None:
        try:
            self.file = _file_of(url)
            # A connection that is kept open would go on writing into a file that was deleted.
            self.engine = sql.create_engine(url, poolclass=None if self.file is None else sql.NullPool)
        except (ArgumentError, NoSuchModuleError, ModuleNotFoundError, ValueError) as error:
            raise PenstockError(f"store {_without_password(url)} cannot be used: {_first_line(error)}") from None
        self.name = _without_password(url)
        if self.engine.dialect.name == "sqlite":
            sql.event.listen(self.engine, "connect", _prepare_sqlite)

    @contextmanager
    def sentences(self, done: str) -> Iterator[None]:
        """An error of the database inside the block becomes one sentence."""
        try:
            yield
        except (SQLAlchemyError, TypeError) as error:  # a driver takes a wrong option of an address for a keyword
            raise PenstockError(f"store {self.name} cannot be {done}: {_first_line(error)}") from error

    def make_private(self) -> None:
        """Make the file of a new SQLite database readable by its owner only; SQLite gives those beside it the same
        rights. One that is there keeps the rights that somebody gave it."""
        if self.file is not None:
            with suppress(OSError):  # it is there, or its folder is not: SQLite says so itself
                os.close(os.open(self.file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))

    def close(self) -> None:
        self.engine.dispose()


def _file_of(url: str) -> Path | None:
    """The file of a SQLite database; None for one in memory, and for other databases."""
    parsed = sql.make_url(url)
    named = parsed.database if parsed.get_backend_name() == "sqlite" else None
    return None if not named or named == ":memory:" or named.startswith("file:") else Path(named)


def _prepare_sqlite(connection: Any, _record: object) -> None:
    """WAL lets a report read while the loop writes. FULL waits for the disk at each commit, so that neither a
    killed process nor a power cut loses more than the current cycle (NORMAL protects from the former only);
    that is one flush to disk for each cycle, and cycles are seconds apart."""
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.close()


def _first_line(error: Exception) -> str:
    """The error text of the database itself, without SQLAlchemy's statement and link."""
    return without_secrets(str(getattr(error, "orig", None) or error)).partition("\n")[0]


def _without_password(url: str) -> str:
    try:
        return without_secrets(sql.make_url(url).render_as_string(hide_password=True))
    except (ArgumentError, ValueError):
        return repr(url.rpartition("@")[2])
