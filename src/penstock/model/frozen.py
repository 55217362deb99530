"""A mapping that cannot change, so that values made of it can be shared, hashed and sent to other processes."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class FrozenMap(Mapping[K, V], Generic[K, V]):
    """An immutable dict. Unlike `MappingProxyType` it can be hashed and pickled.

    >>> plan = FrozenMap({"split": 2})
    >>> plan["split"], plan == {"split": 2}, plan | {"count": 3}
    (2, True, FrozenMap({'split': 2, 'count': 3}))
    """

    __slots__ = ("_data", "_hash")

    def __init__(self, data: Mapping[K, V] | None = None) -> None:
        self._data: dict[K, V] = dict(data) if data else {}
        self._hash: int | None = None

    def __getitem__(self, key: K) -> V:
        return self._data[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    # The mixins of Mapping go through __getitem__; these are the same, at the speed of a dict.
    def __contains__(self, key: object) -> bool:
        return key in self._data

    def keys(self) -> KeysView[K]:
        return self._data.keys()

    def values(self) -> ValuesView[V]:
        return self._data.values()

    def items(self) -> ItemsView[K, V]:
        return self._data.items()

    def __or__(self, other: Mapping[K, V]) -> FrozenMap[K, V]:
        return FrozenMap({**self._data, **other})

    def __eq__(self, other: object) -> bool:
        if isinstance(other, FrozenMap):
            return self._data == other._data
        return self._data == other

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self._data.items()))
        return self._hash

    def __reduce__(self) -> tuple[type[FrozenMap[K, V]], tuple[dict[K, V]]]:
        # Without the hash: that of a text differs from process to process.
        return FrozenMap, (self._data,)

    def __repr__(self) -> str:
        return f"FrozenMap({self._data!r})"
