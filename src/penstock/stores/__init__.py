"""Stores keep cycles and what policies learnt."""

from __future__ import annotations

from datetime import timedelta

from penstock.control.ports import Store
from penstock.model import duration


def open_store(
    store: Store | str | None = None, job: str = "default", retention: str | timedelta = "90 d"
) -> Store:  # fmt: skip
    """The store at a URL such as "sqlite:///penstock.db"; for None or "memory", one that ends with the process.

    A database keeps cycles for as long as `retention` says. A store that is given ready-made is used as it is.

    >>> open_store("memory").recent(10)
    []
    """
    if store is None or store == "memory":
        from penstock.stores.memory import MemoryStore

        return MemoryStore()
    if not isinstance(store, str):
        return store
    from penstock.stores.sql import SqlStore  # SQLAlchemy takes long to import: only a database needs it

    return SqlStore(store, job, duration("retention", retention))
