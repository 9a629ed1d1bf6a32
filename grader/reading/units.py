"""The units of a script: pieces that run one after another, each of which can be skipped."""

import ast
from collections.abc import Iterable

from grader.model import Unit
from grader.reading.parsing import parse

_PASSIVE = (
    ast.Import,
    ast.ImportFrom,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Pass,
)

# Beyond any exercise; a file of a million calls shall not become a million records.
_MOST_UNITS = 500


def units(text: str, tree: ast.Module) -> tuple[Unit, ...]:
    """The script in units whose texts, joined, are the script again.

    A statement that may run for long or never end (a call, a loop) is a unit of its own, so
    that a second load can skip it and keep every definition around it.
    """
    lines = text.split("\n")
    starts = [1, *_starts(tree.body)]
    if len(starts) > _MOST_UNITS:
        return (Unit(text=text),)
    ends = [*(start - 1 for start in starts[1:]), len(lines)]
    future = _future(tree)
    pieces = tuple(
        _unit(lines[start - 1 : end], start, future if number else "", last=end == len(lines))
        for number, (start, end) in enumerate(zip(starts, ends, strict=True))
    )
    # A backslash between two statements ties them together in a way that no tree shows.
    if any(not isinstance(parse(piece.text), ast.Module) for piece in pieces):
        return (Unit(text=text),)
    return pieces


def _unit(lines: list[str], start: int, future: str, *, last: bool) -> Unit:
    text = "\n".join(lines) + ("" if last else "\n")
    if future:
        # A future import holds for the whole file; here it stands in for the line above.
        return Unit(text=f"{future}\n{text}", line=start - 1)
    return Unit(text=text, line=start)


def _starts(statements: Iterable[ast.stmt]) -> list[int]:
    """First lines of the units after the first; what shares a line stays together."""
    starts: list[int] = []
    end, active = 0, False
    for statement in statements:
        first, now = _first_line(statement), _active(statement)
        if end and first > end:
            if active or now:
                starts.append(first)
            active = now
        else:
            active = active or now
        end = statement.end_lineno or statement.lineno
    return starts


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(each.lineno for each in decorators)])


def _active(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Constant()):
            return False
        case ast.Assign(value=value) | ast.AnnAssign(value=value):
            return value is not None and not _plain(value)
        case _:
            return not isinstance(statement, _PASSIVE)


def _plain(value: ast.expr) -> bool:
    match value:
        case ast.Constant() | ast.Lambda():
            return True
        case ast.UnaryOp(operand=ast.Constant()):
            return True
        case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items):
            return all(isinstance(item, ast.Constant) for item in items)
        case _:
            return False


def _future(tree: ast.Module) -> str:
    names = [
        alias.name
        for statement in tree.body
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        for alias in statement.names
    ]
    return f"from __future__ import {', '.join(names)}" if names else ""
