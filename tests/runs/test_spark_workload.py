"""Plans that someone would choose by hand for a job on Spark."""

from __future__ import annotations

import pytest

from penstock.demo.clicks_on_spark import CLICKS
from penstock.model import Execution


def test_an_instance_is_busy_for_the_records_that_reach_it() -> None:
    assert CLICKS.busy(1000.0) == pytest.approx({"parse": 0.0, "enrich": 3.6, "sessions": 5.4, "publish": 0.0})


def test_concurrent_operators_get_what_each_needs_and_sequential_ones_what_all_need() -> None:
    """At 270 clicks/s enrich keeps 0.97 instances busy, sessions 1.46; 0.6 of a micro-batch goes to records."""
    concurrent = CLICKS.sized_for(270.0, Execution.CONCURRENT)
    sequential = CLICKS.sized_for(270.0, Execution.SEQUENTIAL)

    assert str(concurrent) == "parse 1, enrich 2, sessions 3, publish 1"
    assert str(sequential) == "parse 9, enrich 9, sessions 9, publish 9"
