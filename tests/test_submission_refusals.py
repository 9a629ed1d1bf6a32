"""What a file is told that Python refuses: the true reason, its line, and the next step."""

import json
import sys

import pytest
from builders import an_opened_file

from grader.model import Reading
from grader.reading.newer import newer_name, newer_syntax
from grader.submission import understand

NAMES = ("apply_rope", "sinusoid_value")
ROPE = "def apply_rope(x):\n    return x + 1\n"


def script(text: str) -> Reading:
    content = text.encode("utf-8")
    return understand(an_opened_file(content), names=NAMES)


def notebook(*cells: str) -> Reading:
    book = {"cells": [{"cell_type": "code", "source": cell} for cell in cells]}
    content = json.dumps(book).encode()
    opened = an_opened_file(content, file="a.ipynb")
    return understand(opened, names=NAMES)


FULLWIDTH = [
    ("def apply_rope（x）:\n    return x\n", 1, "（ ）", "( )"),
    ("def apply_rope(x)：\n    return x\n", 1, "：", ":"),
    ("import torch\ny = f(1，2)\n", 2, "，", ","),
    ("x = 1；y = 2\n", 1, "；", ";"),
    ("x = [1、2]\n", 1, "、", ","),
    ("x = 【1】\n", 1, "【 】", "[ ]"),
    ("x = a ＋ b\n", 1, "＋", "+"),
    ("x = １\n", 1, "１", "1"),
    ("x = “你好”\n", 1, "“ ”", '"'),
    ("x = a。shape\n", 1, "。", "."),
    ('print("（，")；x = 1\n', 1, "；", ";"),
    ("x = '你好’\n", 1, "’", "'"),
]


@pytest.mark.parametrize(("text", "line", "signs", "plain"), FULLWIDTH)
def test_full_width_signs_are_named_with_what_to_type(
    text: str, line: int, signs: str, plain: str
) -> None:
    for problem in (script(text).problems[0], notebook(text).problems[0]):
        assert (problem.kind, problem.place.line) == ("syntax_error", line)
        assert problem.message.code == "reading.refused_fullwidth"
        assert f"stands in the code: {signs}. " in problem.message.en
        assert f"改成半角的 {plain}；" in problem.message.zh


@pytest.mark.parametrize(
    ("text", "signs"),
    [
        ("x = “hello”\n", "“ ”"),
        ("x = ‘hello’\n", "‘ ’"),
        ("x = a – b\n", "–"),
        ("x = a × b\n", "×"),
        ("if a ≤ b: pass\n", "≤"),
        ("x = a²\n", "²"),
        ("print('done”)\n", "”"),
    ],
)
def test_signs_from_documents_are_named(text: str, signs: str) -> None:
    problem = script(text).problems[0]

    assert problem.message.code == "reading.refused_typographic"
    assert f"web page: {signs}. " in problem.message.en


@pytest.mark.parametrize("char", ["\u00a0", "\u200b", "\x1a", "\x07", "\u3000", "\ufeff", "\u200e"])
def test_an_invisible_character_is_named_by_its_number(char: str) -> None:
    problem = script(f"x = 1\ndef apply_rope(x):\n{char}   return x\n").problems[0]

    assert (problem.message.code, problem.place.line) == ("reading.refused_invisible", 3)
    assert f"U+{ord(char):04X}" in problem.message.en


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("```python\n" + ROPE + "```\n", "fence"),
        ("import torch\n```\n" + ROPE, "fence"),
        (">>> import torch\n>>> x = 1\n", "prompt"),
        ("In [3]: import torch\n", "prompt"),
        ("import torch\nOut[3]:\ntensor(1)\n", "prompt"),
        ("print 'done'\n", "python2"),
        ("print x\n", "python2"),
        ("try:\n    pass\nexcept ValueError, error:\n    pass\n", "python2"),
        ("if x:\n\ty = 1\n        z = 2\n", "tabs"),
        ("def f():\n    x = 1\n      y = 2\n", "indentation"),
        ("def f():\n        x = 1\n    return x\n", "indentation"),
        ("  x = 1\n", "indentation"),
        ("def apply_rope(x):\n    # your code here\n\ny = 1\n", "empty_block"),
    ],
)
def test_what_was_pasted_or_left_out_is_told(text: str, code: str) -> None:
    problem = script(text).problems[0]

    assert f"reading.refused_{code}" == problem.message.code
    assert problem.place.quote == problem.message.args["source"]


@pytest.mark.parametrize(
    "text", ["x = (1\n", "def f(:\n", "x = 'abc\n", "x = = 1\n", "type = = 1\n"]
)
def test_a_plain_slip_keeps_pythons_own_words(text: str) -> None:
    assert script(text).problems[0].message.code == "reading.syntax_error"


def test_a_cell_with_an_unfinished_merge_is_told_so() -> None:
    reading = notebook("x = 1\n<<<<<<< HEAD\ny = 1\n=======\ny = 2\n>>>>>>> b", ROPE)

    assert reading.problems[0].message.code == "reading.refused_conflict"
    assert (reading.problems[0].place.line, "apply_rope" in reading.definitions) == (2, True)


def test_a_fence_around_a_cell_is_told_at_the_line_that_python_refuses() -> None:
    assert notebook("```python\n" + ROPE + "```").problems[0].message.code == (
        "reading.refused_fence"
    )


# --- newer than the grader -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "needed"),
    [
        ("type Vector = list[float]", (3, 12)),
        ("type Pair[T] = tuple[T, T]", (3, 12)),
        ("def first[T](items: list[T]) -> T:", (3, 12)),
        ("    async def first[*Ts](items):", (3, 12)),
        ("class Box[T](Base):", (3, 12)),
        ("class Box[T: (int, str)]:", (3, 12)),
        ('print(f"{d["key"]}")', (3, 12)),
        ("x = f'{'-'.join(names)}'", (3, 12)),
        ("class Box[T = int]:", (3, 13)),
        ("type Pair[T = int] = tuple[T, T]", (3, 13)),
        ("except ValueError, TypeError:", (3, 14)),
        ('x = t"{name}"', (3, 14)),
    ],
)
def test_newer_syntax_is_known_with_its_version(line: str, needed: tuple[int, int]) -> None:
    assert needed == newer_syntax(line, than=(3, 11))
    assert newer_syntax(line, than=needed) is None


@pytest.mark.parametrize(
    "line",
    [
        "type(x) = 3",
        "type = = 1",
        "type x == 1",
        "def f(x)[0]:",
        "x = f'{a}' 'b'",
        'f"{x}" + "{"',
        "except ValueError, error:",
        "print t",
        "cat 'a'",
        'root"a"',
        "items[T] = 1",
    ],
)
def test_a_slip_is_never_called_newer(line: str) -> None:
    assert newer_syntax(line, than=(3, 11)) is None


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python knows it")
def test_a_file_in_newer_syntax_is_told_both_versions() -> None:
    here = f"{sys.version_info[0]}.{sys.version_info[1]}"

    for text in ("type V = list[float]\n" + ROPE, "def f[T](x: T) -> T:\n    return x\n"):
        assert (
            f"This is Python 3.12 syntax; graded with Python {here}."
            in script(text).problems[0].message.en
        )


@pytest.mark.parametrize(
    ("module", "name", "since"),
    [
        ("typing", "override", (3, 12)),
        ("typing", "TypeIs", (3, 13)),
        ("itertools", "batched", (3, 12)),
        ("warnings", "deprecated", (3, 13)),
        ("copy", "replace", (3, 13)),
        ("tomllib", "", (3, 11)),
        ("datetime", "UTC", (3, 11)),
        ("string", "templatelib", (3, 14)),
        ("compression.zstd", "", (3, 14)),
        ("typing", "overide", None),
        ("torch", "override", None),
        ("math", "pi", None),
    ],
)
def test_newer_names_of_the_standard_library_are_known(
    module: str, name: str, since: tuple[int, int] | None
) -> None:
    assert since == newer_name(module, name)


def test_every_name_that_is_called_newer_is_missing_or_new_enough_here() -> None:
    import importlib

    from grader.reading import newer

    for module, names in newer._NAMES.items():
        held = importlib.import_module(module)
        for name, since in names.items():
            assert hasattr(held, name) == (since <= sys.version_info[:2]), f"{module}.{name}"


# --- ^ for a power -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        "return math.sin(pos / base^(2 * i / d))",
        "return pos * 10000.0 ^ i",
        "power = 2 * i / d\n    return pos / 10000 ^ power",
        "base = 10000.0\n    base ^= i\n    return base",
        "return turn(pos, i)\n\ndef turn(pos, i):\n    return 2 ^ (i / 2)",
        "return math.sqrt(pos) ^ 2",
    ],
)
def test_a_caret_between_numbers_that_are_not_whole_is_told_once(body: str) -> None:
    text = f"import math\ndef sinusoid_value(pos, i, d, base=10000.0):\n    {body}\n"

    for reading in (script(text + text.replace("_value", "_period")), notebook(text)):
        found = [each for each in reading.problems if each.kind == "caret"]
        assert len(found) == 1
        assert "^" in found[0].place.quote
        assert "Write ** instead" in found[0].message.en


@pytest.mark.parametrize(
    "text",
    [
        "def apply_rope(x, mask):\n    return x * (mask ^ 1)\n",
        "def apply_rope(x, mask):\n    return (x > 0.5) ^ (mask > 0.5)\n",
        "def other(a):\n    return 2.0 ^ a\n" + ROPE,
        "def apply_rope(x):\n    return x if x ^ x // 2 else 1.0\n",
    ],
)
def test_bits_may_be_compared(text: str) -> None:
    assert [each.kind for each in script(text).problems] == []
