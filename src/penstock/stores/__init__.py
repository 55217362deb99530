"""Stores keep cycles and what policies learnt."""

from __future__ import annotations

from penstock.control.ports import Store


def open_store(url: str | None = None, job: str = "default") -> Store:
    """The store at `url`, such as "sqlite:///penstock.db"; for None or "memory", one that ends with the process.

    >>> open_store("memory").recent(10)
    []
    """
    if url is None or url == "memory":
        from penstock.stores.memory import MemoryStore

        return MemoryStore()
    from penstock.stores.sql import SqlStore  # SQLAlchemy takes long to import: only a database needs it

    return SqlStore(url, job)
