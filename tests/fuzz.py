"""What hypothesis makes of an answer that was right: fields missing, unknown, null, of another type, sentinels, NaN."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hypothesis import strategies as st

STRANGE: list[Any] = [
    None, True, "", "12", "not a number", "<script>", -1, -1001, -1.5, 0, 1, 10**12, 2**63, 10**400, 1e308, math.nan,
    math.inf, -math.inf, [], [None], {}, {"unknown": {"deep": [1, 2, {"deeper": None}]}}, "\ud800", "\x00",
]  # fmt: skip
"""Null, what other types have, sentinels as Kafka's -1001, numbers that no counter holds."""


@st.composite
def mutated(draw: st.DrawFn, right: Any, most: int = 3) -> Any:
    """The value with up to `most` things wrong in it, at any depth."""
    value = copy.deepcopy(right)
    for _ in range(draw(st.integers(1, most))):
        value = _with_one_thing_wrong(draw, value)
    return value


def _with_one_thing_wrong(draw: st.DrawFn, value: Any) -> Any:
    if not isinstance(value, dict | list) or not value or draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from(STRANGE))
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = draw(st.sampled_from(keys))
    what = draw(st.sampled_from(["inside", "inside", "replace", "remove", "add", "twice"]))
    if what == "inside":
        value[key] = _with_one_thing_wrong(draw, value[key])
    elif what == "replace":
        value[key] = draw(st.sampled_from(STRANGE))
    elif what == "remove":
        del value[key]
    elif isinstance(value, dict):
        value["a field of a later version"] = draw(st.sampled_from(STRANGE))
    else:
        value.append(copy.deepcopy(value[key]))
    return value


def is_a_figure(value: float | None) -> bool:
    """Whether it is a measurement, or said not to be known."""
    return value is None or (not isinstance(value, bool) and math.isfinite(value) and value >= 0)


@contextmanager
def refused_in_one_line(kind: type[Exception], about: str = "") -> Iterator[None]:
    """What is inside goes well, or is refused by this error: one line, with these words in it."""
    try:
        yield
    except kind as error:
        text = str(error)
        if not text or "\n" in text or about not in text:
            raise AssertionError(f"not one clear line: {text!r}") from error
