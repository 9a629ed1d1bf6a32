"""No text of a student's makes a regular expression, or what is around it, take time that explodes.

Every compiled pattern of the package is found by itself, so that a new one is tried, too. Each test
has a timeout of its own, in processor time: a machine that is busy makes none of them fail.
"""

import ast
import importlib
import json
import pkgutil
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import adversarial
import pytest
from adversarial import Recipe
from builders import an_opened_file

import grader
from grader.assignment import find_all
from grader.bulk import facts, moments
from grader.model import Piece, Problem, Source
from grader.reading import decoding
from grader.reading.parsing import Unparsable, parse
from grader.submission import understand

pytestmark = pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="needs a timer for processor time"
)

# Read course files, options and their own notes only, or run on Linux only.
_APART: Final = ("grader.verifying", "grader.scaffold", "grader.sandbox.linux", "grader.__main__")
_SEARCHING: Final = frozenset({"search", "sub", "subn", "split", "findall", "finditer"})
_METHODS: Final = frozenset({*_SEARCHING, "match", "fullmatch"})
_SHORT, _LONG = 3_000, 120_000
# Enough for the slowest machine: what is linear takes milliseconds.
_MOST_S: Final = 3.0
# Made from what the course names (an entry point, an id) or a module that Python itself named: a
# word between word boundaries, or words with any marks between them.
_MADE: Final = {
    ("grader.reading.attribution", "search"): 2,
    ("grader.bulk.labels", "compile"): 1,
    ("grader.suite.causes", "search"): 1,
    ("grader.suite.causes", "findall"): 1,
    ("grader.suite.causes", "match"): 1,
    ("grader.suite.raising", "search"): 1,
    # A pattern of the staff's own.
    ("grader.cli.batch", "compile"): 1,
    ("grader.strict", "fullmatch"): 1,
}


KNOWN: Final = [facts.Known.of(each) for each in find_all(None, {})]


class TookTooLongError(Exception):
    """What ran is not linear."""


@contextmanager
def at_most(seconds: float, what: str) -> Iterator[None]:
    """Stop what takes more of the processor's time than this."""

    def stop(*_: object) -> None:
        raise TookTooLongError(what)

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def modules() -> list[str]:
    found = (each.name for each in pkgutil.walk_packages(grader.__path__, "grader."))
    return [name for name in found if not name.startswith(_APART)]


def tree_of(module: ModuleType) -> ast.Module:
    assert module.__file__ is not None
    return ast.parse(Path(module.__file__).read_text("utf-8"))


def calls(tree: ast.Module) -> Iterator[tuple[str, str, ast.Call]]:
    """Every call `NAME.method(...)`."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
        ):
            yield node.func.value.id, node.func.attr, node


def uses(tree: ast.Module) -> dict[str, set[str]]:
    """How each pattern is applied, by its name; under the empty name those without one."""
    found: dict[str, set[str]] = {"": set()}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in _METHODS:
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            name = owner if owner.isupper() else ""
            if owner != "re":
                found.setdefault(name, set()).add(applied(node.attr))
    return found


def applied(method: str) -> str:
    return "search" if method in _SEARCHING else method


def patterns(name: str) -> list[tuple["re.Pattern[Any]", set[str]]]:
    """Every pattern of a module, and how it is applied there."""
    module = importlib.import_module(name)
    tree = tree_of(module)
    how = uses(tree)
    found = [
        (each, how.get(key) or how[""] or {"search"})
        for key, value in vars(module).items()
        for each in within(value)
    ]
    for owner, method, call in calls(tree):
        if owner == "re" and method in _METHODS and isinstance(call.args[0], ast.Constant):
            found.append((re.compile(call.args[0].value, re.I), {applied(method)}))
    return found


def within(value: object, depth: int = 0) -> Iterator["re.Pattern[Any]"]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, tuple | list | set | frozenset) and depth < 4:
        for each in value:
            yield from within(each, depth + 1)
    elif isinstance(value, dict) and depth < 4:
        for each in (*value, *value.values()):
            yield from within(each, depth + 1)


def slowest(pattern: "re.Pattern[Any]", methods: set[str]) -> list[tuple[float, str, Recipe]]:
    """The three short texts that take longest: seconds, method, and how to make longer ones."""
    taken = []
    for recipe in adversarial.recipes(pattern):
        text = adversarial.grown(recipe, _SHORT)
        for method in sorted(methods):
            before = time.process_time()
            apply(pattern, method, text)
            taken.append((time.process_time() - before, method, recipe))
    return sorted(taken, reverse=True)[:3]


def apply(pattern: "re.Pattern[Any]", method: str, text: str) -> None:
    held = text.encode() if isinstance(pattern.pattern, bytes) else text
    with at_most(_MOST_S, f"{pattern.pattern!r}.{method}({text[:60]!r}...)"):
        getattr(pattern, method)(held)


@pytest.mark.parametrize("name", modules())
def test_no_pattern_takes_more_than_linear_time(name: str) -> None:
    for pattern, methods in patterns(name):
        for _, method, recipe in slowest(pattern, methods):
            apply(pattern, method, adversarial.grown(recipe, _LONG))


def test_no_pattern_is_made_from_a_students_text() -> None:
    made: dict[tuple[str, str], int] = {}
    for name in modules():
        for owner, method, call in calls(tree_of(importlib.import_module(name))):
            if owner != "re" or method not in {*_METHODS, "compile"}:
                continue
            if method == "compile" and call.args and is_of_the_module(call.args[0]):
                continue
            if not isinstance(call.args[0], ast.Constant):
                made[name, method] = made.get((name, method), 0) + 1

    assert made == _MADE


def is_of_the_module(part: ast.expr) -> bool:
    """Whether a pattern is put together from constants of its module only."""
    names = {node.id for node in ast.walk(part) if isinstance(node, ast.Name)}
    return all(each.strip("_").isupper() or each in _KNOWN for each in names)


_KNOWN: Final = {"sorted", "re", "words", "code"}


@pytest.mark.parametrize(
    "pattern",
    [r"(a+)+b", r"^\s*x", r"<!--.*?-->(x|<!--.*?-->)*y", r"[a-z]+(?:-[a-z-]+)*", r"\w+\s*=\s*\{"],
)
def test_the_texts_find_a_pattern_that_is_not_linear(pattern: str) -> None:
    bad = re.compile(pattern, re.S | re.M)
    methods = {"fullmatch"} if pattern.startswith("[") else {"search"}

    with pytest.raises(TookTooLongError):
        for recipe in adversarial.recipes(bad):
            text = adversarial.grown(recipe, _LONG)
            for method in methods:
                with at_most(0.3, "slow"):
                    getattr(bad, method)(text)


@pytest.mark.parametrize(
    "content",
    [
        b"<!-- -->" * 500 + b"<",
        b"<!--" * 1000,
        b"\n \n" * 1300 + b"<!-- a --> <p>",
        b"# coding:" * 450,
        b"#" * 4090 + b"coding",
    ],
)
def test_the_beginning_of_a_file_is_looked_at_in_linear_time(content: bytes) -> None:
    with at_most(_MOST_S, "decode"):
        decoding.decode(content, "module")


def test_a_page_that_begins_with_comments_is_a_page() -> None:
    found = decoding.decode(b" <!-- a -->\n<!-- b --> <!DOCTYPE html>", "module")

    assert isinstance(found, Problem)
    assert found.kind == "not_python"


@pytest.mark.parametrize("zone", ["a-" * 60_000, "a_" * 60_000, "Europe/" * 20_000, "1" * 90_000])
def test_a_moment_with_an_endless_zone_is_no_moment(zone: str) -> None:
    with at_most(_MOST_S, "in_utc"):
        assert moments.in_utc(f"2026-03-01 10:00 {zone}") is None


@pytest.mark.parametrize(
    "text",
    [
        *("0001-01-01T00:00Z", "0999-12-31T23:59:59Z", "9999-12-31T23:59:59-12:00"),
        *("2026-13-01T00:00Z", "9999-13-40 10:00 UTC", "2026-03-01T10:00+99:99"),
    ],
)
def test_a_date_at_which_nobody_handed_in_is_no_moment(text: str) -> None:
    assert moments.in_utc(text) is None


TARGETS = " = ".join(f"t{at}" for at in range(20_000))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"{TARGETS} = [{', '.join(['[]'] * 20_000)}]\n", id="targets of one value"),
        pytest.param(f"({TARGETS.replace(' =', ',')}) = x\n", id="targets in one tuple"),
        pytest.param("x = 1; " * 30_000 + "\n", id="statements in one line"),
    ],
)
def test_what_a_long_line_binds_is_found_in_linear_time(text: str) -> None:
    with at_most(5 * _MOST_S, "reading"):
        reading = understand(an_opened_file(text.encode()), names=["apply_rope"])

    assert reading.source is not None


def test_copies_of_notebooks_are_compared_in_linear_time() -> None:
    reading = understand(an_opened_file(b"x = 1\n"), names=())
    pieces = tuple(Piece(text=f"x = {at}", cell=at) for at in range(45_000))
    many = replace(reading, source=Source(kind="notebook", units=(), pieces=pieces))

    with at_most(5 * _MOST_S, "comparing"):
        assert facts._code(many) is not None


# --- what is around them ---------------------------------------------------------------------


def cells(*texts: str) -> bytes:
    found = [{"cell_type": "code", "source": each, "metadata": {}} for each in texts]
    return json.dumps({"nbformat": 4, "metadata": {}, "cells": found}).encode()


def lines(form: str, count: int) -> bytes:
    return "\n".join(form.format(at) for at in range(count)).encode()


ATTACKS: Final = {
    "targets": " = ".join(f"a{at}" for at in range(9_000)).encode()
    + b" = ["
    + b"b," * 9_000
    + b"]",
    "stars.py": lines("a{0} = 1\nfrom m{0} import *", 9_000),
    "cells.ipynb": cells(*["raise ValueError"] * 12_000),
    "prompts.ipynb": cells(*["\n".join([">>> x = 1"] * 9_000)]),
    "magics.ipynb": cells(*["\n".join(["ls ("] * 9_000)]),
    "broken.ipynb": cells(*["def add_position_vectors(a: pass"] * 9_000),
    "twice.py": lines("def add_position_vectors(a): return {}", 9_000),
    "texts.py": b"x = " + b" + ".join([b"'a' * 4096"] * 2_000),
    "tuples.py": b"x = " + b" + ".join([b"(1,) * 256"] * 2_000),
    "literals.py": b"x = " + b" + ".join([b"'" + b"a" * 3_000 + b"'"] * 2_000),
    "power.py": b"x = 9 ** 9 ** 9 ** 9\ny = 1 << 10 ** 9\nz = 'a' * 10 ** 10",
    "hexadecimal.py": b"x = 0x" + b"f" * 90_000,
    "brackets.py": b"x = " + b"(" * 90_000,
    "long.py": b"x = '" + b"a" * 3_000_000,
    "conflicts.py": b"<<<<<<< a\n" * 90_000,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_a_file_that_is_made_to_take_long_is_understood_in_linear_time(name: str) -> None:
    file = "hw1.ipynb" if name.endswith(".ipynb") else "hw1.py"

    with at_most(5 * _MOST_S, name):
        found = facts.facts(ATTACKS[name], file, "hw1", KNOWN)

    assert found.sha256


def test_sums_of_texts_are_still_refused_where_python_refuses_them() -> None:
    text = "x = " + " + ".join(["'a' * 9"] * 90) + "\nreturn x"

    refused = parse(text)

    assert isinstance(refused, Unparsable)
    assert refused.line == 2
    assert isinstance(parse(text.replace("return x", "y = f(x) % ('a', 1)")), ast.Module)
