"""Every check of an argument returns the value in its working form, or names the argument, the wish and what came."""

import math

import numpy as np
import pytest

from supple import BadInput, UnknownName, _check


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: _check.finite_number(math.inf, "angle"), "angle must be a finite number, got inf"),
        (lambda: _check.finite_number(True, "angle"), "angle must be a finite number, got True"),
        (lambda: _check.positive(0, "dt", "seconds"), "dt must be a positive number of seconds, got 0"),
        (lambda: _check.positive(-1, "alpha", zero=True), "alpha must be a number, not negative, got -1"),
        (lambda: _check.positive("1", "rate"), "rate must be a positive number, got '1'"),
        (lambda: _check.positive(math.nan, "rate"), "rate must be a positive number, got nan"),
        (lambda: _check.fraction(0, "weight"), "weight must be above 0 and at most 1, got 0"),
        (lambda: _check.fraction(2, "weight", zero=True), "weight must lie between 0 and 1, got 2"),
        (lambda: _check.whole(1.0, "count"), "count must be a whole number, got 1.0"),
        (lambda: _check.whole(True, "count", 1), "count must be a whole number of at least 1, got True"),
        (lambda: _check.whole(9, "count", 1, 8), "count must be a whole number between 1 and 8, got 9"),
        (lambda: _check.whole(9, "count", most=8), "count must be a whole number of at most 8, got 9"),
        (lambda: _check.flag(1, "whole"), "whole must be True or False, got 1"),
        (lambda: _check.text("", "name"), "name must be a string that is not empty, got ''"),
        (lambda: _check.text(3, "prefix", empty=True), "prefix must be a string, got 3"),
        (lambda: _check.instance(3, dict, "data"), "data must be a dict, got 3"),
        (lambda: _check.instance(3, dict, "data", "{}"), "data must be a dict, such as {}, got 3"),
        (lambda: _check.function(3, "scheme"), "scheme must be a function, got 3"),
        (lambda: _check.numbers([1, None], "q"), "q must be numbers, got [1, None]"),
        (lambda: _check.numbers([1, object()], "q"), "q must be numbers, got [1, <object"),
        (lambda: _check.numbers("1", "q"), "q must be numbers, got '1'"),
        (lambda: _check.numbers([1j], "q", "(..., 2)"), "q must be numbers of shape (..., 2), got [1j]"),
        (lambda: _check.rows([1, 2], 3, "point"), "point must have shape (..., 3), not (2,)"),
        (lambda: _check.rows(3, 3, "point"), "point must have shape (..., 3), not ()"),
        (lambda: _check.rows([1, 2, math.nan], 3, "point"), "point must be finite, got [1.0, 2.0, nan]"),
        (lambda: _check.vector([[1, 2, 3]], 3, "axis"), "axis must have shape (3,), not (1, 3)"),
        (lambda: _check.one_or_each([1, 2], 3, "speed"), "speed must be one number or 3, got [1, 2]"),
        (lambda: _check.one_or_each(None, 3, "speed"), "speed must be one number or 3, got None"),
        (lambda: _check.unit_vector([0, 0, 0], 3, "axis"), "axis must not be zero"),
        (lambda: _check.leading_axes((2,), (3,), what="q and point"), "q and point have leading axes (2,) and (3,)"),
    ],
)
def test_a_refusal_names_the_argument_what_was_expected_and_what_came(call, message):
    with pytest.raises(BadInput) as refused:
        call()
    assert str(refused.value).startswith(message)


def test_a_word_is_answered_with_the_nearest():
    with pytest.raises(UnknownName, match="no order named 'wxzy'; did you mean 'wxyz'"):
        _check.one_of("wxzy", "order", ("wxyz", "xyzw"))


def test_good_values_come_back_in_their_working_form():
    assert _check.positive(np.float32(2), "rate") == 2.0
    assert _check.positive(0, "alpha", zero=True) == 0.0
    assert type(_check.whole(np.int64(3), "count", 1)) is int
    assert _check.flag(np.True_, "whole") is True
    assert _check.numbers([1, 2], "q").dtype == np.float64
    assert _check.numbers(np.ones((3, 2)).T, "q").flags.c_contiguous
    assert _check.one_or_each(math.inf, 2, "speed").tolist() == [math.inf, math.inf]
    assert _check.unit_vector([0, 3e200, 4e200], 3, "axis") == pytest.approx([0, 0.6, 0.8])
    assert _check.unit_vector([0, 3e-200, 4e-200], 3, "axis") == pytest.approx([0, 0.6, 0.8])


def test_an_error_about_something_long_stays_short():
    with pytest.raises(BadInput) as refused:
        _check.positive("x" * 10_000, "rate")
    assert len(str(refused.value)) < 200
