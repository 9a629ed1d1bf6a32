"""Places in a submission that was read before: for a line that raised, or a placeholder."""

from grader.model import Piece, Place, Problem, Reading
from grader.reading import decoding, notebook
from grader.reading.parsing import line_at, script_place


def locate(reading: Reading, *, line: int | None, cell: int | None = None) -> Place:
    """The full place of a line, with the cell's id and the quote that people recognise."""
    if cell is not None:
        found = _cell(reading, cell)
        return found.place(line) if found else Place(line=line, cell=cell)
    text = _script(reading)
    return script_place(text.split("\n"), line) if line is not None else Place()


def code_at(reading: Reading, place: Place) -> str:
    """The line of code at a place, without its indentation; empty when there is none."""
    if place.line is None:
        return ""
    if place.cell is None:
        return line_at(_script(reading).split("\n"), place.line)
    cell = _cell(reading, place.cell)
    return line_at(cell.text.split("\n"), place.line) if cell else ""


def piece_place(reading: Reading, piece: Piece, line: int) -> Place:
    """The place of a 1-based line of a piece."""
    return locate(reading, line=line, cell=piece.cell)


def _script(reading: Reading) -> str:
    if reading.submission.kind == "notebook":
        return ""
    text = decoding.decode(reading.submission.content, "module")
    return "" if isinstance(text, Problem) else text


def _cell(reading: Reading, number: int) -> notebook.Cell | None:
    if reading.submission.kind == "module":
        return None
    found = notebook.cells(reading.submission.content)
    if isinstance(found, Problem) or not 1 <= number <= len(found):
        return None
    return found[number - 1]
