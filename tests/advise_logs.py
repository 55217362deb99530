"""The event logs that real Spark jobs wrote: `tests/advise/write_logs.py` says how."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent / "advise" / "logs"
LOGS = sorted(FOLDER.glob("spark-*"))
KINDS = ("narrow", "shuffled", "stateful", "two")
VERSIONS = ("3.5", "4.0", "4.1", "4.2", "4.3")


def named(version: str, kind: str) -> Path:
    """The log of a version that begins so."""
    (found,) = FOLDER.glob(f"spark-{version}*-{kind}.*")
    return found
