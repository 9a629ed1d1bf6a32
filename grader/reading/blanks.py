"""Whether a function's body is still a blank: its result is a placeholder, not an answer."""

import ast
import re
from collections.abc import Iterator, Set
from typing import TypeAlias

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_NOT_IMPLEMENTED = frozenset({"NotImplementedError", "NotImplemented"})
_UNDERSCORES = re.compile(r"_{2,}")


def placeholder_value(value: ast.expr | None) -> bool:
    """Whether an expression only holds the place of an answer: text, `None`, `...`, `____`."""
    match value:
        case ast.Constant(value=held):
            return held is None or held is Ellipsis or isinstance(held, str)
        case ast.Name(id=name):
            return name in _NOT_IMPLEMENTED or _UNDERSCORES.fullmatch(name) is not None
        case _:
            return False


def placeholder(function: _Function) -> int | None:
    """The line of the placeholder that the function's result still is; None when work is done.

    A function that computes and forgets its `return` is not blank: it is wrong, and that
    deserves another message.
    """
    inside = tuple(_inside(function.body))
    if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in inside):
        return None
    returns = [node for node in inside if isinstance(node, ast.Return) and node.value is not None]
    for statement in function.body:
        if _not_implemented(statement) and all(r.lineno > statement.lineno for r in returns):
            return statement.lineno
    if returns:
        return _returned_placeholder(function, returns, inside)
    return _idle_line(function.body)


def quoted_answer(function: _Function) -> str | None:
    """Code that stands in quotes where the answer belongs: text that computes with a parameter."""
    names = _parameters(function)
    for node in _inside(function.body):
        match node:
            case ast.Assign(value=held) | ast.AnnAssign(value=held) | ast.Return(value=held):
                pass
            case ast.Expr(value=held) if len(function.body) == 1:
                pass
            case _:
                continue
        text = held.value if isinstance(held, ast.Constant) else None
        if isinstance(text, str) and _computes_with(text, names):
            return text.strip()
    return None


def forwarded(function: _Function) -> str | None:
    """The name that does all the work of a function: `return helper(x)`, `return Rope()(x)`.

    Not one of its parameters.
    """
    last = function.body[-1]
    if not all(_idle(each) for each in function.body[:-1]) or not isinstance(last, ast.Return):
        return None
    name = called_name(last.value)
    return None if name in _parameters(function) else name


def _parameters(function: _Function) -> frozenset[str]:
    arguments = function.args
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return frozenset(each.arg for each in every)


def called_name(value: ast.expr | None) -> str | None:
    """The name in `f`, `f(…)`, `C()(…)` and `C().forward(…)`."""
    while isinstance(value, ast.Call | ast.Attribute):
        value = value.func if isinstance(value, ast.Call) else value.value
    return value.id if isinstance(value, ast.Name) else None


def blank_method(node: ast.ClassDef) -> int | None:
    """The line of the placeholder in the method that is run when an object is called."""
    for statement in node.body:
        if isinstance(statement, ast.FunctionDef) and statement.name in ("forward", "__call__"):
            return placeholder(statement)
    return None


def _computes_with(text: str, names: Set[str]) -> bool:
    try:
        tree = ast.parse(text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    nodes = list(ast.walk(tree))
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    # A word alone is text: `x`, `TODO`.
    works = any(isinstance(n, ast.BinOp | ast.Call | ast.Subscript | ast.Attribute) for n in nodes)
    return works and not names.isdisjoint(used)


def _returned_placeholder(
    function: _Function, returns: list[ast.Return], inside: tuple[ast.AST, ...]
) -> int | None:
    untouched, inner = _untouched(function, inside), _blank_inside(function)
    lines: list[int] = []
    only_none = True
    for each in returns:
        parts = each.value.elts if isinstance(each.value, ast.Tuple) else [each.value]
        for part in parts:
            line = _held_place(part, untouched, inner)
            if line is None:
                return None
            lines.append(line)
            only_none = only_none and isinstance(part, ast.Constant) and part.value is None
    if not lines:
        return None
    # `return None` after real work is an answer, if a wrong one.
    return _idle_line(function.body) if only_none else lines[-1]


def _held_place(
    value: ast.expr | None, untouched: dict[str, int], inner: dict[str, int]
) -> int | None:
    if isinstance(value, ast.Name):
        return untouched.get(value.id) or (value.lineno if placeholder_value(value) else None)
    if isinstance(value, ast.Call):
        # Of a placeholder, `final.to(x.dtype)` is one, too.
        return {**untouched, **inner}.get(called_name(value) or "")
    return value.lineno if value is not None and placeholder_value(value) else None


def _blank_inside(function: _Function) -> dict[str, int]:
    """Functions within the function that are blanks, with the line of the placeholder."""
    inner = [each for each in function.body if isinstance(each, ast.FunctionDef)]
    held = {each.name: placeholder(each) for each in inner}
    return {name: line for name, line in held.items() if line is not None}


def _untouched(function: _Function, inside: tuple[ast.AST, ...]) -> dict[str, int]:
    """Names that are only ever given placeholders in the function, with the last such line."""
    held: dict[str, int] = {}
    stores: set[int] = set()
    for node in inside:
        for target in _held_targets(node):
            held[target.id] = max(target.lineno, held.get(target.id, 0))
            stores.add(id(target))
    touched = {name for node in inside for name in _touched(node, stores)}
    touched |= _parameters(function)
    # A nested function may set the name from within.
    for node in ast.walk(function):
        if isinstance(node, ast.Nonlocal | ast.Global):
            touched |= set(node.names)
    return {name: line for name, line in held.items() if name not in touched}


def _held_targets(node: ast.AST) -> Iterator[ast.Name]:
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _held_pairs(target, value)
        case ast.AnnAssign(target=ast.Name() as target, value=value):
            if value is not None and placeholder_value(value):
                yield target
        case _:
            pass


def _held_pairs(target: ast.expr, value: ast.expr) -> Iterator[ast.Name]:
    if isinstance(target, ast.Name) and placeholder_value(value):
        yield target
    elif (
        isinstance(target, ast.Tuple)
        and isinstance(value, ast.Tuple)
        and len(target.elts) == len(value.elts)
    ):
        for one, held in zip(target.elts, value.elts, strict=True):
            if isinstance(one, ast.Name) and placeholder_value(held):
                yield one


def _touched(node: ast.AST, stores: set[int]) -> Iterator[str]:
    """Names that this node gives something else than a placeholder."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) if id(node) not in stores:
            yield name
        case ast.Subscript(ctx=ast.Store()) | ast.Attribute(ctx=ast.Store()):
            base: ast.expr = node.value
            while isinstance(base, ast.Subscript | ast.Attribute):
                base = base.value
            if isinstance(base, ast.Name):
                yield base.id
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in names)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.ExceptHandler(name=str(name)):
            yield name
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case _:
            pass


def _idle_line(body: list[ast.stmt]) -> int | None:
    """The line of the placeholder in a body that does nothing; None when anything is done."""
    for statement in body:
        if isinstance(statement, ast.Expr) and _is_ellipsis(statement.value):
            return statement.lineno
    if not all(_idle(statement) for statement in body):
        return None
    # Below a docstring the placeholder is what follows; alone, the docstring is one itself.
    after = [each for each in body if not isinstance(each, ast.Import | ast.ImportFrom)]
    return (after or body)[-1].lineno


def _is_ellipsis(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is Ellipsis


def _idle(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.Return(value=value) | ast.AnnAssign(value=value):
            return value is None or placeholder_value(value)
        case ast.Assign(targets=targets, value=value):
            named = all(isinstance(target, ast.Name) for target in targets)
            return named and placeholder_value(value)
        case ast.Pass() | ast.Import() | ast.ImportFrom() | ast.Global() | ast.Nonlocal():
            return True
        case _:
            return _not_implemented(statement)


def _not_implemented(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Raise):
        return False
    raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
    return isinstance(raised, ast.Name) and raised.id in _NOT_IMPLEMENTED


def _inside(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Every node of the body, less what stands in functions and classes of its own."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _SCOPES):
            waiting.extend(ast.iter_child_nodes(node))
