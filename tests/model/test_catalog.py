"""One file in a family's package is one member; others are reached as "module:Class"."""

import sys
from pathlib import Path
from textwrap import dedent

import pytest

from penstock.model import InvalidValueError
from penstock.model.catalog import Catalog
from penstock.policies import POLICIES
from penstock.policies.ds2 import Ds2

FILES = {
    "family/__init__.py": "",
    "family/_shared.py": "",
    "family/empty.py": "",
    "family/swift.py": '''
        from dataclasses import dataclass
        from typing import ClassVar
        from penstock.model.options import option

        @dataclass
        class Helper:
            name: str = "helper"

        @dataclass
        class Swift:
            """Flies fast.

            And high.
            """

            name: ClassVar[str] = "swift"
            source: ClassVar[str] = "a book"
            speed: float = option(1.0, "how fast", "m/s")
        ''',
    "family_broken.py": "1 / 0",
    "family_guest.py": """
        class Guest:
            name = "guest"

        class Nameless: ...

        THING = 3
        """,
}


@pytest.fixture
def family(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Catalog[object]:
    for path, text in FILES.items():
        file = tmp_path / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(dedent(text))
    monkeypatch.syspath_prepend(tmp_path)
    for module in [name for name in sys.modules if name.startswith("family")]:
        monkeypatch.delitem(sys.modules, module)
    return Catalog("bird", "family")


def test_the_files_of_the_package_are_the_names(family: Catalog[object]) -> None:
    assert family.names() == ["empty", "swift"]


def test_a_member_is_made_from_its_options(family: Catalog[object]) -> None:
    swift = family.create("swift", {"speed": 3})
    assert (type(swift).__name__, vars(swift)) == ("Swift", {"speed": 3.0})
    assert vars(family.create("swift")) == {"speed": 1.0}


def test_a_member_describes_itself(family: Catalog[object]) -> None:
    entry = family.describe("swift")
    assert (entry.name, entry.summary, entry.source) == ("swift", "Flies fast.", "a book")
    assert [(option.name, option.default, option.unit) for option in entry.options] == [("speed", 1.0, "m/s")]


def test_a_class_from_outside_is_reached_by_module_and_name(family: Catalog[object]) -> None:
    assert type(family.create("family_guest:Guest")).__name__ == "Guest"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("swfit", "bird 'swfit' is not known; did you mean 'swift'? There is: empty, swift"),
        ("_shared", "bird '_shared' is not known. There is: empty, swift"),
        ("empty", "bird 'empty' has no class named so in family.empty"),
        ("family_guest:Nobody",
         "bird 'family_guest:Nobody' cannot be loaded: module 'family_guest' has no attribute 'Nobody'"),
        ("no_such_module:Bird", "bird 'no_such_module:Bird' cannot be loaded: No module named 'no_such_module'"),
        ("family_broken:Bird", "bird 'family_broken:Bird' cannot be loaded: division by zero"),
        (":Bird", "bird ':Bird' cannot be loaded: Empty module name"),
        ("family_guest:Nameless", "bird 'family_guest:Nameless' must be a class with a name of its own"),
        ("family_guest:THING", "bird 'family_guest:THING' must be a class with a name of its own"),
    ],
)  # fmt: skip
def test_what_cannot_be_found_is_refused_in_one_sentence(family: Catalog[object], name: str, sentence: str) -> None:
    with pytest.raises(InvalidValueError) as refused:
        family.create(name)
    assert str(refused.value) == sentence


def test_a_wrong_option_is_refused_with_the_name_of_its_owner(family: Catalog[object]) -> None:
    with pytest.raises(InvalidValueError) as refused:
        family.create("swift", {"speed": "fast"})
    assert str(refused.value) == "bird swift: speed must be of type float, not 'fast'"


def test_every_policy_is_in_its_own_file_and_says_what_it_is() -> None:
    assert POLICIES.load("ds2") is Ds2
    for name in POLICIES.names():
        entry = POLICIES.describe(name)
        assert entry.summary
        assert all(option.meaning for option in entry.options)
