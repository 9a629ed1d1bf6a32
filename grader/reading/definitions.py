"""Which names a file defines at top level, where, and whether a function is still a blank."""

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from grader.model import Definition, Place
from grader.reading.blanks import (
    blank_method,
    called_name,
    forwarded,
    placeholder,
    placeholder_value,
    quoted_answer,
)
from grader.reading.blocks import top_level_blocks
from grader.reading.magics import to_python
from grader.reading.out_of_sight import (
    bound_out_of_sight,
    may_hide_names,
    passes_through,
    shell_code,
)
from grader.reading.parsing import clean, line_at, parse

# A tree, the lines that it numbers, and how such a line becomes a place.
Placed: TypeAlias = tuple[ast.Module, Sequence[str], Callable[[int], Place]]

# A name that a file binds a thousand times is not told a thousand places.
_MOST_EARLIER = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class _Binding:
    """A name that a statement binds (`kind` None: takes away).

    Args:
        wraps: the value is made from the same name's earlier one.
        dresses: and certainly computes what that computed (`no_grad()(f)`).
        branch: it stands in a block that may not run.
        perhaps: only a run shows whether it is bound.
        forwards: the name that does all the work, in a call.
        method: the line of the placeholder in the method that calls to a class's object run.
    """

    name: str
    kind: Literal["function", "class", "variable", "import"] | None
    line: int
    blank: int | None = None
    wraps: bool = False
    dresses: bool = False
    branch: bool = False
    perhaps: bool = False
    forwards: str | None = None
    method: int | None = None
    quoted: str | None = None


def definitions(pieces: Iterable[Placed]) -> tuple[dict[str, Definition], bool]:
    """The names bound when the pieces run in order (the last definition of a name wins).

    And whether only a run shows what else they bind (`from solution import *`).
    """
    known: dict[str, Definition] = {}
    forwards: dict[str, str | None] = {}
    methods: dict[str, Place | None] = {}
    # Kept beside: to look through all names at each `import *` is quadratic.
    blank: set[str] = set()
    open_ended = False
    for tree, lines, place in pieces:
        for binding in _bindings(tree.body, deep=may_hide_names(lines)):
            open_ended = open_ended or binding.name == "*"
            if binding.name == "*":
                # Any of the names so far may be another function now.
                known.update({name: replace(known[name], blank=None) for name in blank})
                blank.clear()
            else:
                _bind(known, binding, lines, place)
                _note_blank(blank, binding.name, known.get(binding.name))
            forwards[binding.name] = None if binding.perhaps else binding.forwards
            methods[binding.name] = _blank_place(binding.method, lines, place)
    for name, helper in forwards.items():
        if helper is not None and name in known and not open_ended:
            known[name] = _as_helper(known[name], known.get(helper), methods.get(helper))
    return known, open_ended


def _note_blank(blank: set[str], name: str, definition: Definition | None) -> None:
    if definition is not None and definition.blank is not None:
        blank.add(name)
    else:
        blank.discard(name)


def _as_helper(
    definition: Definition, helper: Definition | None, method: Place | None
) -> Definition:
    """A function or alias is blank when the helper that does its work is."""
    if helper is None or definition.blank is not None:
        return definition
    blank = method if helper.kind == "class" else helper.blank
    return definition if helper.kind == "variable" else replace(definition, blank=blank)


def _bind(
    known: dict[str, Definition],
    binding: _Binding,
    lines: Sequence[str],
    place: Callable[[int], Place],
) -> None:
    before = known.get(binding.name)
    if before is not None and (binding.perhaps or binding.wraps):
        # `f = no_grad()(f)` dresses the function up and hides nothing.
        kept = before if binding.dresses else replace(before, blank=None)
        known[binding.name] = (
            kept if binding.perhaps else replace(kept, rebound=place(binding.line))
        )
        return
    if binding.kind is None:
        if not binding.branch:
            known.pop(binding.name, None)
        return
    # Of two branches the one with an answer may be the one that runs.
    answered = binding.branch and before is not None and before.blank is None
    hides = before is not None and binding.kind not in ("function", "class")
    known.pop(binding.name, None)
    known[binding.name] = Definition(
        name=binding.name,
        kind=binding.kind,
        place=place(binding.line),
        blank=None if answered else _blank_place(binding.blank, lines, place),
        earlier=() if before is None else (*before.earlier, before.place)[-_MOST_EARLIER:],
        quoted=binding.quoted,
        rebound=place(binding.line) if hides else None,
    )


def _blank_place(
    line: int | None, lines: Sequence[str], place: Callable[[int], Place]
) -> Place | None:
    """The placeholder's place; its quote is the placeholder's own line, in a cell too."""
    return None if line is None else replace(place(line), quote=line_at(lines, line))


def bound_names(body: list[ast.stmt]) -> Iterable[str]:
    """The names that statements bind at top level, each once, in order."""
    return dict.fromkeys(each.name for each in _bindings(body, deep=False) if each.kind is not None)


def _bindings(body: list[ast.stmt], *, deep: bool) -> Iterator[_Binding]:
    # A stack instead of recursion: a long chain of `elif` is a deep tree.
    waiting = [(statement, False) for statement in reversed(body)]
    while waiting:
        statement, branch = waiting.pop()
        for binding in _own(statement):
            yield replace(binding, branch=branch)
        blocks = top_level_blocks(statement)
        inner = branch or not isinstance(statement, ast.With | ast.AsyncWith)
        for block in reversed(blocks):
            waiting.extend((each, inner) for each in reversed(block))
        if deep:
            for name in _perhaps_bound(statement, has_blocks=bool(blocks)):
                yield _Binding(name=name, kind="variable", line=statement.lineno, perhaps=True)


def _own(statement: ast.stmt) -> Iterator[_Binding]:
    line = statement.lineno
    match statement:
        case (
            ast.FunctionDef(decorator_list=decorators)
            | ast.AsyncFunctionDef(decorator_list=decorators)
        ):
            # Another decorator may do the work, as `singledispatch` does.
            sure = all(map(passes_through, decorators))
            yield _function(statement, sure=sure)
        case ast.ClassDef(name=name):
            at = blank_method(statement)
            yield _Binding(name=name, kind="class", line=line, method=at)
        case ast.Import() | ast.ImportFrom():
            yield from _imported(statement)
        case ast.Assign(targets=targets, value=value):
            # Looked through once: there may be as many targets as the value has parts.
            used = _used(value)
            for target in targets:
                yield from _assigned(target, value, line, used)
        case ast.AnnAssign(target=target, value=value) if value is not None:
            yield from _assigned(target, value, line, _used(value))
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
            yield from _assigned(target, value, line, _used(value))
        case ast.Expr(value=ast.Call() as call):
            yield from _in_shell(call)
        case _:
            pass


def _perhaps_bound(statement: ast.stmt, *, has_blocks: bool) -> Iterator[str]:
    """What a statement binds out of sight; of one with blocks, what stands above them."""
    if not has_blocks:
        yield from bound_out_of_sight(statement)
        return
    for part in ast.iter_child_nodes(statement):
        if isinstance(part, ast.expr):
            yield from bound_out_of_sight(ast.Expr(value=part))
        elif isinstance(part, ast.withitem):
            yield from bound_out_of_sight(ast.Expr(value=part.context_expr))


def _function(function: ast.FunctionDef | ast.AsyncFunctionDef, *, sure: bool) -> _Binding:
    at = placeholder(function) if sure else None
    quoted = quoted_answer(function) if at is not None else None
    return _Binding(
        name=function.name,
        kind="function",
        line=function.lineno,
        blank=at,
        forwards=forwarded(function) if sure else None,
        quoted=clean(quoted) if quoted else None,
    )


def _in_shell(call: ast.Call) -> Iterator[_Binding]:
    """What the code in `get_ipython().run_cell_magic("time", "", code)` binds, at this line."""
    code = shell_code(call)
    tree = parse(to_python(code).text, cell=True) if code is not None else None
    if isinstance(tree, ast.Module):
        for binding in _bindings(tree.body, deep=True):
            at = None if binding.blank is None else call.lineno
            yield replace(binding, line=call.lineno, blank=at)


def _imported(statement: ast.Import | ast.ImportFrom) -> Iterator[_Binding]:
    for alias in statement.names:
        name = alias.asname or alias.name.partition(".")[0]
        if name != "*":
            yield _Binding(name=name, kind="import", line=statement.lineno)


def _used(value: ast.expr) -> frozenset[str]:
    """The names in an expression."""
    return frozenset(each.id for each in ast.walk(value) if isinstance(each, ast.Name))


def _assigned(
    target: ast.expr, value: ast.expr, line: int, used: Collection[str]
) -> Iterator[_Binding]:
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
        wraps=target.id in used,
        dresses=isinstance(value, ast.Call) and passes_through(value.func),
        forwards=called_name(value) if isinstance(value, ast.Name | ast.Call) else None,
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


def nested(trees: Iterable[Placed], names: Collection[str]) -> dict[str, Place]:
    """Where functions of these names stand at any depth, the first place of each."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    found: dict[str, Place] = {}
    for tree, _, place in trees:
        for node in ast.walk(tree):
            if isinstance(node, functions) and node.name in names:
                found.setdefault(node.name, place(node.lineno))
    return found
