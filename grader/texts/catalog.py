"""Sentences from `en.toml` and `zh.toml`, rendered in both languages at once.

Templates are `str.format` strings whose fields are plain names. A list argument is joined
with the language's own comma, another sentence given as an argument speaks the language of the
whole. A missing key or argument is a programming error and raises.
"""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import TypeAlias

from grader.model import Json, Language, Text
from grader.texts.names import visible

# Fields that hold names of files, folders or people: those can hold anything.
_NAMES = frozenset(
    {"file", "files", "folder", "inside", "left", "member", "name", "names", "near", "path"}
    | {"reports", "right", "stranger", "student"}
)

# What may be filled in: a list may hold sentences, too.
Filling: TypeAlias = "Json | Text | Sequence[Json | Text]"


@cache
def _templates(language: Language) -> dict[str, str]:
    raw = resources.files("grader.texts").joinpath(f"{language}.toml").read_text("utf-8")
    return dict(_flat(tomllib.loads(raw), ""))


def _flat(table: Mapping[str, object], prefix: str) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for key, value in table.items():
        if isinstance(value, Mapping):
            rows += _flat(value, f"{prefix}{key}.")
        else:
            rows.append((prefix + key, str(value)))
    return rows


def text(code: str, **args: Filling) -> Text:
    """The sentence `code` in both languages, its fields filled from `args`."""
    plain = {key: _plain(value) for key, value in args.items()}
    return Text(code=code, args=plain, en=_render("en", code, args), zh=_render("zh", code, args))


def say(language: Language, code: str, **args: Filling) -> str:
    """The sentence `code` in one language, for the terminal."""
    return _render(language, code, args)


def codes(language: Language) -> frozenset[str]:
    """Every sentence that this language has."""
    return frozenset(_templates(language))


def listed(language: Language, names: Iterable[object]) -> str:
    """Names one after the other: `a, b` or `a、b`."""
    return ("、" if language == "zh" else ", ").join(str(each) for each in names)


def clauses(language: Language, parts: Iterable[str]) -> str:
    """Parts of one sentence: `4 graded, 1 missing`, in Chinese with its full-width comma."""
    return ("，" if language == "zh" else ", ").join(parts)


def _render(language: Language, code: str, args: Mapping[str, Filling]) -> str:
    joined = {key: _filled(language, key, value) for key, value in args.items()}
    return _templates(language)[code].format(**joined)


def _filled(language: Language, key: str, value: Filling) -> object:
    joined = _joined(language, value)
    return visible(joined) if key in _NAMES and isinstance(joined, str) else joined


def _joined(language: Language, value: Filling) -> object:
    if isinstance(value, list | tuple):
        return listed(language, [_joined(language, each) for each in value])
    return value.in_language(language) if isinstance(value, Text) else value


def _plain(value: Filling) -> Json:
    """What a report can hold of it: of a sentence the English one."""
    if isinstance(value, Text):
        return value.en
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value  # type: ignore[return-value]
