"""What a shown test tried, in lines that a student can paste: cut from the test's own source.

So the call that is printed is the call that was made, and an author writes it once.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from functools import cache

MOST_LINES = 12


def lines(
    test: Callable[..., object], failing_line: int, parameters: Mapping[str, object]
) -> list[str]:
    """The statements of `test` up to the one that failed, in the student's own terms.

    Args:
        failing_line: line in the test's file.
        parameters: of a parametrized test, written as assignments.
    """
    told = [f"{name} = {value!r}" for name, value in parameters.items()]
    return [*told, *_statements(test, failing_line)][-MOST_LINES:]


@cache
def _statements(test: Callable[..., object], failing_line: int) -> tuple[str, ...]:
    """The same for every submission of a class, so each test is parsed once."""
    source, first = inspect.getsourcelines(test)
    text = textwrap.dedent("".join(source))
    function = ast.parse(text).body[0]
    if not isinstance(function, ast.FunctionDef):
        return ()
    told: list[str] = []
    for statement in function.body:
        if statement.lineno + first - 1 > failing_line:
            break
        failing = (statement.end_lineno or statement.lineno) + first - 1 >= failing_line
        told += _told(text, statement, failing=failing)
    return tuple(told)


def _told(text: str, statement: ast.stmt, *, failing: bool) -> list[str]:
    node: ast.AST = statement
    if isinstance(statement, ast.Expr):
        if isinstance(statement.value, ast.Constant):
            return []
        if _is_assertion(statement.value):
            if not failing:
                return []
            assert isinstance(statement.value, ast.Call)  # for mypy
            node = statement.value.args[0] if statement.value.args else statement
    segment = ast.get_source_segment(text, node) or ""
    return _as_the_student(textwrap.dedent(segment)).split("\n")


def _is_assertion(value: ast.expr) -> bool:
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Name):
        return False
    return value.func.id.startswith("assert_") or value.func.id == "fail"


def _as_the_student(code: str) -> str:
    code = re.sub(r"student\.keep\(([^()]*)\)", r"\1", code)
    code = re.sub(r"student\.(?:observe|new)\(\"(\w+)\",\s*", r"\1(", code)
    return re.sub(r"\bstudent\.", "", code)
