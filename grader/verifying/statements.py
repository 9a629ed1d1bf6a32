"""What can be changed in a statement: dropped, turned round, or done in place."""

import ast
import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

Operator: TypeAlias = Callable[[ast.stmt], Iterator[ast.stmt]]

_KEPT: Final = (
    ast.Pass,
    ast.Import,
    ast.ImportFrom,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Global,
    ast.Nonlocal,
    # Whether gradients are kept, values do not tell.
    ast.With,
)
_STEPS: Final = (ast.Add, ast.Sub, ast.Mult, ast.Div)


def dropped(node: ast.stmt) -> Iterator[ast.stmt]:
    """Nothing at all in the statement's place."""
    if not isinstance(node, _KEPT):
        yield ast.Pass()


def results(node: ast.stmt) -> Iterator[ast.stmt]:
    """The result negated."""
    if isinstance(node, ast.Return) and node.value is not None:
        yield ast.Return(value=ast.UnaryOp(op=ast.USub(), operand=node.value))


def assignments(node: ast.stmt) -> Iterator[ast.stmt]:
    """Names of `a, b = ...` swapped; `x += y` for `x = x + y`, other steps, and no step at all."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=[first, second])], value=value):
            yield _assign(ast.Tuple(elts=[second, first], ctx=ast.Store()), value)
        case ast.Assign(
            targets=[ast.Name(id=name) as target],
            value=ast.BinOp(left=ast.Name(id=same), op=op, right=right),
        ) if name == same:
            yield ast.AugAssign(target=target, op=op, value=right)
        case ast.AugAssign(target=target, op=op, value=value):
            for other in _STEPS:
                if not isinstance(op, other):
                    yield ast.AugAssign(target=target, op=other(), value=value)
            yield _assign(target, value)


def branches(node: ast.stmt) -> Iterator[ast.stmt]:
    """An `if` without its `else`, a loop over nothing, `break` for `continue`."""
    match node:
        case ast.If(test=test, body=body, orelse=[_, *_]):
            yield ast.If(test=test, body=body, orelse=[])
        case ast.For(target=target, body=body, orelse=orelse):
            nothing = ast.List(elts=[], ctx=ast.Load())
            yield ast.For(target=target, iter=nothing, body=body, orelse=orelse)
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()


def signatures(node: ast.stmt) -> Iterator[ast.stmt]:
    """A default or a decorator left out."""
    if not isinstance(node, ast.FunctionDef):
        return
    for at in range(len(node.decorator_list)):
        rest = [*node.decorator_list[:at], *node.decorator_list[at + 1 :]]
        yield _function(node, node.args, rest)
    # Only the first can be left out: no parameter without a default may follow one with it.
    if node.args.defaults:
        given = node.args
        fewer = ast.arguments(
            posonlyargs=given.posonlyargs,
            args=given.args,
            vararg=given.vararg,
            kwonlyargs=given.kwonlyargs,
            kw_defaults=given.kw_defaults,
            kwarg=given.kwarg,
            defaults=given.defaults[1:],
        )
        yield _function(node, fewer, node.decorator_list)


OPERATORS: Final[Mapping[str, Operator]] = {
    "dropped": dropped,
    "results": results,
    "assignments": assignments,
    "branches": branches,
    "signatures": signatures,
}


def _assign(target: ast.expr, value: ast.expr) -> ast.Assign:
    return ast.Assign(targets=[target], value=value)


def _function(
    node: ast.FunctionDef, args: ast.arguments, decorators: list[ast.expr]
) -> ast.FunctionDef:
    made = copy.copy(node)
    made.args, made.decorator_list = args, decorators
    return made
