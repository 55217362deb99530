"""What a cluster is asked for. What it does: tests/spark/executors and tests/spark/application."""

from __future__ import annotations

import pytest

from penstock.model import InvalidValueError
from penstock.testbed.standalone import standalone_cluster


def test_a_cluster_takes_whole_workers_with_whole_cores() -> None:
    with (
        pytest.raises(InvalidValueError, match=r"^workers must be a whole number of at least 1"),
        standalone_cluster(0),
    ):
        pass
