"""What a version of PySpark lacks, in one sentence."""

from __future__ import annotations

import re

import pyspark

from penstock.model import PenstockError

PIPELINES = (4, 3)
"""Real-time mode shuffles from this version on, and micro-batches read their source with what it has."""

STATE_REPARTITION = (4, 2)

BATCH_CONTEXT = (4, 0)
"""From this version on a batch that runs has an object of its own, with its offsets."""


class VersionError(PenstockError):
    """This version of PySpark does not have what is asked for."""


def require(what: str, since: tuple[int, int], version: str = pyspark.__version__) -> None:
    """Refuse what this PySpark does not have.

    >>> require("a pipeline", (4, 3), "4.3.0")
    >>> require("a pipeline", (4, 3), "3.5.9")
    Traceback (most recent call last):
    penstock.spark.versions.VersionError: a pipeline needs PySpark 4.3 or newer, and this is 3.5.9; watch, attach and \
penstock run work with it
    """
    if not has(since, version):
        newest = ".".join(map(str, since))
        raise VersionError(
            f"{what} needs PySpark {newest} or newer, and this is {version}; watch, attach and penstock run work "
            "with it"
        )


def has(since: tuple[int, int], version: str = pyspark.__version__) -> bool:
    """Whether this PySpark is as new.

    >>> has((4, 0), "3.5.9"), has((4, 0), "4.10.0.dev1")
    (False, True)
    """
    major, minor = map(int, re.findall(r"\d+", version)[:2])
    return (major, minor) >= since
