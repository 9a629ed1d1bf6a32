"""Why Python refused a line, where its own words do not tell a beginner: what to change."""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

from grader.model import Json
from grader.reading.newer import newer_syntax, spelt
from grader.reading.parsing import Unparsable

_INVALID = re.compile(r"invalid (?:non-printable )?character")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_PROMPT = re.compile(r"\s*(>>>|In ?\[[\d ]*\]:|Out ?\[[\d ]*\]:)")
_PYTHON2 = re.compile(
    r"Missing parentheses in call to '(?:print|exec)'"
    r"|leading zeros in decimal integer literals|invalid hexadecimal literal.*L"
)
_OLD_EXCEPT = re.compile(r"\s*except\s+[\w.]+\s*,\s*[a-z_]\w*\s*:")
_CONFLICT = re.compile(r"(?:<{7}|={7}|>{7})(?: |$)")
_SHOWN = 6

_SIGNS = {
    "。": ".",
    "、": ",",
    "【": "[",
    "】": "]",
    "〔": "[",
    "〕": "]",
    "「": '"',
    "」": '"',
    "『": '"',
    "』": '"',
    "《": "<",
    "》": ">",
    "〈": "<",
    "〉": ">",
    "￥": "$",
}
_TYPOGRAPHIC = {
    "“": '"',
    "”": '"',
    "„": '"',
    "«": '"',
    "»": '"',
    "‘": "'",
    "’": "'",
    "‚": "'",
    "`": "'",
    "´": "'",
    "—": "-",
    "–": "-",
    "−": "-",
    "‐": "-",
    "…": "...",
    "×": "*",
    "·": "*",
    "∙": "*",
    "⋅": "*",
    "÷": "/",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "²": "**2",
    "³": "**3",
    "½": "1/2",
    "→": "->",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """The text `reading.refused_*` that explains a refusal, and what it is filled with."""

    code: str
    args: Mapping[str, Json] = field(default_factory=dict)


def explained(text: str, error: Unparsable) -> Refusal | None:
    """What people should know of an error; None where Python's own words say it all."""
    line = text.split("\n")[error.line - 1]
    if error.why != "syntax":
        return None
    return _by_look(text, line) or _by_signs(line, error.reason) or _by_words(line, error)


def _by_look(text: str, line: str) -> Refusal | None:
    """What was pasted along with the code."""
    if _CONFLICT.match(line):
        return Refusal(code="conflict")
    first = next((each for each in text.split("\n") if each.strip()), "")
    for each in (line, first):
        if _FENCE.match(each):
            return Refusal(code="fence")
    prompt = _PROMPT.match(line)
    return Refusal(code="prompt", args={"prompt": prompt[1]}) if prompt else None


def _by_signs(line: str, reason: str) -> Refusal | None:
    """Characters that look like Python's own and are others."""
    unclosed = reason.startswith(("unterminated string", "unterminated triple"))
    if not _INVALID.search(reason) and not unclosed:
        return None
    found = [char for char in _outside_strings(line) if not (char.isascii() and char.isprintable())]
    if unclosed:
        found = [char for char in line if char in "“”„‘’＂＇"]
    plain = {char: sign for char in found if (sign := _plain(char)) is not None}
    if plain:
        wide = [char for char in plain if char not in _TYPOGRAPHIC]
        signs = dict(list(plain.items())[:_SHOWN])
        return Refusal(
            code="fullwidth" if wide or _has_chinese(line) else "typographic",
            # Apart by spaces: commas are among them.
            args={"characters": " ".join(signs), "plain": " ".join(dict.fromkeys(signs.values()))},
        )
    hidden = [c for c in found if c not in "\t\f" and (c.isspace() or not c.isprintable())]
    if hidden:
        return Refusal(code="invisible", args={"character": f"U+{ord(hidden[0]):04X}"})
    return None


def _plain(char: str) -> str | None:
    """The character of Python for which one like it was typed."""
    if "\uff01" <= char <= "\uff5e":
        return chr(ord(char) - 0xFEE0)
    return _SIGNS.get(char) or (None if char.isascii() else _TYPOGRAPHIC.get(char))


def _has_chinese(line: str) -> bool:
    return any("\u4e00" <= char <= "\u9fff" for char in line)


def _outside_strings(line: str) -> str:
    """The line less its strings and comment."""
    outside: list[str] = []
    quote, escaped = "", False
    for char in line:
        if quote:
            closes = char == quote and not escaped
            escaped = char == "\\" and not escaped
            quote = "" if closes else quote
        elif char in "\"'":
            quote = char
        elif char == "#":
            break
        else:
            outside.append(char)
    return "".join(outside)


def _by_words(line: str, error: Unparsable) -> Refusal | None:
    needed = newer_syntax(line, error.reason)
    if needed is not None:
        here = spelt(sys.version_info[:2])
        return Refusal(code="newer", args={"needed": spelt(needed), "here": here})
    if _PYTHON2.search(error.reason) or _OLD_EXCEPT.match(line):
        return Refusal(code="python2")
    if error.type == "TabError":
        return Refusal(code="tabs")
    if error.type == "IndentationError":
        empty = error.reason.startswith("expected an indented block")
        return Refusal(code="empty_block" if empty else "indentation")
    return None
