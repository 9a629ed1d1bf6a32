"""What a shown test tried: its own lines, in the student's terms, up to the one that failed."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

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
