"""The rows of a table that a spreadsheet program wrote: CSV in any of its dialects, or .xlsx."""

import csv
import io
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
    delimiter = max(",;\t", key=lambda mark: sum(line.count(mark) for line in _top(text)))
    try:
        found = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise UsageProblem(_unreadable(path, error)) from error
    return [row for row in found if any(cell.strip() for cell in row)]


def _unreadable(path: Path, error: Exception) -> Any:
    return catalog.text("bulk.roster_unreadable", file=str(path), reason=why(error))


def _top(text: str) -> list[str]:
    return text.splitlines()[:20]


def _decoded(raw: bytes) -> str:
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return raw.decode("utf-16", "replace")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        # What a Chinese Excel writes when it is asked for CSV.
        return raw.decode("gb18030", "replace")


def _workbook(path: Path) -> list[list[str]]:
    try:
        import openpyxl  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ModuleNotFoundError as error:
        raise UsageProblem(catalog.text("bulk.roster_as_csv", file=str(path))) from error
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        cells: Iterable[Any] = book.worksheets[0].iter_rows(max_row=_MOST_ROWS, values_only=True)
        found = [[_cell(cell) for cell in row] for row in cells]
        book.close()
    except Exception as error:  # a damaged workbook raises whatever its parts raise
        raise UsageProblem(_unreadable(path, error)) from error
    return [row for row in found if any(cell.strip() for cell in row)]


def _cell(value: object) -> str:
    """A number as it was typed: `10254700432`, not `10254700432.0`."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
