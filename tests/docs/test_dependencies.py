"""The page of dependencies tells what is installed."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, metadata
from typing import Any

import pytest

from docs.generator.dependencies import WHY, direct, pinned


def test_every_direct_dependency_is_pinned_and_has_its_reason() -> None:
    assert direct().keys() == WHY.keys()
    assert direct().keys() <= pinned().keys()


@pytest.mark.parametrize("name", WHY)
def test_the_licence_is_the_one_that_the_package_has(name: str) -> None:
    try:
        said: Any = metadata(name)
    except PackageNotFoundError:
        pytest.skip(f"{name} is not installed")
    licence = " ".join([
        said.get("License-Expression") or "", said.get("License") or "",
        *(each for each in said.get_all("Classifier") or () if each.startswith("License")),
    ])  # fmt: skip
    family = re.split(r"[-\s]", WHY[name][0])[0]
    assert family in licence or (family == "PSF" and "Python Software Foundation" in licence), licence[:200]
