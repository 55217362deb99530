"""A frozen map is a dict that cannot change: it can be shared, hashed and sent to other processes."""

import copy
import os
import pickle
import subprocess
import sys
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model import FrozenMap

DICTS = st.dictionaries(st.text(max_size=3), st.integers())


@given(DICTS)
def test_it_equals_the_dict_it_was_made_of(data: dict[str, int]) -> None:
    frozen = FrozenMap(data)
    assert frozen == data
    assert frozen == FrozenMap(data)
    assert frozen == MappingProxyType(data)
    assert list(frozen) == list(data) == list(frozen.keys())
    assert list(frozen.values()) == list(data.values())
    assert list(frozen.items()) == list(data.items())
    assert len(frozen) == len(data)
    assert all(key in frozen for key in data)


@given(DICTS)
def test_equal_maps_have_equal_hashes_whatever_their_order(data: dict[str, int]) -> None:
    backwards = dict(reversed(data.items()))
    assert hash(FrozenMap(data)) == hash(FrozenMap(backwards))
    assert FrozenMap(data) == FrozenMap(backwards)


@given(DICTS, DICTS)
def test_a_union_makes_a_new_map_and_leaves_the_old_ones(left: dict[str, int], right: dict[str, int]) -> None:
    frozen = FrozenMap(left)
    assert frozen | right == {**left, **right}
    assert frozen == left


def test_it_does_not_follow_the_dict_it_was_made_of() -> None:
    data = {"split": 1}
    frozen = FrozenMap(data)
    data["split"] = 2
    assert frozen["split"] == 1
    with pytest.raises(TypeError):
        frozen["split"] = 2  # type: ignore[index]


@given(DICTS)
def test_copies_and_pickles_are_equal(data: dict[str, int]) -> None:
    frozen = FrozenMap(data)
    hash(frozen)
    for twin in (pickle.loads(pickle.dumps(frozen)), copy.copy(frozen), copy.deepcopy(frozen)):
        assert twin == frozen
        assert hash(twin) == hash(frozen)
        assert repr(twin) == repr(frozen)


def test_a_map_hashed_in_one_process_is_found_in_a_set_of_another() -> None:
    # Python salts the hash of text anew in each process: a hash that travels along would find nothing.
    frozen = FrozenMap({"split": 2})
    hash(frozen)
    program = (
        "import pickle, sys; from penstock.model import FrozenMap;"
        "arrived = pickle.load(sys.stdin.buffer); print(arrived in {FrozenMap({'split': 2})})"
    )
    for salt in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": salt, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        found = subprocess.run(
            [sys.executable, "-c", program],
            input=pickle.dumps(frozen),
            capture_output=True,
            check=True,
            env=environment,
        )
        assert found.stdout.strip() == b"True"


def test_what_cannot_be_hashed_says_so() -> None:
    with pytest.raises(TypeError):
        hash(FrozenMap({"figures": []}))
