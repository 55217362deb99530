"""A sink that calls a function of the user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Function:
    """Hands each batch and its number to a function, which may read the frame several times.

    The same number may come again after a crash: the function must see to it that it counts once.
    """

    function: Callable[[DataFrame, int], None]
    reads_again: ClassVar[bool] = True

    def write(self, frame: DataFrame, batch: int) -> None:
        self.function(frame, batch)
