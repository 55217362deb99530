"""What the benchmarks of `predictive` make of their runs."""

import pytest

from benchmarks.yardstick import OURS, Run, saved_by_load


def run(load: str, policy: str, missed: float, core_seconds: float) -> Run:
    return Run("clicks", load, "ideal", 1, policy, missed, core_seconds, 1.0, 1.0, 0.5, 1.0)


def test_load_by_load_ours_is_compared_with_the_cheapest_that_misses_no_more() -> None:
    runs = [
        run("calm", OURS, 0.4, 60.0),
        run("calm", "ds2", 0.4, 80.0),
        run("calm", "threshold", 0.1, 100.0),
        run("calm", "hpa", 0.5, 50.0),  # cheaper, but it misses more
        run("jumpy", OURS, 0.1, 90.0),
        run("jumpy", "ds2", 7.0, 40.0),
        run("jumpy", "threshold", 0.2, 80.0),
    ]
    assert saved_by_load(runs) == pytest.approx([0.25])
