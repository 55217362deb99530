"""Frames of a batch are built without what PySpark writes down for its error messages."""

from __future__ import annotations

import threading

import pytest
from pyspark.errors import utils

from penstock.spark.microbatch.call_sites import without_call_sites


@pytest.mark.parametrize("before", [None, True, False])
def test_it_is_afterwards_as_it_was_before(before: bool | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(utils, "_enable_debugging_cache", before)
    seen: list[bool] = []

    def build() -> None:
        with without_call_sites():
            seen.append(utils.is_debugging_enabled())
            raise ValueError("an operator that fails")

    with pytest.raises(ValueError, match="an operator"):
        build()
    assert seen == [False]
    assert utils._enable_debugging_cache is before


def test_the_last_of_several_threads_puts_it_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(utils, "_enable_debugging_cache", True)
    entered, left = threading.Event(), threading.Event()

    def other() -> None:
        with without_call_sites():
            entered.set()
            left.wait()

    thread = threading.Thread(target=other)
    with without_call_sites():
        thread.start()
        entered.wait()
    assert not utils.is_debugging_enabled()
    left.set()
    thread.join()
    assert utils.is_debugging_enabled()
