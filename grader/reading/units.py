"""The units of a script or a cell: statements that run in a row and are skipped together.

A statement that may run for long or never end (a call, a loop, an import of a large library) is a
unit of its own, so that a second load can skip it and keep every definition around it.
"""

import ast
import sys
from collections.abc import Iterable, Sequence

from grader.model import Unit
from grader.reading.definitions import bound_names

_PASSIVE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Pass)
# What the worker has imported already, or imports in no time.
_AT_HAND = frozenset({"torch", "numpy"}) | sys.stdlib_module_names
# Beyond any exercise; a file of a million calls shall not become a million records.
_MOST_UNITS = 500
_MOST_NAMES = 20


def units(trees: Sequence[ast.Module]) -> tuple[Unit, ...]:
    """The units of all pieces, in order; they cover every statement.

    Args:
        trees: of the pieces, in their order.
    """
    found = [unit for piece, tree in enumerate(trees) for unit in _units(piece, tree.body)]
    if len(found) <= _MOST_UNITS:
        return tuple(found)
    return tuple(Unit(piece=piece) for piece in range(len(trees)))


def _units(piece: int, body: Sequence[ast.stmt]) -> list[Unit]:
    starts = _starts(body)
    stops = [*starts[1:], len(body)]
    # A piece of comments alone has no statement, and no unit.
    pairs = zip(starts, stops, strict=False)
    return [_unit(piece, body, start, stop) for start, stop in pairs]


def _unit(piece: int, body: Sequence[ast.stmt], start: int, stop: int) -> Unit:
    names = () if stop - start > 1 else tuple(bound_names([body[start]]))[:_MOST_NAMES]
    return Unit(piece=piece, first=start, stop=stop, line=_first_line(body[start]), names=names)


def _starts(body: Sequence[ast.stmt]) -> list[int]:
    """Indices at which a unit begins: before and after each active statement."""
    active = [_active(statement) for statement in body]
    return [index for index in range(len(body)) if index == 0 or active[index] or active[index - 1]]


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(each.lineno for each in decorators)])


def _active(statement: ast.stmt) -> bool:
    match statement:
        case ast.Import(names=names):
            return not _at_hand(each.name for each in names)
        case ast.ImportFrom(module=module):
            return not _at_hand([module or "."])
        case ast.Expr(value=ast.Constant()):
            return False
        case ast.Assign(value=value) | ast.AnnAssign(value=value):
            return value is not None and not _plain(value)
        case _:
            return not isinstance(statement, _PASSIVE)


def _at_hand(modules: Iterable[str]) -> bool:
    return all(each.partition(".")[0] in _AT_HAND for each in modules)


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
