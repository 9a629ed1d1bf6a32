"""Places in a submission that was read before: for a line that raised, or a placeholder."""

from grader.model import Passage, Piece, Place, Reading
from grader.reading.parsing import line_at, lines_of


def place_in(passage: Passage, line: int | None = None) -> Place:
    """A 1-based line of a script or cell with its text, or the cell as such."""
    own = line_of(passage, line) if line is not None else ""
    return Place(line=line, cell=passage.cell, cell_id=passage.cell_id, quote=own or passage.quote)


def line_of(passage: Passage, line: int) -> str:
    """The text of a 1-based line, without its indentation; empty outside of the text."""
    return line_at(lines_of(passage.text), line)


def locate(reading: Reading, *, line: int | None, cell: int | None = None) -> Place:
    """The full place of a line, with the cell's id and the quote that people recognise."""
    passage = _passage(reading, cell)
    if passage is None or (line is None and cell is None):
        return Place(line=line, cell=cell)
    return place_in(passage, line)


def code_at(reading: Reading, place: Place) -> str:
    """The line of code at a place, without its indentation; empty when there is none."""
    passage = _passage(reading, place.cell)
    return line_of(passage, place.line) if passage is not None and place.line is not None else ""


def piece_place(reading: Reading, piece: Piece, line: int) -> Place:
    """The place of a 1-based line of a piece."""
    return locate(reading, line=line, cell=piece.cell)


def _passage(reading: Reading, cell: int | None) -> Passage | None:
    return next((each for each in reading.passages if each.cell == cell), None)
