"""A notebook as a reading: each cell that is Python is a unit, the others are named."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from grader.model import Definition, OpenedFile, Piece, Problem, Reading, Source
from grader.reading.carets import carets
from grader.reading.definitions import Placed, definitions, nested
from grader.reading.imports import imports
from grader.reading.magics import to_python
from grader.reading.notebook import Cell, open_notebook
from grader.reading.parsing import Unparsable, line_at, parse, too_much_code
from grader.reading.refusals import explained
from grader.reading.shared import defined_twice, look_defined, marker, much_code, unreadable
from grader.reading.units import units
from grader.texts import catalog

_MESSAGES = {"syntax": "cell_syntax_error", "complex": "cell_too_complex"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sorted:
    """Cells that run, cells that Python cannot read, cells whose text is not run."""

    pieces: tuple[Piece, ...]
    trees: tuple[Placed, ...]
    broken: tuple[tuple[Cell, Unparsable], ...]
    # With the magic that makes the cell something else; "" for a text cell. What stands in for
    # such a cell, the writing of a file, is among the units.
    not_run: tuple[tuple[Cell, str], ...]


def understand(opened: OpenedFile, names: Collection[str]) -> Reading:
    """What a notebook holds; a cell with a syntax error costs only itself."""
    notebook = open_notebook(opened.content)
    if isinstance(notebook, Problem):
        return unreadable(opened, notebook)
    found = notebook.cells
    code = [cell for cell in found if cell.kind == "code" and cell.text.strip()]
    if not code:
        message = catalog.text("reading.no_code_cell")
        return unreadable(opened, Problem(kind="no_code_cell", message=message))
    if too_much_code("\n".join(cell.text for cell in code)):
        return unreadable(opened, much_code())
    by_fate = _sorted(found)
    defined, open_ended = definitions(by_fate.trees)
    return Reading(
        submission=opened.submission,
        source=_source(by_fate),
        definitions=defined,
        problems=(*notebook.notes, *_problems(found, by_fate, defined, names)),
        marker=marker(code[0].text),
        unread=_unread((cell for cell, _ in by_fate.broken), defined),
        open_ended=open_ended,
        imports=imports(tree for tree, _, _ in by_fate.trees),
        nested=nested(by_fate.trees, {*names} - {*defined}),
        passages=tuple(cell.passage for cell in found),
    )


def _source(by_fate: _Sorted) -> Source | None:
    if not by_fate.pieces:
        return None
    trees = [tree for tree, _, _ in by_fate.trees]
    return Source(kind="notebook", pieces=by_fate.pieces, units=units(trees))


def _sorted(found: tuple[Cell, ...]) -> _Sorted:
    pieces: list[Piece] = []
    trees: list[Placed] = []
    broken: list[tuple[Cell, Unparsable]] = []
    not_run = [(cell, "") for cell in found if cell.kind == "text"]
    for cell in found:
        if cell.kind != "code" or not cell.text.strip():
            continue
        python = to_python(cell.text)
        tree = parse(python.text, cell=True)
        if python.skipped_by is not None:
            not_run.append((cell, python.skipped_by))
            if not python.text:
                continue
        if isinstance(tree, Unparsable):
            broken.append((cell, tree))
        else:
            pieces.append(Piece(text=python.text, cell=cell.number))
            trees.append((tree, cell.text.split("\n"), cell.place))
    return _Sorted(
        pieces=tuple(pieces), trees=tuple(trees), broken=tuple(broken), not_run=tuple(not_run)
    )


def _unread(broken: Iterable[Cell], defined: Mapping[str, Definition]) -> tuple[str, ...]:
    looks = [name for cell in broken for name in look_defined(cell.text)]
    return tuple(dict.fromkeys(name for name in looks if name not in defined))


def _problems(
    found: tuple[Cell, ...],
    by_fate: _Sorted,
    defined: Mapping[str, Definition],
    names: Collection[str],
) -> tuple[Problem, ...]:
    unread = _unread((cell for cell, _ in by_fate.broken), defined)
    wanted = [name for name in names if name not in defined and name not in unread]
    problems = [
        *(_damaged(cell) for cell in found if cell.kind == "damaged"),
        *(
            _broken(cell, error, [n for n in unread if n in names])
            for cell, error in by_fate.broken
        ),
        *_idle(by_fate.not_run, wanted),
        *carets(by_fate.trees, names),
        *defined_twice(defined, names),
    ]
    return tuple(sorted(problems, key=lambda problem: problem.place.cell or 0))


def _damaged(cell: Cell) -> Problem:
    message = catalog.text("reading.damaged_cell")
    return Problem(kind="damaged_cell", message=message, place=cell.place())


def _broken(cell: Cell, error: Unparsable, unread: list[str]) -> Problem:
    here = [name for name in unread if name in look_defined(cell.text)]
    refusal = explained(cell.text, error)
    code = _MESSAGES[error.why]
    if error.why == "syntax" and here:
        code = "cell_syntax_error_names"
    message = catalog.text(
        f"reading.refused_{refusal.code}" if refusal else f"reading.{code}",
        source=line_at(cell.text.split("\n"), error.line),
        error=error.type,
        reason=error.reason,
        functions=list(here),
        **(refusal.args if refusal else {}),
    )
    return Problem(kind="syntax_error", message=message, place=cell.place(error.line))


def _idle(not_run: Iterable[tuple[Cell, str]], wanted: Collection[str]) -> Iterable[Problem]:
    """Cells that would define a missing entry point, if only they were run as Python."""
    for cell, magic in not_run:
        here = [name for name in look_defined(cell.text) if name in wanted]
        if here:
            code = "cell_magic_not_run" if magic else "text_cell_not_run"
            message = catalog.text(f"reading.{code}", functions=list(here), magic=magic)
            yield Problem(kind="cell_not_run", message=message, place=cell.place())
