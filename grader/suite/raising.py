"""The sentence about a call that raised: what it means for the student, and the next step."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from grader.model import EntryPoint, Json, Place, Raised, Source, Text
from grader.sandbox import refusals
from grader.suite import causes
from grader.texts import catalog

_QUOTE_CHARACTERS: Final = 120
# The causes that have a sentence of their own; any other exception speaks for itself.
_TOLD: Final = frozenset(
    each.removeprefix("raised.") for each in catalog.codes("en") if each.startswith("raised.")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known of a submission without asking it.

    Args:
        entry_points: the functions that the task calls, by name.
        rebound: where the file gives an entry point's name to something else than a function.
        bound: all places of names that the file binds more than once, in order.
        layers: of the sandbox that are in force.
    """

    source: Source
    entry_points: Mapping[str, EntryPoint] = field(default_factory=dict)
    rebound: Mapping[str, Place] = field(default_factory=dict)
    bound: Mapping[str, Sequence[Place]] = field(default_factory=dict)
    layers: tuple[str, ...] = ()


def text(seen: Raised, told: Mapping[str, Json], known: Known) -> Text:
    """The sentence about a call that raised.

    Args:
        told: its arguments so far: `function`, its place, what was tried.
    """
    told = {**told, **causes.words(seen.type, seen.message)}
    if not seen.trace and seen.type == "TypeError":
        # Not a line of the student's own raised it: the call itself was impossible.
        impossible = _impossible(seen.message, told, known)
        if impossible is not None:
            return impossible
    if seen.trace:
        # The innermost of the student's own lines is where to look.
        frame = seen.trace[-1]
        told |= {"line": frame.line, "cell": frame.cell}
        if "quote" in told:
            told["quote"] = _quote(known.source, frame.line, frame.cell)
    if _is_unknown(seen, told, known.source):
        where = "cell" if known.source.kind == "notebook" else "file"
        return catalog.text(f"raised.unknown_{where}", **told)
    kind = causes.kind_of(seen.type, seen.message)
    refused = refusals.explain(seen.type, seen.message, known.layers)
    if kind in ("sandbox", "network", None) and refused is not None:
        return catalog.text("raised.refused", **told, reason=refused)
    if kind not in _TOLD or (kind == "absent_module" and "module" not in told):
        kind = "call"
    return catalog.text(f"raised.{kind}", **told)


def _quote(source: Source, line: int, cell: int | None) -> str | None:
    """The line of the file at this place, as a report quotes it."""
    for piece in source.pieces:
        lines = piece.text.split("\n")
        if piece.cell == cell and 1 <= line <= len(lines):
            return lines[line - 1].strip()[:_QUOTE_CHARACTERS] or None
    return None


def _is_unknown(seen: Raised, told: Mapping[str, Json], source: Source) -> bool:
    """Whether the file never gives a meaning to the name that was not found."""
    name = told.get("name")
    if seen.type != "NameError" or name is None:
        return False
    return not causes.is_bound(str(name), (piece.text for piece in source.pieces))


def _impossible(message: str, told: Mapping[str, Json], known: Known) -> Text | None:
    function = str(told["function"])
    if function not in known.entry_points:
        return None
    parameters = _parameters(known.entry_points[function])
    if causes.no_function(message):
        place = known.rebound.get(function)
        if place is None or place.line is None:
            return catalog.text("raised.no_function", **{**told, "parameters": parameters})
        return _replaced(function, place, told, known.source)
    wrong = causes.wrong_call(function, message)
    if wrong is None:
        return None
    code, args = wrong
    return catalog.text(f"raised.parameters_{code}", **{**told, **args, "parameters": parameters})


def _replaced(function: str, place: Place, told: Mapping[str, Json], source: Source) -> Text:
    """A statement took the function's name: for the function's own result, or for another thing."""
    line = place.line or 1
    quote = _quote(source, line, place.cell) or place.quote
    own = re.search(rf"\b{re.escape(function)}\s*\(", quote or "") is not None
    code = "overwritten" if own else "replaced"
    where = "line" if place.cell is None else "cell"
    at: dict[str, Json] = {"line": line, "cell": place.cell, "quote": quote}
    return catalog.text(f"raised.{code}_{where}", **{**told, **at})


def _parameters(entry: EntryPoint) -> str:
    """As the first line of a definition lists them; the handout says what is left out here."""
    return ", ".join(
        f"{each.name}=..." if each.optional else each.name for each in entry.parameters
    )
