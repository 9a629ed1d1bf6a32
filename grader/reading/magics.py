"""Notebook cells as plain Python: the magics are taken out, every line keeps its number."""

import ast
import keyword
import re
from collections.abc import Set
from dataclasses import dataclass

from grader.reading.parsing import parse
from grader.reading.translated import line_magic, written_file

# Cell magics whose body runs as Python in the notebook's own names.
_BODY_RUNS = frozenset({"capture", "debug", "memit", "prun", "time", "timeit"})
# Cell magics whose body is not this notebook's Python.
_BODY_DOES_NOT_RUN = frozenset(
    {"!", "bash", "bigquery", "cmd", "cython", "file", "html", "javascript", "js", "julia"}
    | {"latex", "markdown", "perl", "pypy", "python", "python2", "python3", "r", "ruby"}
    | {"script", "sh", "shell", "sql", "svg", "sx", "system", "writefile", "writetemplate"}
)
_CELL_MAGIC = re.compile(r"\s*%%\s*([\w.]+|!)")
_ASSIGNED = re.compile(r"(?P<left>[^=<>!'\"#()]+=)\s*(?P<right>!.*|%\s*[A-Za-z].*)")
_HELP = re.compile(r"[\w.*\[\]]+\?{1,2}")
_TIMED = re.compile(r"%time\s+(?P<code>.+)")
# Line magics that IPython also takes without the `%`.
_BARE = re.compile(
    r"(?:autoreload|conda|config|env|load_ext|mamba|matplotlib|pip|pwd|reload_ext|run|time|timeit"
    r"|uv|who|whos)(?:\s+[\w%./-].*)?"
)
# Those that are valid Python by accident.
_SHELL_WORDS = frozenset({"clear", "history", "la", "ll", "ls", "pwd", "who", "whos"})
_SHELL_LINE = re.compile(rf"\s*(?:{'|'.join(sorted(_SHELL_WORDS))})(?:\s+-\w+)?\s*")
_WORD = re.compile(r"([a-z_]+)(?:\s+[^\s=]|$)")
# Prompts of Python's and IPython's shells, which notebooks strip from pasted code.
_PROMPTS = re.compile(r"(?:>>>|\.\.\.)(?: |$)|In ?\[\d+\]: ?|\s*\.{3,}:(?: |$)")
# How far a line that may be a magic is followed, to see whether it is Python after all.
_AHEAD = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A cell's Python; `skipped_by` is the magic (`%%bash`) that makes its body something else.

    Of such a cell, `text` is what stands in for it: the writing of a file, or nothing.
    """

    text: str
    skipped_by: str | None = None


def to_python(text: str) -> Cell:
    """The cell without magics. Valid Python comes back unchanged, but for a bare `ls`."""
    tree = parse(text, cell=True)
    if isinstance(tree, ast.Module):
        return Cell(text=_without_shell_words(text, tree))
    lines = _without_prompts(_without_first_indent(text.split("\n")))
    magics = _cell_magics(lines)
    for at, name in magics:
        if name.lower() in _BODY_DOES_NOT_RUN:
            written = written_file(lines[at], "\n".join(lines[at + 1 :]))
            return Cell(text=written or "", skipped_by=f"%%{name}")
        lines[at] = f"# {lines[at].strip()}"
    python = "\n".join(_without_line_magics(lines))
    unknown = [name for _, name in magics if name.lower() not in _BODY_RUNS]
    if unknown and not isinstance(parse(python, cell=True), ast.Module):
        # An unknown magic may hold any language: only what reads as Python runs.
        return Cell(text="", skipped_by=f"%%{unknown[0]}")
    return Cell(text=python)


def runs_body(magic: str) -> bool:
    """Whether the body of a cell with this magic (`time`) is the notebook's own Python."""
    return magic.lower() in _BODY_RUNS


def surely_magic(code: str) -> bool:
    """Whether a logical line begins as no Python can: `%`, `!`, `?`, `x = !ls`, `x?`."""
    starts = code.startswith(("%", "!", "?"))
    return starts or bool(_ASSIGNED.fullmatch(code) or _HELP.fullmatch(code))


def _without_shell_words(text: str, tree: ast.Module) -> str:
    """The text with `pass` for each line `ls`, `ls -la`, `pwd`.

    As Python they are a name and a difference, which the cell itself may have bound.
    """
    if not any(map(_SHELL_LINE.fullmatch, text.split("\n"))):
        return text
    nodes = list(ast.walk(tree))
    stored = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    lines = text.split("\n")
    for statement in nodes:
        if isinstance(statement, ast.Expr) and _is_shell_word(statement.value, stored):
            at = statement.lineno - 1
            code = lines[at].strip()
            if _SHELL_LINE.fullmatch(code):
                lines[at] = lines[at].replace(code, f"pass  # {code}")
    return "\n".join(lines)


def _is_shell_word(value: ast.expr, stored: Set[str]) -> bool:
    word = value.left if isinstance(value, ast.BinOp) else value
    return isinstance(word, ast.Name) and word.id in _SHELL_WORDS - stored


def _perhaps_magic(code: str) -> bool:
    word = _WORD.match(code)
    if word is None or keyword.iskeyword(word[1]):
        return False
    if _BARE.fullmatch(code):
        return True
    # Bare shell words (`ls`, `cd data`). Imported here: most files never need it.
    from jupytext.magics import is_magic  # type: ignore[import-untyped]

    return bool(is_magic(code, "python", True, True))


def _cell_magics(lines: list[str]) -> list[tuple[int, str]]:
    """Index and name of the cell magics above the body (`%%capture` over `%%time`)."""
    found: list[tuple[int, str]] = []
    for at, line in enumerate(lines):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        magic = _CELL_MAGIC.match(line)
        if magic is None:
            break
        found.append((at, magic[1]))
    return found


def _without_first_indent(lines: list[str]) -> list[str]:
    """The lines less the indentation of the first one, as notebooks run them."""
    first = next((line for line in lines if line.strip()), "")
    indent = first[: len(first) - len(first.lstrip())]
    return [line.removeprefix(indent) for line in lines] if indent else lines


def _without_prompts(lines: list[str]) -> list[str]:
    """The lines less the prompts of a shell, when the first one has a prompt."""
    first = next((line for line in lines if line.strip()), "")
    if not first.startswith((">>>", "In ")) or not _PROMPTS.match(first):
        return lines
    return [line[found.end() :] if (found := _PROMPTS.match(line)) else line for line in lines]


def _without_line_magics(lines: list[str]) -> list[str]:
    python = list(lines)
    at = 0
    while at < len(lines):
        if not _is_magic_at(lines, at):
            at = _logical_end(lines, at, len(lines)) or len(lines)
            continue
        end = at + 1
        while end < len(lines) and lines[end - 1].endswith("\\"):
            end += 1
        python[at:end] = [_replaced(lines[at]), *(f"# {line}" for line in lines[at + 1 : end])]
        at = end
    return python


def _is_magic_at(lines: list[str], at: int) -> bool:
    code = lines[at][: _scan(lines[at], 0, "")[2]].strip()
    if surely_magic(code):
        return True
    end = _logical_end(lines, at, at + _AHEAD) if _perhaps_magic(code) else None
    if end is None:
        return False
    # `ls += [1]` begins like a shell word and is Python.
    logical = "\n".join(lines[at:end]).strip()
    return not isinstance(parse(logical, cell=True), ast.Module)


def _replaced(line: str) -> str:
    code = line.strip()
    indent = line[: len(line) - len(line.lstrip())]
    timed = _TIMED.fullmatch(code)
    if timed and isinstance(parse(timed["code"], cell=True), ast.Module):
        return indent + timed["code"]
    translated = line_magic(code)
    if translated is not None:
        return indent + translated
    assigned = _ASSIGNED.fullmatch(code)
    if assigned is None:
        return f"{indent}pass  # {code}"
    timed = _TIMED.fullmatch(assigned["right"])
    if timed and isinstance(parse(timed["code"], cell=True), ast.Module):
        return f"{indent}{assigned['left']} {timed['code']}"
    # A shell command gives the lines that it printed: here, none.
    nothing = "[]" if assigned["right"].startswith("!") else "None"
    return f"{indent}{assigned['left']} {nothing}  # {assigned['right']}"


# --- where a logical line ends ---------------------------------------------------------


def _logical_end(lines: list[str], at: int, limit: int) -> int | None:
    """Index after the logical line that begins at `at` (brackets, strings and `\\` go on)."""
    depth, quote = 0, ""
    for end in range(at, min(len(lines), limit)):
        depth, quote, _ = _scan(lines[end], depth, quote)
        if depth <= 0 and not quote and not lines[end].endswith("\\"):
            return end + 1
    return None


def _scan(line: str, depth: int, quote: str) -> tuple[int, str, int]:
    """Bracket depth and open quote at the line's end, and where a comment begins."""
    at = 0
    while at < len(line):
        char = line[at]
        if quote:
            if char == "\\":
                at += 2
                continue
            if line.startswith(quote, at):
                at += len(quote)
                quote = ""
                continue
        elif char == "#":
            return depth, quote, at
        elif char in "'\"":
            quote = char * 3 if line.startswith(char * 3, at) else char
            at += len(quote)
            continue
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        at += 1
    # A plain string ends with its line, unless a backslash carries it over.
    still_open = quote if len(quote) == 3 or line.endswith("\\") else ""
    return depth, still_open, len(line)
