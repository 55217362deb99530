"""What a version of PySpark lacks, in one sentence."""

from __future__ import annotations

import re

import pyspark

from penstock.model import PenstockError

PIPELINES = (4, 3)
"""Real-time mode shuffles from this version on, and micro-batches read their source with what it has."""

STATE_REPARTITION = (4, 2)


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
    major, minor = map(int, re.findall(r"\d+", version)[:2])
    if (major, minor) < since:
        newest = ".".join(map(str, since))
        raise VersionError(
            f"{what} needs PySpark {newest} or newer, and this is {version}; watch, attach and penstock run work "
            "with it"
        )
