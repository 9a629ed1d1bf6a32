"""The student's source becomes a module, statement by statement. UNTRUSTED, see `worker`.

Every top-level statement runs; one that raises is told and costs itself only. What is told (which
line, which names are missing because of it) is for people: no point depends on it. The module has
a readable copy of the source, which `__file__` names; all cells of a notebook stand in one copy, so
that `inspect` finds functions and classes alike, and lines are told as lines of their cell.
"""

import __future__

import ast
import asyncio
import contextlib
import hashlib
import linecache
import os
import sys
import types
from bisect import bisect_right
from collections.abc import Iterator, Sequence

import torch

from grader.sandbox import surroundings, wire

NAME = "submission"
FILE = "submission.py"
# Of one unit: a unit is one active statement, or definitions and imports in a row.
MOST_FAILURES = 12
MOST_NAMES = 20
MESSAGE_LIMIT = 400
# Empty lines in front of a cell are the quickest way to number it, up to some length.
MOST_PADDING = 20_000
_CO_COROUTINE = 0x80
_ANNOTATIONS = __future__.annotations.compiler_flag


class Loader:
    """The module that the source becomes, and how its statements are run."""

    def __init__(self) -> None:
        self.module = types.ModuleType(NAME)
        self.names = vars(self.module)
        self.texts: list[str] = []
        self.cells: list[int] = []
        self.starts: list[int] = []
        self.path = ""
        self.is_notebook = False
        self.flags = 0
        self.notes: list[str] = []
        self.loop: asyncio.AbstractEventLoop | None = None
        self._body: tuple[int, list[ast.stmt]] = (-1, [])
        # dataclasses, pickle and typing look the module of a class up by its name.
        sys.modules[NAME] = self.module

    def receive(self, request: dict[str, object]) -> None:
        """Take the source over, to the last byte.

        Raises:
            ValueError: when what came is not what was sent.
        """
        match request:
            case {"source": torch.Tensor() as data, "sizes": sizes, "cells": cells}:
                self.texts = _texts(data, _numbers(sizes), str(request["sha256"]))
                self.cells = _numbers(cells)
                self.is_notebook = request["kind"] == "notebook"
        self._write_copy()
        self.flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if self.is_notebook else 0
        surroundings.prepare(self, is_notebook=self.is_notebook or request["converted"] is True)

    def load(self, piece: int, first: int, stop: int | None) -> dict[str, object]:
        """Run these statements of a piece; what failed, and what people should know, is told."""
        body = self._statements(piece)
        failed: list[dict[str, object]] = []
        for index in range(first, len(body) if stop is None else stop):
            is_shown = self.is_notebook and index == len(body) - 1
            failed += self._attempt(body[index], is_first=index == 0, is_shown=is_shown)
        notes, self.notes = self.notes, []
        more = max(0, len(failed) - MOST_FAILURES)
        return {"failed": failed[:MOST_FAILURES], "more": more, "notes": list(dict.fromkeys(notes))}

    def run(self, text: str) -> None:
        """Run a text of its own in the module's names (`%time`, `%run`).

        Raises:
            Exception: the first that one of its statements raised; the others have run.
        """
        first: BaseException | None = None
        for statement in ast.parse(text).body:
            try:
                self._execute(statement)
            except BaseException as error:  # noqa: BLE001 - as for every other statement
                first = first or error
        if first is not None:
            raise first

    def raised(self, error: BaseException) -> dict[str, object]:
        """An exception in words; its frames are lines of the student's own script or cells."""
        try:
            message = str(error)
        except BaseException as second:  # noqa: BLE001 - __str__ is student code
            message = f"(no message: {type(second).__name__})"
        return {
            "type": wire.type_name(error),
            "message": wire.shortened(message, 4000),
            "trace": self._trace(error)[-20:],
        }

    # --- the copy ------------------------------------------------------------------------

    def _write_copy(self) -> None:
        """One file that holds all of the source, so that it can be read, inspected and quoted."""
        self.path = os.path.join(os.getcwd(), FILE)  # noqa: PTH109, PTH118 - no pathlib needed
        lines: list[str] = []
        for cell, text in zip(self.cells, self.texts, strict=True):
            if cell:
                lines += [f"# %% cell {cell}"]
            self.starts.append(len(lines))
            lines += text.split("\n")
        copy = "\n".join(lines)
        # Without room for it the file is absent, which costs only what reads it.
        with contextlib.suppress(OSError), open(self.path, "w", encoding="utf-8") as file:  # noqa: PTH123
            file.write(copy)
        # Not read from the file: a cookie in its first lines may name another encoding.
        kept = [line + "\n" for line in lines]
        linecache.cache[self.path] = (len(copy), None, kept, self.path)
        self.module.__file__ = self.path

    def _place(self, line: int) -> tuple[int, int | None]:
        """Line and cell of a line of the copy."""
        at = max(0, bisect_right(self.starts, line - 1) - 1)
        return line - self.starts[at], self.cells[at] or None

    def _statements(self, piece: int) -> list[ast.stmt]:
        """The piece's statements, numbered as in the copy; the last piece's are kept at hand."""
        if self._body[0] != piece:
            start = self.starts[piece]
            padding = start if start <= MOST_PADDING else 0
            flags = self.flags | ast.PyCF_ONLY_AST
            text = "\n" * padding + self.texts[piece]
            tree = compile(text, self.path, "exec", flags, dont_inherit=True)
            assert isinstance(tree, ast.Module)
            for statement in tree.body if padding < start else ():
                ast.increment_lineno(statement, start)
            self.flags |= _future_flags(tree.body)
            self._body = (piece, tree.body)
        return self._body[1]

    # --- one statement -----------------------------------------------------------------------

    def _attempt(
        self, statement: ast.stmt, *, is_first: bool, is_shown: bool
    ) -> list[dict[str, object]]:
        if _is_string(statement) and not (is_first and not self.is_notebook):
            # Compiled alone, it would become the module's docstring.
            return []
        before = self.names.copy()
        try:
            self._execute(statement, is_shown=is_shown)
        except BaseException as error:  # noqa: BLE001 - SystemExit and friends cost no more
            return self._recovered(statement, error, before)
        return []

    def _execute(self, statement: ast.stmt, *, flags: int = 0, is_shown: bool = False) -> None:
        shown = isinstance(statement, ast.Expr) and is_shown
        tree: ast.Module | ast.Expression = ast.Module(body=[statement], type_ignores=[])
        if isinstance(statement, ast.Expr) and shown:
            tree = ast.Expression(body=statement.value)
        mode = "eval" if shown else "exec"
        code = compile(tree, self.path, mode, self.flags | flags, dont_inherit=True)
        try:
            value = eval(code, self.names)  # noqa: S307 - the purpose of this process
        except RuntimeError as error:
            if not self.is_notebook or "no running event loop" not in str(error):
                raise
            # `asyncio.create_task(…)`: a notebook's cells run inside a loop.
            value = self._await(_soon(code, self.names))
        if code.co_flags & _CO_COROUTINE:
            value = self._await(value)
        if shown:
            surroundings.remember(self.names, value)

    def _await(self, value: object) -> object:
        """The result of a coroutine, on the one loop of all cells."""
        if self.loop is None:
            self.loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self.loop)
        return self.loop.run_until_complete(value)  # type: ignore[arg-type]

    # --- a statement that raised ---------------------------------------------------------------

    def _recovered(
        self, statement: ast.stmt, error: BaseException, before: dict[str, object]
    ) -> list[dict[str, object]]:
        """What is told of a statement that raised, after what could be saved of it was."""
        if isinstance(statement, ast.Import | ast.ImportFrom) and len(statement.names) > 1:
            return self._one_by_one(statement, before)
        if isinstance(error, NameError | AttributeError | TypeError) and _is_annotated(statement):
            # Annotations are for readers: a function that has a wrong one is a function.
            with contextlib.suppress(BaseException):
                self._execute(statement, flags=_ANNOTATIONS)
                return [{**self._failure(statement, error, before), "annotation": True}]
        return [self._failure(statement, error, before)]

    def _one_by_one(
        self, statement: ast.Import | ast.ImportFrom, before: dict[str, object]
    ) -> list[dict[str, object]]:
        failed: list[dict[str, object]] = []
        for alias in statement.names:
            single = _only(statement, alias)
            try:
                self._execute(single)
            except BaseException as error:  # noqa: BLE001
                failure = self._failure(single, error, before)
                if failed and failed[-1]["message"] == failure["message"]:
                    _merge(failed[-1], failure)
                else:
                    failed.append(failure)
        return failed

    def _failure(
        self, statement: ast.stmt, error: BaseException, before: dict[str, object]
    ) -> dict[str, object]:
        bound = list(dict.fromkeys(_bound(statement)))[:MOST_NAMES]
        told = self.raised(error)
        line, cell = self._place(_first_line(statement))
        own = [frame for frame in self._trace(error) if frame[1] == cell and frame[2] == "<module>"]
        return {
            "type": told["type"],
            "message": wire.shortened(str(told["message"]), MESSAGE_LIMIT),
            "line": own[0][0] if own else line,
            "lost": [name for name in bound if name not in self.names],
            "kept": [
                name
                for name in bound
                if name in self.names and self.names[name] is before.get(name, self)
            ],
            "annotation": False,
        }

    def _trace(self, error: BaseException) -> list[list[object]]:
        frames: list[list[object]] = []
        step = error.__traceback__
        while step is not None:
            if step.tb_frame.f_code.co_filename == self.path:
                line, cell = self._place(step.tb_lineno)
                frames.append([line, cell, step.tb_frame.f_code.co_name])
            step = step.tb_next
        return frames


async def _soon(code: types.CodeType, names: dict[str, object]) -> object:
    return eval(code, names)  # noqa: S307


def _texts(data: torch.Tensor, sizes: Sequence[int], sha256: str) -> list[str]:
    source = data.numpy().tobytes()
    if sum(sizes) != len(source) or hashlib.sha256(source).hexdigest() != sha256:
        raise ValueError("the source did not arrive whole")
    texts, start = [], 0
    for size in sizes:
        texts.append(source[start : start + size].decode("utf-8", "surrogatepass"))
        start += size
    return texts


def _numbers(value: object) -> list[int]:
    return [int(each) for each in value.tolist()] if isinstance(value, torch.Tensor) else []


def _future_flags(body: Sequence[ast.stmt]) -> int:
    names = [
        alias.name
        for statement in body
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        for alias in statement.names
    ]
    known = [getattr(__future__, name, None) for name in names]
    flags = 0
    for feature in known:
        flags |= getattr(feature, "compiler_flag", 0)
    return flags


def _is_string(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
    return False


def _first_line(statement: ast.stmt) -> int:
    names = getattr(statement, "names", None)
    # Of an import that was taken apart, the name's own line.
    line = names[0].lineno if names and len(names) == 1 and _is_import(statement) else 0
    return int(line or statement.lineno)


def _is_import(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Import | ast.ImportFrom)


def _only(statement: ast.Import | ast.ImportFrom, alias: ast.alias) -> ast.stmt:
    if isinstance(statement, ast.Import):
        return ast.copy_location(ast.Import(names=[alias]), statement)
    single = ast.ImportFrom(module=statement.module, names=[alias], level=statement.level)
    return ast.copy_location(single, statement)


def _merge(one: dict[str, object], other: dict[str, object]) -> None:
    for key in ("lost", "kept"):
        ours, theirs = one[key], other[key]
        if isinstance(ours, list) and isinstance(theirs, list):
            ours += theirs


def _is_annotated(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return False
    return any(
        getattr(node, "annotation", None) is not None or getattr(node, "returns", None) is not None
        for node in ast.walk(statement)
    )


def _bound(node: ast.AST) -> Iterator[str]:
    """The names that a statement binds at top level, in order."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
            return
        case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return
        case ast.alias():
            yield node.asname or node.name.partition(".")[0]
        case ast.Name(ctx=ast.Store()):
            yield node.id
    for child in ast.iter_child_nodes(node):
        yield from _bound(child)
