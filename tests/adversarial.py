"""Texts on which a regular expression that is not linear shows itself, made from its own parts."""

import re
from collections.abc import Iterator
from re import _constants as constants  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, Final

# Runs of these, and what of them fits, are tried on every pattern.
_UNITS: Final = (
    *" 1aA_\"'([{<\n#.-\\/%=!?:,+`\0中",
    *("\t", "\r\n", " \n", "a ", "a,", "a.", "1_", "_1", "a_", "- ", " -", "[a", '{"', "f'"),
    *("a=", "=a", "x\n#", "a\n", "<!--", "<!---->", "é'", "0x", "torchgrade-", "副本", "a-"),
    *("name ", "t'", "def ", "except ", "coding ", ">>> ", "_attempt_", "1-1 - a - ", "a+"),
)
# What a class of characters is tried with, in this order; `+` tries optional parts, too.
_TASTES: Final = ("a+", "a", "1 +", " +", ".+", "_+", '"+', "\n+", "中+", "A_1+")
_ALWAYS: Final = "aA1 _.-\n\"'([/+é中"
_AFTER: Final = (" ", "1", ".", "_", "\n", "\\")
_TAILS: Final = ("", "\x01", "x")


Recipe = tuple[str, str, str]


def grown(recipe: Recipe, length: int) -> str:
    """A text of about `length` characters: a beginning, a run of something, an end."""
    before, unit, tail = recipe
    return before + unit * (length // len(unit)) + tail


def recipes(pattern: "re.Pattern[Any]") -> Iterator[Recipe]:
    """Beginnings, runs and ends that are made of what the pattern itself looks for."""
    source = pattern.pattern
    spelt = source.decode("latin-1") if isinstance(source, bytes) else source
    flags = pattern.flags & ~re.UNICODE if isinstance(source, bytes) else pattern.flags
    tree = parser.parse(spelt, flags)
    heads = {("", unit) for unit in _UNITS}
    for taste in _TASTES:
        heads.add(("", _whole(tree, taste)))
        for before, body in _repeats(tree, "", taste):
            heads |= {(before, body), ("", before), ("", before + body), (before, before)}
            heads |= {(before, body + after) for after in _AFTER}
    for before, unit in sorted(heads):
        if unit:
            yield from ((before, unit, tail) for tail in _TAILS)


def _whole(tokens: Any, taste: str) -> str:
    """A text that the tokens match, more or less."""
    return "".join(_one(op, value, taste) for op, value in tokens)


def _one(op: Any, value: Any, taste: str) -> str:
    match str(op):
        case "LITERAL":
            return chr(value)
        case "NOT_LITERAL":
            return next(char for char in taste + "ab" if ord(char) != value)
        case "ANY":
            return taste[0]
        case "IN":
            return next((char for char in taste + _ALWAYS if _is_in(char, value)), "")
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, _, body = value
            return _whole(body, taste) * min(least or int(taste.endswith("+")), 20)
        case "SUBPATTERN":
            return _whole(value[3], taste)
        case "ATOMIC_GROUP":
            return _whole(value, taste)
        case "BRANCH":
            return _whole(value[1][len(taste) % len(value[1])], taste)
        case "GROUPREF":
            return '"'
        case _:
            return ""


def _is_in(char: str, members: Any) -> bool:
    found = negated = False
    for op, value in members:
        match str(op):
            case "NEGATE":
                negated = True
            case "LITERAL":
                found = found or ord(char) == value
            case "RANGE":
                found = found or value[0] <= ord(char) <= value[1]
            case _:
                found = found or _is_of(char, str(value))
    return found != negated


def _is_of(char: str, category: str) -> bool:
    plain = category.replace("UNI_", "").replace("NOT_", "")
    of = {
        "CATEGORY_DIGIT": char.isdigit(),
        "CATEGORY_SPACE": char.isspace(),
        "CATEGORY_WORD": char.isalnum() or char == "_",
    }[plain]
    return of != ("NOT_" in category)


def _repeats(tokens: Any, before: str, taste: str) -> Iterator[tuple[str, str]]:
    """Of each repetition without a small bound: what leads to it, and what it repeats."""
    for op, value in tokens:
        match str(op):
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                _, most, body = value
                if most is constants.MAXREPEAT or most > 30:
                    yield before, _whole(body, taste)
                yield from _repeats(body, before, taste)
            case "SUBPATTERN":
                yield from _repeats(value[3], before, taste)
            case "ATOMIC_GROUP":
                yield from _repeats(value, before, taste)
            case "BRANCH":
                for each in value[1]:
                    yield from _repeats(each, before, taste)
            case "ASSERT" | "ASSERT_NOT":
                yield from _repeats(value[1], before, taste)
            case _:
                pass
        before += _one(op, value, taste)
