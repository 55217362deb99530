"""Load curves, and every way in which a file of them can be wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from penstock.load.curves import daily, fluctuating, steps, surge
from penstock.load.trace import Trace, read_trace
from penstock.model import InvalidValueError, PenstockError


def test_a_file_is_read_as_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "taxi.csv"
    path.write_text("t_seconds,rate\n0,10\n300,20.5\n600,0\n")
    trace = read_trace(path)
    assert trace == Trace("taxi", (0.0, 300.0, 600.0), (10.0, 20.5, 0.0))
    assert trace.seconds == 600.0


def test_time_may_begin_anywhere() -> None:
    trace = Trace("late", (1000.0, 1010.0), (0.0, 10.0))
    assert trace.at(np.array([5.0])).tolist() == [5.0]


def test_a_curve_can_be_scaled_and_compressed() -> None:
    trace = Trace("day", (0.0, 86_400.0), (50.0, 100.0)).scaled(1000.0).compressed(24.0)
    assert trace.rates == (500.0, 1000.0)
    assert trace.seconds == 3600.0


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "must begin with the line t_seconds,rate"),
        ("time,load\n0,1\n1,1\n", "must begin with the line t_seconds,rate"),
        ("t_seconds,rate\n0,1\n", "must have at least two lines of figures"),
        ("t_seconds,rate\n0,1\n1,many\n", "line 3: rate must be a number, not 'many'"),
        ("t_seconds,rate\n0,1\n1,\n", "line 3: rate must be a number, not ''"),
        ("t_seconds,rate\n0,1\n1,-4\n", "line 3: rate must not be negative or infinite, not -4"),
        ("t_seconds,rate\n0,1\n1,nan\n", "line 3: rate must not be negative or infinite, not nan"),
        ("t_seconds,rate\n0,1\n1,inf\n", "line 3: rate must not be negative or infinite, not inf"),
        ("t_seconds,rate\n0,1\n1,2,3\n", "line 3: must have two values, not 3"),
        ("t_seconds,rate\n0,1\n5,1\n5,1\n", "line 4: t_seconds must grow, but 5 follows 5"),
        ("t_seconds,rate\n0,1\n5,1\n20,1\n", "line 4: t_seconds must be evenly spaced by 5 s, but 20 follows 5"),
    ],
)
def test_a_mistake_is_named_by_its_line(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(PenstockError) as caught:
        read_trace(path)
    assert str(caught.value).startswith(f"trace {path}")
    assert str(caught.value).endswith(problem)


@pytest.mark.parametrize(
    "text", ["0,1\n5,2\n20,5\n25,6\n", "0,1\n5,2\n10,\n15,nan\n20,5\n25,6\n", "0,1\n5,2\n10,null\n20,5\n25,6\n"]
)
def test_gaps_are_filled_with_a_straight_line_if_that_is_asked_for(tmp_path: Path, text: str) -> None:
    path = tmp_path / "gaps.csv"
    path.write_text(f"t_seconds,rate\n{text}")

    filled = read_trace(path, fill_gaps=True)

    assert filled == Trace("gaps", (0.0, 5.0, 10.0, 15.0, 20.0, 25.0), (1.0, 2.0, 3.0, 4.0, 5.0, 6.0))
    with pytest.raises(PenstockError):
        read_trace(path)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("0,1\n5,many\n10,2\n", "line 3: rate must be a number, not 'many'"),
        ("0,1\n5,-1\n10,2\n", "line 3: rate must not be negative or infinite, not -1"),
        ("0,1\n5,1\n3,1\n", "line 4: t_seconds must grow, but 3 follows 5"),
        ("0,1\n5,\n10,\n", "must have at least two lines of figures"),
    ],
)
def test_what_is_no_gap_is_still_refused(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(f"t_seconds,rate\n{text}")
    with pytest.raises(PenstockError) as caught:
        read_trace(path, fill_gaps=True)
    assert str(caught.value).endswith(problem)


def test_a_file_that_is_not_there_or_not_text_is_named(tmp_path: Path) -> None:
    with pytest.raises(PenstockError, match=r"nowhere\.csv cannot be read: No such file"):
        read_trace(tmp_path / "nowhere.csv")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PenstockError, match=r"binary\.csv cannot be read: it is not a text file"):
        read_trace(tmp_path / "binary.csv")


def test_a_rate_that_whole_numbers_cannot_count_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="trace flood: rate at 60 s must be at most 1e"):
        Trace("flood", (0.0, 60.0), (0.0, 1e13))


def test_a_curve_can_be_cut_short() -> None:
    curve = Trace("ramp", (100.0, 160.0, 220.0), (0.0, 60.0, 0.0))

    assert curve.first(90.0) == Trace("ramp", (100.0, 160.0, 190.0), (0.0, 60.0, 30.0))
    assert curve.first(60.0) == Trace("ramp", (100.0, 160.0), (0.0, 60.0))
    assert curve.first(None) == curve.first(120.0) == curve.first(9999.0) == curve
    with pytest.raises(InvalidValueError, match="seconds must be a finite number"):
        curve.first(0.0)


def test_a_curve_of_zeros_cannot_have_a_peak() -> None:
    with pytest.raises(InvalidValueError, match="must not be 0 throughout"):
        Trace("dead", (0.0, 1.0), (0.0, 0.0)).scaled(5.0)


def test_formulas_do_what_their_names_say() -> None:
    assert steps((1.0, 3.0, 2.0), 10.0).at(np.array([5.0, 15.0, 25.0])).tolist() == [1.0, 3.0, 2.0]
    assert daily(10.0, 30.0).at(np.array([0.0, 43_200.0])).tolist() == pytest.approx([10.0, 30.0])
    assert surge(5.0, 50.0, 100.0).peak == 50.0


def test_fluctuations_leave_a_step_a_step() -> None:
    """A ramp of one point before each step would announce it."""
    restless = fluctuating(steps((10.0, 100.0, 10.0), 60.0), 10.0, 0.05, seed=1)
    just_before, just_after = restless.at(np.array([59.999, 60.001])).tolist()
    assert just_before < 13.0
    assert just_after > 80.0
    assert restless.at(np.array([119.999]))[0] > 80.0
    assert restless.seconds == 180.0
