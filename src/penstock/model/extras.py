"""What a part of Penstock needs besides the base install, said in one sentence where it is missing.

The base install is what `watch`, `attach` and `penstock run` need in the driver of a job.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from penstock.model.errors import PenstockError

EXTRAS = {
    "arrow": ("pandas", "pyarrow"),
    "kafka": ("confluent_kafka",),
    "learners": ("scipy", "threadpoolctl"),
    "plots": ("matplotlib",),
    "simulator": ("numba", "scipy", "threadpoolctl"),
    "spark": ("pyspark",),
}
"""The extras, and the modules that each brings."""


class MissingExtraError(PenstockError, ImportError):
    """Something is not installed that a part of Penstock needs."""


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Around imports: a module of the extra that is missing is said in one sentence, with the command that brings it.

    >>> with needs("plots"):
    ...     raise ModuleNotFoundError("No module named 'matplotlib'", name="matplotlib")
    Traceback (most recent call last):
    penstock.model.extras.MissingExtraError: matplotlib is not installed: pip install 'penstock[plots]'
    """
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in EXTRAS[extra]:
            raise
        raise MissingExtraError(f"{missing} is not installed: pip install 'penstock[{extra}]'") from None


def ensure(extra: str) -> None:
    """Raise that sentence if something of the extra is missing, without importing anything: for a whole package."""
    with needs(extra):
        for module in EXTRAS[extra]:
            if find_spec(module) is None:
                raise ModuleNotFoundError(f"No module named {module!r}", name=module)
