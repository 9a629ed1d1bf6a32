"""What a shown test tried: its own lines, in the student's terms, up to the one that failed."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from grader.suite import tried


def assert_close(*args: Any, **kwargs: Any) -> None: ...


def test_like_a_suites(student: Any, n: int) -> None:
    """A docstring is not a line to paste."""
    x = [n, 2]
    assert_close(student.double(x), 4, atol=0.0)
    y = student.double(x)
    assert_close(
        student.half(y),
        2,
    )
    assert_close(student.half(student.keep(x)), 1)
    seen = student.observe("half", x)
    assert seen


# It is material, not a test.
a_suites_test = test_like_a_suites
del test_like_a_suites


def lines(at: str, parameters: Mapping[str, object] | None = None) -> list[str]:
    """What is told when the line that holds `at` fails."""
    return tried.lines(a_suites_test, _line_of(a_suites_test, at), parameters or {})


def _line_of(test: Callable[..., object], part: str) -> int:
    source, first = inspect.getsourcelines(test)
    return first + next(number for number, line in enumerate(source) if part in line)


def test_the_failing_assertion_is_told_as_the_call_that_it_checks() -> None:
    assert lines("double(x), 4") == ["x = [n, 2]", "double(x)"]


def test_assertions_that_held_are_left_out() -> None:
    assert lines("student.half(y)") == ["x = [n, 2]", "y = double(x)", "half(y)"]


def test_a_failing_statement_over_several_lines_is_found_by_any_of_them() -> None:
    assert lines("        2,") == lines("student.half(y)")


def test_parameters_come_first_as_assignments() -> None:
    assert lines("double(x), 4", {"n": 3}) == ["n = 3", "x = [n, 2]", "double(x)"]


def test_what_is_kept_or_observed_reads_like_a_plain_call() -> None:
    assert lines("keep(x)")[-1] == "half(x)"
    assert lines("observe")[-1] == "seen = half(x)"


def test_lines_after_the_failing_one_are_not_told() -> None:
    assert not [each for each in lines("double(x), 4") if "y" in each]


def test_in_a_shape(student: Any) -> None:
    x = [1, 2]
    if not student.works:
        return
    y = student.double(x, 3).T @ student.double(x).T
    assert_close(
        student.half(y, student.keep(x)),
        student.half(x),
    )


# It is material, not a test.
a_test_in_a_shape = test_in_a_shape
del test_in_a_shape


@pytest.mark.parametrize(
    ("axes", "told"),
    [
        ((), ["x = [1, 2]", "y = double(x, 3).T @ double(x).T", "half(y, x)"]),
        (
            (1, 0),
            [
                "x = [1, 2]",
                "y = double(x[None], 3)[0].T @ double(x[None])[0].T",
                "half(y[None], x)[0]",
            ],
        ),
        (
            (2, 1),
            [
                "x = [1, 2]",
                "y = double(x[None, None], 3[None])[0, 0].T @ double(x[None, None])[0, 0].T",
                "half(y[None, None], x[None])[0, 0]",
            ],
        ),
    ],
)
def test_a_call_in_another_shape_is_told_as_it_was_made(
    axes: tuple[int, ...], told: list[str]
) -> None:
    line = _line_of(a_test_in_a_shape, "student.half(y")

    assert tried.lines(a_test_in_a_shape, line, {}, axes=axes) == told
