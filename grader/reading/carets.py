"""`^` where a power was meant: valid Python, which fails as soon as a number is not whole."""

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TypeAlias

from grader.model import Problem
from grader.reading.definitions import Placed
from grader.reading.parsing import line_at
from grader.texts import catalog

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

_WHOLE = (ast.BitXor, ast.BitAnd, ast.BitOr, ast.LShift, ast.RShift)
_FLOAT_CALLS = frozenset(
    {"float", "sqrt", "exp", "log", "log2", "log10", "sin", "cos", "tan", "pow", "radians"}
)


def carets(pieces: Iterable[Placed], names: Collection[str]) -> Iterator[Problem]:
    """One problem at the first `^` between numbers that are surely not whole.

    Only functions of these names are looked at, and those that they call.
    """
    functions: dict[str, tuple[_Function, Placed]] = {}
    # Most files have none, and walking through a tree costs more than this.
    known = list(pieces)
    if not any("^" in line for _, lines, _ in known for line in lines):
        return
    for piece in known:
        for node in piece[0].body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                functions[node.name] = (node, piece)
    for name in _reached(names, {name: node for name, (node, _) in functions.items()}):
        function, (_, lines, place) = functions[name]
        line = _first_caret(function)
        if line is not None:
            message = catalog.text("reading.caret", source=line_at(lines, line), function=name)
            yield Problem(kind="caret", message=message, place=place(line))
            return


def _reached(names: Collection[str], functions: Mapping[str, _Function]) -> list[str]:
    """The functions of these names in the file's order, then those that they call by name."""
    reached = [name for name in functions if name in names]
    for name in reached:
        for node in ast.walk(functions[name]):
            match node:
                case ast.Call(func=ast.Name(id=called)) if called in functions:
                    if called not in reached:
                        reached.append(called)
                case _:
                    pass
    return reached


def _first_caret(function: _Function) -> int | None:
    fractional = _fractional_names(function)
    lines = [
        node.lineno
        for node in ast.walk(function)
        if isinstance(node, ast.BinOp | ast.AugAssign)
        and isinstance(node.op, ast.BitXor)
        and any(_fractional(side, fractional) for side in _sides(node))
    ]
    return min(lines, default=None)


def _sides(node: ast.BinOp | ast.AugAssign) -> tuple[ast.expr, ast.expr]:
    if isinstance(node, ast.BinOp):
        return node.left, node.right
    return node.target, node.value


def _fractional_names(function: _Function) -> set[str]:
    """Names that hold a float: parameters with such a default, results of a division."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [
        *zip(reversed(positional), reversed(arguments.defaults), strict=False),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    names = {each.arg for each, held in defaults if held and _fractional(held, set())}
    for each in (*positional, *arguments.kwonlyargs):
        if isinstance(each.annotation, ast.Name) and each.annotation.id == "float":
            names.add(each.arg)
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and _fractional(node.value, names):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


def _fractional(value: ast.expr, names: Collection[str]) -> bool:
    match value:
        case ast.Constant(value=held):
            return isinstance(held, float)
        case ast.Name(id=name):
            return name in names
        case ast.UnaryOp(operand=operand):
            return _fractional(operand, names)
        case ast.BinOp(op=ast.Div()):
            return True
        case ast.BinOp(left=left, right=right, op=op) if not isinstance(op, _WHOLE):
            return _fractional(left, names) or _fractional(right, names)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in _FLOAT_CALLS
        case _:
            return False
