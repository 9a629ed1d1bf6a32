"""Python text to a syntax tree, whatever the text: a failure is a value, never an exception."""

import ast
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from grader.model import Place

_QUOTE_CHARS = 120
_LOOKED_AT = 2_000
# Twenty thousand lines of code; a syntax tree takes about 2 KiB a token.
_MOST_TOKENS = 200_000
# So many sums and products of texts cannot become large.
_FEW_FOLDED = 50
_TOKEN = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unparsable:
    """Why Python refuses a text.

    Args:
        why: `syntax`; `await` (only a top-level await is wrong); `complex` (nested too deeply).
        type: the exception's name, e.g. `IndentationError`.
        line: 1-based line of the text.
    """

    why: Literal["syntax", "await", "complex"]
    type: str
    reason: str
    line: int


def parse(text: str, *, cell: bool = False) -> ast.Module | Unparsable:
    """The tree of a text that Python can compile, or why it cannot.

    Args:
        cell: the text is of a notebook, where `await` may stand at top level.
    """
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if cell else 0
    with warnings.catch_warnings():
        # "is" with a literal, "\d" in a plain string: not errors, and not the grader's business.
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(text)
            # Only compiling finds `return` outside a function and its like.
            compile(_foldless(tree, text), "<submission>", "exec", flags, dont_inherit=True)
        except SyntaxError as error:
            return _refused(text, error, cell=cell)
        except (RecursionError, MemoryError) as error:
            return Unparsable(why="complex", type=type(error).__name__, reason="", line=1)
        except ValueError as error:
            # Null bytes (before Python 3.12) and lone surrogates, which come from JSON escapes.
            line = _first_bad_line(text)
            return Unparsable(why="syntax", type="SyntaxError", reason=clean(str(error)), line=line)
    return tree


def _foldless(tree: ast.Module, text: str) -> ast.Module:
    """The tree, or one that compiles as well and whose constants are not computed.

    Python computes `"a" * 4096 + "a" * 4096 + ...` while it compiles, and keeps every step.
    """
    if text.count("*") + text.count("+") <= _FEW_FOLDED and len(text) < _MOST_TOKENS:
        return tree
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp):
            for side, value in (("left", node.left), ("right", node.right)):
                if _is_sequence(value):
                    name = ast.copy_location(ast.Name(id="_", ctx=ast.Load()), value)
                    setattr(node, side, name)
    return tree


def _is_sequence(value: ast.expr) -> bool:
    if isinstance(value, ast.Tuple):
        return all(isinstance(each, ast.Constant | ast.Tuple) for each in value.elts)
    return isinstance(value, ast.Constant) and isinstance(value.value, str | bytes)


def _refused(text: str, error: SyntaxError, *, cell: bool) -> Unparsable:
    last = text.count("\n") + 1
    return Unparsable(
        why="await" if not cell and _runs_with_await(text, error) else "syntax",
        type=type(error).__name__,
        reason=clean(error.msg or ""),
        # Python reports line 0, or the line after the last, for some errors.
        line=min(max(error.lineno or 1, 1), last),
    )


def _runs_with_await(text: str, error: SyntaxError) -> bool:
    if "outside" not in (error.msg or ""):
        return False
    return isinstance(parse(text, cell=True), ast.Module)


def _first_bad_line(text: str) -> int:
    for number, line in enumerate(text.split("\n"), 1):
        if any(char == "\0" or "\ud800" <= char <= "\udfff" for char in line):
            return number
    return 1


def clean(text: str, limit: int = _QUOTE_CHARS) -> str:
    """One printable line of at most `limit` characters, fit for a report."""
    cut = text if len(text) <= limit else text[: limit - 3] + "..."
    shown = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in cut)
    return shown.strip()


def first_code_line(text: str) -> str | None:
    """The first line that is code; a comment only where there is nothing else."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    code = [line for line in lines if not line.startswith("#")]
    return clean((code or lines)[0]) if lines else None


def line_at(lines: Sequence[str], line: int) -> str:
    """The text of a 1-based line, without its indentation; empty outside the text."""
    if not 1 <= line <= len(lines):
        return ""
    # Of a line of megabytes, which may be asked for thousands of times, the beginning is enough.
    return clean(lines[line - 1][:_LOOKED_AT].expandtabs())


@lru_cache(maxsize=4)
def lines_of(text: str) -> tuple[str, ...]:
    """The lines of a text; of the same text they are asked for again and again."""
    return tuple(text.split("\n"))


def script_place(lines: Sequence[str], line: int) -> Place:
    """A line of a script, with its text as the quote."""
    return Place(line=line, quote=line_at(lines, line) or None)


def too_much_code(text: str) -> bool:
    """Whether the tree of a text could take gigabytes; one long string is one token."""
    if len(text) <= _MOST_TOKENS:
        return False
    return sum(1 for _ in _TOKEN.finditer(text)) > _MOST_TOKENS
