"""What a version of PySpark lacks, in one sentence."""

from __future__ import annotations

import re

import pyspark

from penstock.model import PenstockError

REAL_TIME = (4, 3)
"""From this version on real-time mode shuffles."""

STATE_REPARTITION = (4, 2)

REPLAY = (4, 2)
"""From this version on a source in Python can be told how many records a batch may take."""

CHECKPOINTING_PACKAGE = (4, 1)
"""From this version on what writes checkpoints lies in a package of its own."""

CLASSIC = (4, 0)
"""From this version on a session without Spark Connect has classes of its own."""

BATCH_CONTEXT = (4, 0)
"""From this version on a batch that runs has an object of its own, with its offsets."""

RESULT_STAGE = (4, 0)
"""From this version on there is a node that runs a physical plan as it stands."""

CATALOGUE_FUNCTIONS = (4, 0)
"""From this version on the call of a static method says which function of a catalogue it stands for."""

LOGGER = (4, 0)
"""From this version on PySpark logs what the analyser refuses."""

CONDITION = (4, 0)
"""From this version on an error has a condition; before it is called a class."""


class VersionError(PenstockError):
    """This version of PySpark does not have what is asked for."""


def require(what: str, since: tuple[int, int], version: str = pyspark.__version__) -> None:
    """Refuse what this PySpark does not have.

    >>> require("the engine realtime", (4, 3), "4.3.0")
    >>> require("the engine realtime", (4, 3), "3.5.9")
    Traceback (most recent call last):
    penstock.spark.versions.VersionError: the engine realtime needs PySpark 4.3 or newer, and this is 3.5.9; watch, \
attach, penstock run and pipelines in micro-batches work with it
    """
    if not has(since, version):
        newest = ".".join(map(str, since))
        raise VersionError(
            f"{what} needs PySpark {newest} or newer, and this is {version}; watch, attach, penstock run and pipelines "
            "in micro-batches work with it"
        )


def has(since: tuple[int, int], version: str = pyspark.__version__) -> bool:
    """Whether this PySpark is as new.

    >>> has((4, 0), "3.5.9"), has((4, 0), "4.10.0.dev1")
    (False, True)
    """
    major, minor = map(int, re.findall(r"\d+", version)[:2])
    return (major, minor) >= since
