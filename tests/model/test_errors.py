"""A problem is one sentence that names the field, and it survives the way to another process."""

import math
import pickle

import pytest

from penstock.model.errors import (
    InvalidValueError,
    MissingFigureError,
    PenstockError,
    check_choice,
    check_number,
    check_required_number,
    check_whole,
    unknown,
)


def test_an_invalid_value_is_a_value_error_and_one_the_command_line_can_print() -> None:
    error = InvalidValueError("rate", "must not be negative, not -3")
    assert str(error) == "rate must not be negative, not -3"
    assert (error.field, error.problem) == ("rate", "must not be negative, not -3")
    assert isinstance(error, ValueError)
    assert isinstance(error, PenstockError)


@pytest.mark.parametrize(
    "error", [InvalidValueError("rate", "must be a number"), MissingFigureError("queue", "split"), PenstockError("no")]
)
def test_an_error_raised_in_another_process_says_the_same_here(error: PenstockError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)


def test_a_missing_figure_is_the_jobs_unless_an_operator_is_named() -> None:
    assert str(MissingFigureError("backlog")) == "backlog of the job was not measured"
    assert str(MissingFigureError("queue", "split")) == "queue of split was not measured"


@pytest.mark.parametrize("value", [0, 0.0, 3, 2.5, 1e300])
def test_a_finite_number_passes(value: float) -> None:
    check_number("rate", value)
    check_required_number("rate", value)


@pytest.mark.parametrize("value", [-1, -0.1, math.nan, math.inf, -math.inf, "3", True, False, [3], 1j])
def test_what_is_no_finite_number_is_refused(value: float) -> None:
    with pytest.raises(InvalidValueError) as refused:
        check_number("rate", value)
    assert str(refused.value) == f"rate must be a finite number of at least 0, not {value!r}"


def test_none_means_not_measured_where_a_figure_may_be_missing() -> None:
    check_number("rate", None)
    with pytest.raises(InvalidValueError, match=r"^rate must be a finite number of at least 0, not None$"):
        check_required_number("rate", None)  # type: ignore[arg-type]


def test_the_minimum_itself_passes() -> None:
    check_number("rate", 2, minimum=2)
    with pytest.raises(InvalidValueError, match=r"^rate must be a finite number of at least 2, not 1\.5$"):
        check_number("rate", 1.5, minimum=2)


@pytest.mark.parametrize("value", [0, -1, 1.0, "1", True, None])
def test_what_is_no_whole_number_is_refused(value: int) -> None:
    with pytest.raises(InvalidValueError) as refused:
        check_whole("parallelism", value, 1)
    assert str(refused.value) == f"parallelism must be a whole number of at least 1, not {value!r}"


def test_a_choice_names_the_nearest_one() -> None:
    check_choice("kind", "minimal", ("minimal", "expert"))
    with pytest.raises(InvalidValueError) as refused:
        check_choice("kind", "minmal", ("minimal", "expert"))
    assert str(refused.value) == "kind 'minmal' is not known; did you mean 'minimal'? There is: expert, minimal"


def test_an_unknown_name_far_from_all_others_gets_no_hint() -> None:
    assert unknown("zzz", ["ds2"]) == "'zzz' is not known. There is: ds2"
    assert unknown("zzz", []) == "'zzz' is not known. There is: nothing"
