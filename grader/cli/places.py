"""How a place in a submission is named: cell, line, and the line of code that is meant."""

from collections.abc import Mapping
from typing import Any, Protocol

from grader.cli.layout import clean, cut

_QUOTE_COLUMNS = 40


class Speaker(Protocol):
    """Says sentences of the screens in one language."""

    def say(self, code: str, **args: Any) -> str: ...


def place(at: Mapping[str, Any], speaker: Speaker) -> str:
    """`cell 7, line 2`, `line 14`, or nothing; `at` has `cell` and `line`, each may be None."""
    cell, line = at.get("cell"), at.get("line")
    if cell and line:
        return speaker.say("cell_line", cell=cell, line=line)
    if cell:
        return speaker.say("cell", cell=cell)
    return speaker.say("line", line=line) if line else ""


def quoted(at: Mapping[str, Any], quotes: Mapping[int, str], speaker: Speaker) -> str:
    """The place, in a cell with the line that is meant, else with the cell's first line of code."""
    quote = at.get("quote") or quotes.get(at.get("cell") or 0)
    return statement({**at, "quote": quote}, speaker) if at.get("cell") else place(at, speaker)


def statement(at: Mapping[str, Any], speaker: Speaker) -> str:
    """The place with the line that stands there."""
    named, quote = place(at, speaker), at.get("quote")
    if not (named and quote):
        return named
    return speaker.say("place_quote", place=named, quote=cut(clean(str(quote)), _QUOTE_COLUMNS))


def function(at: Mapping[str, Any], quotes: Mapping[int, str], speaker: Speaker) -> str:
    """The function with its place; the line only where no cell says more."""
    where = {**at, "line": None} if at.get("cell") and at.get("line") == 1 else at
    named = quoted(where, quotes, speaker)
    name = at.get("function")
    if name and named:
        return speaker.say("function_place", function=name, place=named)
    return str(name or named)
