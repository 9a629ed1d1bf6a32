"""Sentences from `en.toml` and `zh.toml`, rendered in both languages at once.

Templates are `str.format` strings whose fields are plain names. A list argument is joined
with the language's own comma. A missing key or argument is a programming error and raises.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources

from grader.model import Json, Language, Text


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


def text(code: str, **args: Json) -> Text:
    """The sentence `code` in both languages, its fields filled from `args`."""
    return Text(code=code, args=args, en=_render("en", code, args), zh=_render("zh", code, args))


def text_with(code: str, parts: Mapping[str, Text], **args: Json) -> Text:
    """The sentence `code`, some of whose fields are texts in their own right."""
    codes_: dict[str, Json] = {name: part.code for name, part in parts.items()}
    return Text(
        code=code,
        args={**args, **codes_},
        en=_render("en", code, {**args, **{name: part.en for name, part in parts.items()}}),
        zh=_render("zh", code, {**args, **{name: part.zh for name, part in parts.items()}}),
    )


def say(language: Language, code: str, **args: Json) -> str:
    """The sentence `code` in one language, for the terminal."""
    return _render(language, code, args)


def codes(language: Language) -> frozenset[str]:
    """Every sentence that this language has."""
    return frozenset(_templates(language))


def _render(language: Language, code: str, args: Mapping[str, Json]) -> str:
    joined = {key: _joined(language, value) for key, value in args.items()}
    return _templates(language)[code].format(**joined)


def _joined(language: Language, value: Json) -> object:
    if isinstance(value, list):
        return ("、" if language == "zh" else ", ").join(str(each) for each in value)
    return value
