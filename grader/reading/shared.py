"""What scripts and notebooks have in common: marker lines, double definitions, unread names."""

import re
from collections.abc import Collection, Iterable, Mapping

from grader.model import Definition, Json, OpenedFile, Problem, Reading, Text
from grader.reading import decoding
from grader.texts import catalog

_MARKER = re.compile(r"^[ \t]*#[ \t]*torchgrade[ \t]*:[ \t]*([\w-]+)", re.M | re.I)
# In the JSON of a notebook that could not be read, the line stands inside a string.
_MARKER_ANYWHERE = re.compile(r"#[ \t]*torchgrade[ \t]*:[ \t]*([\w-]+)", re.I)
# In code that Python cannot parse, a definition is known by its look.
_LOOKS_DEFINED = re.compile(r"^[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)|^(\w+)[ \t]*=(?!=)", re.M)


def unreadable(opened: OpenedFile, problem: Problem) -> Reading:
    """The reading of a file that gives no source; only a marker line may still be known."""
    found = _MARKER_ANYWHERE.search(decoding.raw_text(opened.content[:1_000_000]))
    return Reading(
        submission=opened.submission,
        source=None,
        definitions={},
        problems=(problem,),
        unreadable=True,
        marker=found[1] if found else None,
    )


def much_code() -> Problem:
    """The problem of a file with far more code than an exercise can have."""
    return Problem(kind="too_large", message=catalog.text("reading.too_much_code"))


def marker(text: str) -> str | None:
    """The assignment that a line `# torchgrade: hw4` names."""
    found = _MARKER.search(text)
    return found[1] if found else None


def look_defined(text: str) -> tuple[str, ...]:
    """Names that a text seems to define, in order."""
    return tuple(dict.fromkeys(first or second for first, second in _LOOKS_DEFINED.findall(text)))


def defined_twice(
    definitions: Mapping[str, Definition], names: Collection[str]
) -> Iterable[Problem]:
    """A problem for each of `names` that is defined more than once; it stands at the last."""
    for definition in definitions.values():
        if definition.name in names and definition.earlier:
            yield Problem(
                kind="defined_twice",
                message=_twice(definition),
                place=definition.place,
            )


def _twice(definition: Definition) -> Text:
    last = definition.place
    lines: list[Json] = [place.line for place in definition.earlier]
    cells: list[Json] = [place.cell for place in definition.earlier]
    if last.cell is None:
        return catalog.text(
            "reading.twice_lines", function=definition.name, earlier=lines, last=last.line
        )
    if all(cell == last.cell for cell in cells):
        return catalog.text(
            "reading.twice_in_cell",
            function=definition.name,
            cell=last.cell,
            earlier=lines,
            last=last.line,
        )
    return catalog.text(
        "reading.twice_cells",
        function=definition.name,
        earlier=list(dict.fromkeys(cells)),
        last=last.cell,
    )
