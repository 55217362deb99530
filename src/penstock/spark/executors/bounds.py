"""How many executors an application may have: the option `executors` of everything that runs on a cluster."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.model import InvalidValueError
from penstock.model.errors import check_whole


@dataclass(frozen=True, slots=True)
class Bounds:
    """The fewest and the most executors.

    >>> Bounds.of((1, 20))
    Bounds(fewest=1, most=20)
    """

    fewest: int
    most: int

    def __post_init__(self) -> None:
        check_whole("executors: the fewest", self.fewest, 1)
        check_whole("executors: the most", self.most, self.fewest)

    @classmethod
    def of(cls, executors: tuple[int, int]) -> Bounds:
        """What a user wrote, refused if it cannot be."""
        try:
            fewest, most = executors
        except (TypeError, ValueError):
            raise InvalidValueError(
                "executors", f"must be the fewest and the most, such as (1, 20), not {executors!r}"
            ) from None
        return cls(fewest, most)
