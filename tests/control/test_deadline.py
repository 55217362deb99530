"""A call that hangs is left behind; everything else goes through unchanged."""

import sys
import threading

import pytest

from penstock.control.deadline import Deadline, TooSlowError

PATIENT = 60.0
HASTY = 0.01


def test_an_answer_in_time_is_passed_on() -> None:
    assert Deadline(PATIENT).call(lambda: 42) == 42


def test_an_error_in_time_is_passed_on() -> None:
    def fail() -> int:
        raise KeyError("split")

    with pytest.raises(KeyError, match="split"):
        Deadline(PATIENT).call(fail)


def test_a_call_that_hangs_is_given_up_and_no_other_is_begun_until_it_returns() -> None:
    release, begun = threading.Event(), threading.Event()
    deadline = Deadline(HASTY)
    try:
        with pytest.raises(TooSlowError, match=r"no answer within 0\.01 s"):
            deadline.call(release.wait)
        assert deadline.busy
        with pytest.raises(TooSlowError, match="an earlier call is still running"):
            deadline.call(begun.set)
        assert not begun.is_set()
    finally:
        release.set()
    assert deadline._left_behind is not None
    deadline._left_behind.join()
    assert not deadline.busy
    deadline.seconds = PATIENT
    assert deadline.call(lambda: "back again") == "back again"


def test_a_call_that_wants_to_end_the_process_ends_only_itself() -> None:
    with pytest.raises(RuntimeError, match=r"SystemExit\(3\)"):
        Deadline(PATIENT).call(lambda: sys.exit(3))


def test_without_a_limit_the_call_runs_on_the_callers_own_thread() -> None:
    assert Deadline(None).call(threading.current_thread) is threading.current_thread()
    assert Deadline(PATIENT).call(threading.current_thread) is not threading.current_thread()
