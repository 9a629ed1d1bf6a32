"""The rows of a table that a spreadsheet program wrote: CSV in any of its dialects, or .xlsx."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from grader.errors import UsageProblem
from grader.texts import catalog
from grader.texts.reasons import why

_MOST_ROWS: Final = 100_000
_BINARY: Final = (".xls", ".xlsm", ".ods", ".numbers", ".et")


def rows(path: Path) -> list[list[str]]:
    """The rows that hold anything, every cell as text.

    Raises:
        UsageProblem: the file cannot be read, or is of a kind that only its program reads.
    """
    if path.suffix.lower() == ".xlsx":
        return _workbook(path)
    if path.suffix.lower() in _BINARY:
        raise UsageProblem(catalog.text("bulk.roster_as_csv", file=str(path)))
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UsageProblem(_unreadable(path, error)) from error
    text = _decoded(raw)
    try:
        found = _split(text, max(",;\t|", key=lambda mark: _regularity(_top(text), mark)))
    except csv.Error as error:
        raise UsageProblem(_unreadable(path, error)) from error
    return [row for row in found if any(cell.strip() for cell in row)]


def _unreadable(path: Path, error: Exception) -> Any:
    return catalog.text("bulk.roster_unreadable", file=str(path), reason=why(error))


def _top(text: str) -> str:
    return "\n".join(text.splitlines()[:20])


def _split(text: str, delimiter: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))


def _regularity(text: str, delimiter: str) -> tuple[int, int]:
    """How many rows have the same number of cells, of which there are several; and how many."""
    try:
        widths = Counter(len(row) for row in _split(text, delimiter) if len(row) > 1)
    except csv.Error:
        return 0, 0
    width, rows = max(widths.items(), key=lambda each: (each[1], each[0]), default=(0, 0))
    return rows, width


def _decoded(raw: bytes) -> str:
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return raw.decode("utf-16", "replace")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        # What Excel writes in China, and in Western Europe.
        return raw.decode("cp1252" if _is_western(raw) else "gb18030", "replace")


def _is_western(raw: bytes) -> bool:
    """Whether letters with accents stand alone; a Chinese character is at least two bytes."""
    runs = re.findall(rb"[\x80-\xff]+", raw)
    single = sum(len(run) == 1 for run in runs)
    return single > 0 and 2 * single >= len(runs)


def _workbook(path: Path) -> list[list[str]]:
    try:
        import openpyxl  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ModuleNotFoundError as error:
        raise UsageProblem(catalog.text("bulk.roster_as_csv", file=str(path))) from error
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        cells: Iterable[Any] = book.worksheets[0].iter_rows(max_row=_MOST_ROWS)
        found = [[_cell(cell) for cell in row] for row in cells]
        book.close()
    except Exception as error:  # a damaged workbook raises whatever its parts raise
        raise UsageProblem(_unreadable(path, error)) from error
    return [row for row in found if any(cell.strip() for cell in row)]


def _cell(cell: Any) -> str:
    """A cell as it is seen: `10254700432`, not `10254700432.0`, and `0012301` of a padded one."""
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    zeros = str(getattr(cell, "number_format", None) or "")
    padded = isinstance(value, int) and zeros.strip("0") == ""
    return str(value).zfill(len(zeros)) if padded else str(value)
