"""Mutants: the reference with one small mistake each.

A suite that gives such an answer all points does not test what its handout asks for, or the
mistake is none: then `equivalent_mutants.toml` says why.
"""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

from grader.verifying import operators, statements
from grader.verifying.operators import Surroundings

_COMPOUND = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.If,
    ast.For,
    ast.While,
    ast.With,
    ast.Try,
)
# Names of fields that hold no code which computes, or code that only an error message needs.
_SKIPPED = frozenset({"annotation", "returns", "decorator_list", "type_params", "bases"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """The reference with one change.

    Args:
        operator: which kind of change, e.g. `slices`.
        line: of the reference, where the changed statement begins.
        old, new: that statement before and after; of an `if`, a loop or a function its head.
        text: the whole changed program.
    """

    operator: str
    line: int
    old: str
    new: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Slot:
    """A place in the tree: `parent.field`, or the item `at` of that list."""

    parent: ast.AST
    field: str
    at: int | None
    statement: ast.stmt

    @property
    def node(self) -> ast.AST:
        held = getattr(self.parent, self.field)
        found: ast.AST = held if self.at is None else held[self.at]
        return found

    def put(self, node: ast.AST) -> None:
        if self.at is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.at] = node


def mutants(text: str) -> tuple[Mutant, ...]:
    """Every mutant of a program that compiles and differs from it and from the others.

    Raises:
        SyntaxError: the program itself cannot be parsed.
    """
    tree = ast.parse(text)
    known = {ast.dump(tree)}
    found: list[Mutant] = []
    # The slots are listed first: the tree is changed, looked at, and put right again.
    for slot in list(_slots(tree)):
        original = slot.node
        old = _shown(slot.statement)
        around = Surroundings(
            parent=slot.parent, modules=_modules(tree), parameters=_parameters(tree)
        )
        for operator, changed in list(_changes(slot, around)):
            slot.put(changed)
            statement = changed if isinstance(changed, ast.stmt) else slot.statement
            program = _program(tree, known)
            if program is not None:
                found.append(
                    Mutant(
                        operator=operator,
                        line=slot.statement.lineno,
                        old=old,
                        new=_shown(statement),
                        text=program,
                    )
                )
            slot.put(original)
    return tuple(found)


def _program(tree: ast.Module, known: set[str]) -> str | None:
    """The text of the changed tree, unless it does not compile or is known already."""
    try:
        text = ast.unparse(tree)
        again = ast.parse(text)
        compile(again, "mutant", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, TypeError, AttributeError):
        return None
    dumped = ast.dump(again)
    if dumped in known:
        return None
    known.add(dumped)
    return text + "\n"


def _changes(slot: _Slot, around: Surroundings) -> Iterator[tuple[str, ast.AST]]:
    node = slot.node
    if isinstance(node, ast.stmt):
        for name, change in statements.OPERATORS.items():
            for changed in change(node):
                # Unparsing looks for line numbers, although it prints none.
                yield name, ast.copy_location(changed, node)
    elif isinstance(node, ast.expr):
        for name, alter in operators.OPERATORS.items():
            for altered in alter(node, around):
                yield name, altered


def _modules(tree: ast.Module) -> frozenset[str]:
    imports = (each for each in ast.walk(tree) if isinstance(each, ast.Import))
    return frozenset(
        alias.asname or alias.name.partition(".")[0] for each in imports for alias in each.names
    )


def _parameters(tree: ast.Module) -> frozenset[str]:
    """What callers give, but for parameters whose default is a small number: rates and the like."""
    found = [each.args for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)]
    names = {
        part.arg for each in found for part in (*each.posonlyargs, *each.args, *each.kwonlyargs)
    }
    return frozenset(names - {name for each in found for name in _small(each)})


def _small(arguments: ast.arguments) -> Iterator[str]:
    places = [*arguments.posonlyargs, *arguments.args]
    given = zip(reversed(places), reversed(arguments.defaults), strict=False)
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    for part, default in (*given, *named):
        match default:
            case ast.Constant(value=int() | float() as value) if abs(value) <= operators.SIZE:
                yield part.arg


# --- the places ------------------------------------------------------------------------------


def _slots(tree: ast.Module) -> Iterator[_Slot]:
    for at, statement in enumerate(tree.body):
        if not _is_try_out(statement) and not _is_text(statement):
            yield from _inside(_Slot(parent=tree, field="body", at=at, statement=statement))


def _inside(slot: _Slot) -> Iterator[_Slot]:
    """The slot itself, and all below it."""
    node = slot.node
    if isinstance(node, ast.stmt | ast.expr):
        yield slot
    if isinstance(node, ast.Import | ast.ImportFrom | ast.Raise | ast.JoinedStr):
        return
    if isinstance(node, ast.keyword) and node.arg == "device":
        return
    for field, held in ast.iter_fields(node):
        if field in _SKIPPED:
            continue
        if isinstance(held, ast.AST):
            yield from _below(slot, field, None, held)
        elif isinstance(held, list):
            for at, item in enumerate(held):
                if isinstance(item, ast.AST) and not _is_text(item):
                    yield from _below(slot, field, at, item)


def _below(slot: _Slot, field: str, at: int | None, child: ast.AST) -> Iterator[_Slot]:
    statement = child if isinstance(child, ast.stmt) else slot.statement
    yield from _inside(_Slot(parent=slot.node, field=field, at=at, statement=statement))


def _is_text(node: ast.AST) -> bool:
    """Docstrings, and texts that stand alone as comments."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _is_try_out(statement: ast.stmt) -> bool:
    """`if __name__ == "__main__"`: the grader never runs it."""
    return isinstance(statement, ast.If) and any(
        isinstance(each, ast.Name) and each.id == "__name__" for each in ast.walk(statement.test)
    )


def _shown(statement: ast.stmt) -> str:
    """The statement on one line; of one with a body only its head."""
    if not isinstance(statement, _COMPOUND):
        return ast.unparse(statement)
    head = copy.copy(statement)
    head.body = [ast.Pass()]
    for field in ("orelse", "finalbody"):
        if hasattr(head, field):
            setattr(head, field, [])
    lines = [line.strip() for line in ast.unparse(head).split("\n")]
    return " ".join(line for line in lines if line != "pass")
