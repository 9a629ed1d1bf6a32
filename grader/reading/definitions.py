"""Which names a file defines at top level, where, and whether a function is still a blank."""

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from grader.model import Definition, Place
from grader.reading.blanks import placeholder, placeholder_value
from grader.reading.parsing import line_at

# A tree, the lines that it numbers, and how such a line becomes a place.
Placed: TypeAlias = tuple[ast.Module, Sequence[str], Callable[[int], Place]]

# A name that a file binds a thousand times is not told a thousand places.
_MOST_EARLIER = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class _Binding:
    """A name that a statement binds (`kind` None: takes away)."""

    name: str
    kind: Literal["function", "class", "variable", "import"] | None
    line: int
    blank: int | None = None
    wraps: bool = False


def definitions(pieces: Iterable[Placed]) -> dict[str, Definition]:
    """The names bound when the pieces run in order; the last definition of a name wins."""
    known: dict[str, Definition] = {}
    for tree, lines, place in pieces:
        for binding in _bindings(tree.body):
            _bind(known, binding, lines, place)
    return known


def _bind(
    known: dict[str, Definition],
    binding: _Binding,
    lines: Sequence[str],
    place: Callable[[int], Place],
) -> None:
    before = known.pop(binding.name, None)
    if binding.kind is None:
        return
    if before is not None and binding.wraps:
        # `f = no_grad()(f)` dresses the function up and hides nothing.
        known[binding.name] = replace(before, rebound=place(binding.line))
        return
    hides = before is not None and binding.kind not in ("function", "class")
    known[binding.name] = Definition(
        name=binding.name,
        kind=binding.kind,
        place=place(binding.line),
        blank=_blank_place(binding.blank, lines, place),
        earlier=() if before is None else (*before.earlier, before.place)[-_MOST_EARLIER:],
        rebound=place(binding.line) if hides else None,
    )


def _blank_place(
    line: int | None, lines: Sequence[str], place: Callable[[int], Place]
) -> Place | None:
    """The placeholder's place; its quote is the placeholder's own line, in a cell too."""
    return None if line is None else replace(place(line), quote=line_at(lines, line))


def _bindings(body: list[ast.stmt]) -> Iterator[_Binding]:
    # A stack instead of recursion: a long chain of `elif` is a deep tree.
    waiting = list(reversed(body))
    while waiting:
        statement = waiting.pop()
        yield from _own(statement)
        for block in reversed(_blocks(statement)):
            waiting.extend(reversed(block))


def _own(statement: ast.stmt) -> Iterator[_Binding]:
    line = statement.lineno
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            at = placeholder(statement)
            yield _Binding(name=statement.name, kind="function", line=line, blank=at)
        case ast.ClassDef():
            yield _Binding(name=statement.name, kind="class", line=line)
        case ast.Import() | ast.ImportFrom():
            yield from _imported(statement)
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _assigned(target, value, line)
        case ast.AnnAssign(target=target, value=value) if value is not None:
            yield from _assigned(target, value, line)
        case ast.Delete(targets=targets):
            for target in targets:
                yield from (_Binding(name=name, kind=None, line=line) for name in _names(target))
        case ast.For(target=target) | ast.AsyncFor(target=target):
            yield from _variables(target, line)
        case ast.With(items=items) | ast.AsyncWith(items=items):
            for item in items:
                if item.optional_vars is not None:
                    yield from _variables(item.optional_vars, line)
        case ast.Expr(value=ast.NamedExpr(target=target, value=value)):
            yield from _assigned(target, value, line)
        case _:
            pass


def _imported(statement: ast.Import | ast.ImportFrom) -> Iterator[_Binding]:
    for alias in statement.names:
        name = alias.asname or alias.name.partition(".")[0]
        if name != "*":
            yield _Binding(name=name, kind="import", line=statement.lineno)


def _assigned(target: ast.expr, value: ast.expr, line: int) -> Iterator[_Binding]:
    if not isinstance(target, ast.Name):
        yield from _variables(target, line)
        return
    if isinstance(value, ast.Lambda):
        at = line if placeholder_value(value.body) else None
        yield _Binding(name=target.id, kind="function", line=line, blank=at)
        return
    yield _Binding(
        name=target.id,
        kind="variable",
        line=line,
        blank=line if placeholder_value(value) else None,
        wraps=any(isinstance(n, ast.Name) and n.id == target.id for n in ast.walk(value)),
    )


def _variables(target: ast.expr, line: int) -> Iterator[_Binding]:
    return (_Binding(name=name, kind="variable", line=line) for name in _names(target))


def _names(target: ast.expr) -> Iterator[str]:
    match target:
        case ast.Name(id=name):
            yield name
        case ast.Tuple(elts=items) | ast.List(elts=items):
            for item in items:
                yield from _names(item)
        case ast.Starred(value=value):
            yield from _names(value)
        case _:
            pass  # an element or an attribute: no new name


def _blocks(statement: ast.stmt) -> list[list[ast.stmt]]:
    """The blocks of a compound statement that run at top level."""
    match statement:
        case ast.If(test=test, body=body, orelse=orelse):
            return [orelse] if never_runs(test) else [body, orelse]
        case ast.For(body=body, orelse=orelse) | ast.AsyncFor(body=body, orelse=orelse):
            return [body, orelse]
        case ast.While(body=body, orelse=orelse):
            return [body, orelse]
        case ast.With(body=body) | ast.AsyncWith(body=body):
            return [body]
        case ast.Try() | ast.TryStar():
            handlers = [handler.body for handler in statement.handlers]
            return [statement.body, *handlers, statement.orelse, statement.finalbody]
        case ast.Match(cases=cases):
            return [case.body for case in cases]
        case _:
            return []


def never_runs(test: ast.expr) -> bool:
    """Whether the grader never enters this branch: `__name__` is not `"__main__"` there."""
    match test:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            sides = {ast.unparse(side) for side in (left, right) if _short(side)}
            return sides == {"__name__", "'__main__'"}
        case ast.Constant(value=value):
            return not value
        case _:
            return False


def _short(side: ast.expr) -> bool:
    return isinstance(side, ast.Name | ast.Constant)


def nested(trees: Iterable[ast.Module], name: str) -> tuple[int, int] | None:
    """Index of the tree in which a function of this name stands at any depth, and its line."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    for index, tree in enumerate(trees):
        for node in ast.walk(tree):
            if isinstance(node, functions) and node.name == name:
                return index, node.lineno
    return None
