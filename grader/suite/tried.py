"""What a shown test tried, in lines that a student can paste: cut from the test's own source.

So the call that is printed is the call that was made, and an author writes it once.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from functools import cache

MOST_LINES = 12


def lines(
    test: Callable[..., object],
    failing_line: int,
    parameters: Mapping[str, object],
    *,
    axes: tuple[int, ...] = (),
) -> list[str]:
    """The statements of `test` up to the one that failed, in the student's own terms.

    Args:
        failing_line: line in the test's file.
        parameters: of a parametrized test, written as assignments.
        axes: that were put in front of each call's arguments and taken from its result.
    """
    told = [f"{name} = {value!r}" for name, value in parameters.items()]
    return [*told, *_statements(test, failing_line, axes)][-MOST_LINES:]


@cache
def _statements(
    test: Callable[..., object], failing_line: int, axes: tuple[int, ...]
) -> tuple[str, ...]:
    """The same for every submission of a class, so each test is parsed once."""
    source, first = inspect.getsourcelines(test)
    text = _in_shape(textwrap.dedent("".join(source)), axes)
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
    if _leaves(statement):
        return []
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


def _leaves(statement: ast.stmt) -> bool:
    """`if not ...: return`: why a test does not concern a submission is nothing to try."""
    return isinstance(statement, ast.If) and all(
        isinstance(each, ast.Return) for each in statement.body
    )


def _in_shape(text: str, axes: tuple[int, ...]) -> str:
    """The test as it was really called: `f(x[None])[0]` where it says `student.f(x)`."""
    if not any(axes):
        return text
    rows = [row.encode() for row in text.split("\n")]
    for line, column, inserted in sorted(_insertions(ast.parse(text), axes), reverse=True):
        row = rows[line - 1]
        rows[line - 1] = row[:column] + inserted.encode() + row[column:]
    return b"\n".join(rows).decode()


def _insertions(tree: ast.AST, axes: tuple[int, ...]) -> Iterator[tuple[int, int, str]]:
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or not _is_to_the_student(call.func):
            continue
        for count, argument in zip(axes, call.args, strict=False):
            if count:
                yield *_end(argument), f"[{', '.join(['None'] * count)}]"
        if axes[0]:
            yield *_end(call), f"[{', '.join(['0'] * axes[0])}]"


def _is_to_the_student(function: ast.expr) -> bool:
    match function:
        case ast.Attribute(value=ast.Name(id="student"), attr=name):
            return name not in ("keep", "observe", "new", "ref")
    return False


def _end(node: ast.expr) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


def _is_assertion(value: ast.expr) -> bool:
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Name):
        return False
    return value.func.id.startswith("assert_") or value.func.id == "fail"


def _as_the_student(code: str) -> str:
    code = re.sub(r"student\.keep\(([^()]*)\)", r"\1", code)
    code = re.sub(r"student\.(?:observe|new)\(\"(\w+)\",\s*", r"\1(", code)
    return re.sub(r"\b(?:student|any_shape)\.", "", code)
