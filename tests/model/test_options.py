"""Options are declared once; what does not fit them is refused by name."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from penstock.model import FrozenMap, InvalidValueError
from penstock.model.options import Option, configure, describe, option


@dataclass(frozen=True)
class Example:
    ratio: float = option(0.5, "how much", "ratio")
    count: int = option(3, "how many")
    word: str = option("mean", "which one")
    really: bool = option(False, "whether")
    limit: float | None = option(None, "at most", "s")
    rates: tuple[float, ...] = option((1.0,), "rates to try", "records/s")
    span: tuple[float, int] = option((1.0, 2), "from and how many")
    plan: Mapping[str, int] | None = option(None, "by operator")
    hidden: int = 7


class Plain:
    """Nothing to configure."""


def test_options_describe_themselves() -> None:
    described = describe(Example)
    assert [each.name for each in described] == [
        "ratio", "count", "word", "really", "limit", "rates", "span", "plan",
    ]  # fmt: skip
    assert described[0] == Option("ratio", "how much", "ratio", "float", 0.5)
    assert described[4].default is None
    assert describe(Plain) == ()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"ratio": 1}, 1.0),
        ({"ratio": 0.25}, 0.25),
        ({"count": 4}, 4),
        ({"word": "p95"}, "p95"),
        ({"really": True}, True),
        ({"limit": None}, None),
        ({"limit": 2}, 2.0),
        ({"rates": [1, 2.5]}, (1.0, 2.5)),
        ({"rates": []}, ()),
        ({"span": [1, 2]}, (1.0, 2)),
        ({"plan": {"split": 2}}, FrozenMap({"split": 2})),
        ({"plan": None}, None),
    ],
)
def test_plain_values_fit_the_declared_types(given: dict[str, Any], expected: Any) -> None:
    value = getattr(configure(Example, given), next(iter(given)))
    assert value == expected
    assert type(value) is type(expected)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"ratio": "high"}, "options: ratio must be of type float, not 'high'"),
        ({"ratio": True}, "options: ratio must be of type float, not True"),
        ({"ratio": math.nan}, "options: ratio must be a number, not nan"),
        ({"ratio": None}, "options: ratio must be of type float, not None"),
        ({"count": 2.0}, "options: count must be of type int, not 2.0"),
        ({"count": True}, "options: count must be of type int, not True"),
        ({"word": 1}, "options: word must be of type str, not 1"),
        ({"really": 1}, "options: really must be of type bool, not 1"),
        ({"limit": "1 s"}, "options: limit must be of type float or nothing, not '1 s'"),
        ({"rates": 3}, "options: rates must be of type tuple, not 3"),
        ({"rates": ["fast"]}, "options: rates must be of type float, not 'fast'"),
        ({"span": [1]}, "options: span must have 2 values, not 1"),
        ({"plan": {"split": "two"}}, "options: plan: split must be of type int, not 'two'"),
        ({"plan": {1: 2}}, "options: plan must be of type str, not 1"),
        ({"plan": [1]}, "options: plan must be of type Mapping or nothing, not [1]"),
        (
            {"raito": 1},
            "options: option 'raito' is not known; did you mean 'ratio'? "
            "There is: count, limit, plan, rates, ratio, really, span, word",
        ),
        (
            {"hidden": 1},
            "options: option 'hidden' is not known. There is: count, limit, plan, rates, ratio, really, span, word",
        ),
    ],
)
def test_what_does_not_fit_is_refused_by_name(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidValueError) as refused:
        configure(Example, given)
    assert str(refused.value) == sentence


def test_a_class_without_options_takes_none() -> None:
    assert isinstance(configure(Plain, {}), Plain)
    with pytest.raises(InvalidValueError) as refused:
        configure(Plain, {"high": 1}, owner="policy plain")
    assert str(refused.value) == "policy plain: option 'high' is not known. There is: nothing"
