"""TOML files that people write, read so that every mistake is named with its place.

A `Value` knows where it stands. What is wrong with it is added to a list that all values of
an assignment share, and a harmless stand-in is returned, so that one reading finds everything.
"""

import json
import keyword
import re
import tomllib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

_SHOWN_CHARACTERS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A value of a TOML file.

    Args:
        file: the file as messages name it, e.g. `hw4_rope/rubric.toml`.
        place: e.g. `criteria[2].points`; empty for the whole file.
        problems: where to write what is wrong; shared.
    """

    file: str
    place: str
    seen: object
    problems: list[str]

    def refuse(self, expected: str) -> None:
        """Note that something else was expected here."""
        place = f", {self.place}" if self.place else ""
        self.problems.append(f"{self.file}{place}: expected {expected}, got {shown(self.seen)}")

    def keys(
        self, *, required: Collection[str] = (), optional: Collection[str] = ()
    ) -> dict[str, "Value"]:
        """The known keys that are there; missing and unknown ones are refused."""
        if not isinstance(self.seen, dict):
            self.refuse("a table")
            return {}
        table, known = self.seen, [*required, *optional]
        unknown = {key: did_you_mean(key, known) for key in table if key not in known}
        for key, guess in unknown.items():
            self.say(f"unknown key {shown(key)}{guess}")
        for key in required:
            # A misspelt key is one mistake, not an unknown and a missing key.
            if key not in table and f"; did you mean {shown(key)}?" not in unknown.values():
                self.say(f"the key {shown(key)} is missing")
        return {key: self._at(self._under(key), table[key]) for key in known if key in table}

    def entries(self) -> dict[str, "Value"]:
        """Every key of a table whose keys are free."""
        if isinstance(self.seen, dict):
            return {key: self._at(self._under(key), item) for key, item in self.seen.items()}
        self.refuse("a table")
        return {}

    def items(self, *, least: int = 0) -> list["Value"]:
        """The items of a list of at least so many."""
        if not isinstance(self.seen, list):
            self.refuse("a list")
            return []
        if len(self.seen) < least:
            self.refuse(f"a list of at least {least}")
        return [self._at(f"{self.place}[{at}]", item) for at, item in enumerate(self.seen)]

    def text(self) -> str:
        """One line of text that is not blank."""
        if isinstance(self.seen, str) and self.seen.strip() and self.seen.isprintable():
            return self.seen
        self.refuse("one line of text")
        return ""

    def matching(self, pattern: str, expected: str) -> str:
        """Text of a certain form."""
        if isinstance(self.seen, str) and re.fullmatch(pattern, self.seen):
            return self.seen
        self.refuse(expected)
        return ""

    def name(self) -> str:
        """A name that Python code can define."""
        if (
            isinstance(self.seen, str)
            and self.seen.isascii()
            and self.seen.isidentifier()
            and not keyword.iskeyword(self.seen)
        ):
            return self.seen
        self.refuse("a Python name of ASCII letters, digits and _")
        return ""

    def choice(self, options: Collection[str]) -> str:
        """One of the words, or the first of them when it is none."""
        if isinstance(self.seen, str) and self.seen in options:
            return self.seen
        words = [shown(option) for option in options]
        self.refuse(f"{', '.join(words[:-1])} or {words[-1]}")
        return next(iter(options))

    def boolean(self) -> bool:
        if isinstance(self.seen, bool):
            return self.seen
        self.refuse("true or false")
        return False

    def integer(self, *, least: int, most: int) -> int:
        # bool is an int in Python; `points = true` must not become 1.
        if type(self.seen) is int and least <= self.seen <= most:
            return self.seen
        self.refuse(f"an integer from {least} to {most}")
        return least

    def number(self) -> int | float:
        if isinstance(self.seen, int | float) and not isinstance(self.seen, bool):
            return self.seen
        self.refuse("a number")
        return 0

    def seconds(self, *, most: float) -> float:
        number = self.seen
        if isinstance(number, int | float) and not isinstance(number, bool) and 0 < number <= most:
            return float(number)
        self.refuse(f"seconds, more than 0 and at most {most:g}")
        return most

    def _at(self, place: str, seen: object) -> "Value":
        return Value(file=self.file, place=place, seen=seen, problems=self.problems)

    def _under(self, key: str) -> str:
        return f"{self.place}.{key}" if self.place else key

    def say(self, sentence: str) -> None:
        """Note a problem of this place in other words than `expected …, got …`."""
        place = f", {self.place}" if self.place else ""
        self.problems.append(f"{self.file}{place}: {sentence}")


def read_toml(path: Path, problems: list[str]) -> Value | None:
    """The whole file as one value; None (and a problem) when it is not TOML in UTF-8."""
    file = f"{path.parent.name}/{path.name}"
    try:
        seen = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        problems.append(f"{file}: the file is missing")
    except OSError as error:
        problems.append(f"{file}: cannot be read: {error.strerror or error}")
    except UnicodeDecodeError as error:
        problems.append(
            f"{file}: expected UTF-8, got byte {error.object[error.start]:#04x}"
            f" at offset {error.start}"
        )
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        problems.append(f"{file}: expected TOML: {error}")
    else:
        return Value(file=file, place="", seen=seen, problems=problems)
    return None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean "x"?`, or the known words, or nothing when there are none."""
    words = list(known)
    if close := closest(word, words):
        return f"; did you mean {shown(close)}?"
    return f"; known are {', '.join(words)}" if words else ""


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word that this one may have been meant to be."""
    # Costs 5 ms and is needed only for mistakes.
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, list(known), n=1)), None)


def shown(value: object) -> str:
    """The value as messages show it: one line, quoted, cut at 60 characters."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    if len(text) > _SHOWN_CHARACTERS:
        return text[: _SHOWN_CHARACTERS - 1] + "…"
    return text
