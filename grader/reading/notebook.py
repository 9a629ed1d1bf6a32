"""The cells of a notebook, nbformat 3 to 4.5, read with tolerance.

nbformat's own reader and converter refuse or log what is damaged, while a grader needs no
more of a cell than its kind, its id and its text. So the JSON is read directly: nothing is
validated, and what cannot be used is named.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from grader.model import Place, Problem
from grader.reading import decoding
from grader.reading.looks import looks_like_script
from grader.reading.parsing import clean, first_code_line, line_at, lines_of
from grader.reading.slimming import slim
from grader.texts import catalog

# Versions before 4 keep their cells in worksheets and the code under `input`.
_PYTHON = ("python", "ipython", "sage")
_OTHER_KERNELS = ("ir", "julia", "bash", "javascript", "deno", "octave", "rust", "scala")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A cell as it stands in the file; `number` counts all cells from 1."""

    number: int
    kind: Literal["code", "text", "damaged"]
    text: str
    id: str | None = None
    quote: str | None = None

    def place(self, line: int | None = None) -> Place:
        """The cell, or a line of it, with the line that is meant as the quote."""
        meant = line_at(lines_of(self.text), line) if line is not None else ""
        return Place(line=line, cell=self.number, cell_id=self.id, quote=meant or self.quote)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """All cells in order, and what to say of the file although it could be read."""

    cells: tuple[Cell, ...]
    notes: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loaded:
    """The JSON object, and the line at which other text stands behind its end."""

    held: Mapping[str, object]
    leftover: int | None = None


def cells(content: bytes) -> tuple[Cell, ...] | Problem:
    """All cells in order, or why the file is no Python notebook."""
    opened = open_notebook(content)
    return opened if isinstance(opened, Problem) else opened.cells


def open_notebook(content: bytes) -> Opened | Problem:
    """The notebook, or why the file is no Python notebook."""
    text = decoding.decode(content, "notebook")
    if isinstance(text, Problem):
        return text
    notebook = _loaded(text)
    if isinstance(notebook, Problem):
        return notebook
    raw = _raw_cells(notebook.held)
    if raw is None:
        return decoding.not_source("notebook", "other_json")
    language = _foreign_language(notebook.held)
    if language is not None:
        message = catalog.text("reading.other_language", language=clean(language, 40))
        return Problem(kind="not_python", message=message)
    told = (decoding.assumption(content, "notebook"), _leftover(notebook.leftover))
    return Opened(
        cells=tuple(_cell(number, each) for number, each in enumerate(raw, 1)),
        notes=tuple(problem for problem in told if problem is not None),
    )


def is_notebook(text: str) -> bool:
    """Whether a text is a whole notebook: its JSON is valid, and it has cells."""
    if not text.lstrip().startswith("{") or '"cell' not in text:
        return False
    loaded = _loaded(text)
    return not isinstance(loaded, Problem) and bool(_raw_cells(loaded.held))


def _leftover(line: int | None) -> Problem | None:
    if line is None:
        return None
    message = catalog.text("reading.leftover_json", line=line)
    return Problem(kind="damaged_notebook", message=message, place=Place(line=line))


def _loaded(text: str) -> _Loaded | Problem:
    try:
        # Numbers are never used; `float` takes any number of digits.
        loaded = json.loads(text, parse_int=float)
    except RecursionError:
        return decoding.not_source("notebook", "other_json")
    except ValueError as error:
        return _recovered(text) or _not_json(text, error)
    if not isinstance(loaded, dict):
        return decoding.not_source("notebook", "other_json")
    return _Loaded(held=loaded)


def _recovered(text: str) -> _Loaded | None:
    """A notebook whose damage is certainly not in its cells' code.

    It may stand behind the end, where an older, longer file was not overwritten to its end, or
    in outputs: two people's plots in an unfinished merge.
    """
    whole = _first_value(text)
    if whole is not None and _raw_cells(whole[0]):
        return _Loaded(held=whole[0], leftover=text[: whole[1]].count("\n") + 1)
    without_outputs = slim(text.encode("utf-8", "surrogatepass"))
    try:
        loaded = json.loads(without_outputs.decode("utf-8", "surrogatepass"), parse_int=float)
    except (ValueError, RecursionError):
        return None
    if isinstance(loaded, dict) and _raw_cells(loaded):
        return _Loaded(held=loaded)
    return None


def _first_value(text: str) -> tuple[Mapping[str, object], int] | None:
    """The JSON object at the beginning of a text, and where it ends."""
    start = len(text) - len(text.lstrip())
    try:
        loaded, end = json.JSONDecoder(parse_int=float).raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return (loaded, end) if isinstance(loaded, dict) else None


def _not_json(text: str, error: ValueError) -> Problem:
    conflict = decoding.merge_conflict(text)
    if conflict is not None:
        return conflict
    if looks_like_script(text):
        return decoding.not_source("notebook", "script")
    cut_off = text.lstrip().startswith("{") and _is_cut_off(text, error)
    line = error.lineno if isinstance(error, json.JSONDecodeError) else 1
    code = "reading.cut_off_json" if cut_off else "reading.broken_json"
    # The line is told and is no place to go to: nobody mends a notebook's JSON by hand.
    return Problem(kind="not_a_notebook", message=catalog.text(code, line=line))


def _is_cut_off(text: str, error: ValueError) -> bool:
    """Whether the text is a notebook's beginning: no object ends before its last brace."""
    kept = text.rstrip()
    at = error.pos if isinstance(error, json.JSONDecodeError) else 0
    return not kept.endswith("}") or at >= len(kept)


def _raw_cells(notebook: Mapping[str, object]) -> list[object] | None:
    found = notebook.get("cells")
    if isinstance(found, list):
        return found
    sheets = notebook.get("worksheets")
    if not isinstance(sheets, list):
        return None
    in_sheets = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
    return [cell for each in in_sheets if isinstance(each, list) for cell in each]


def _foreign_language(notebook: Mapping[str, object]) -> str | None:
    """The notebook's language when it is certainly not Python."""
    metadata = _mapping(notebook.get("metadata"))
    kernel = _mapping(metadata.get("kernelspec"))
    info = _mapping(metadata.get("language_info"))
    named = [each for each in (info.get("name"), kernel.get("language")) if _is_word(each)]
    languages = [str(each) for each in named]
    if any(language.lower().startswith(_PYTHON) for language in languages):
        return None
    if languages:
        return languages[0]
    name = str(kernel.get("name", "")).lower()
    known = any(name == other or name.startswith(f"{other}-") for other in _OTHER_KERNELS)
    return name if known else None


def _is_word(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _cell(number: int, raw: object) -> Cell:
    if not isinstance(raw, dict):
        return Cell(number=number, kind="damaged", text="")
    source = _source(raw.get("source", raw.get("input")))
    return Cell(
        number=number,
        kind="damaged" if source is None else _kind(raw),
        text=source or "",
        quote=first_code_line(source or ""),
        id=clean(raw["id"], 64) or None if isinstance(raw.get("id"), str) else None,
    )


def _kind(raw: Mapping[str, object]) -> Literal["code", "text", "damaged"]:
    kind = raw.get("cell_type")
    if kind == "code":
        return "text" if _other_language_cell(raw) else "code"
    if isinstance(kind, str):
        return "text"
    # Without its type a cell shows by its other keys what it was.
    return "code" if {"outputs", "execution_count", "input"} & raw.keys() else "damaged"


def _other_language_cell(raw: Mapping[str, object]) -> bool:
    """Whether an editor has marked this one cell as another language."""
    editor = _mapping(_mapping(raw.get("metadata")).get("vscode"))
    language = editor.get("languageId", raw.get("language", "python"))
    return isinstance(language, str) and not language.lower().startswith(_PYTHON)


def _source(value: object) -> str | None:
    if isinstance(value, str):
        return decoding.unix_lines(value)
    if not isinstance(value, list) or not all(isinstance(line, str) for line in value):
        return None
    # Some tools write the lines without their ends.
    ended = any(line.endswith(("\n", "\r")) for line in value[:-1])
    return decoding.unix_lines(("" if ended or len(value) < 2 else "\n").join(value))
