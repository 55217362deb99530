"""A slice of `python -m benchmarks soak`: what a controller holds does not grow with its cycles."""

from benchmarks.soak import soak


def test_threads_handles_and_the_store_stay_as_they_are() -> None:
    first, *_, last = soak(cycles=3_000, looks=3)
    assert last.threads <= first.threads + 1  # one may be thinking
    assert last.handles <= first.handles + 3  # a store that is being written to has three files open
    assert last.store_mb <= 1.2 * first.store_mb
