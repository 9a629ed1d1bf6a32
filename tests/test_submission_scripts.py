"""Scripts: encodings, line ends, units, definitions, and files that are something else."""

import ast
import json
import warnings
from pathlib import Path

import pytest
from builders import an_opened_file
from hypothesis import example, given, settings
from hypothesis import strategies as st

from grader.model import Kind, Place, Reading, Unit
from grader.submission import code_at, locate, read, understand

ROPE = "def apply_rope(x):\n    return x + 1\n"


def reading_of(
    content: bytes | str, *, kind: Kind = "module", names: tuple[str, ...] = ()
) -> Reading:
    data = content.encode() if isinstance(content, str) else content
    file = "hw4.py" if kind == "module" else "hw4.ipynb"
    opened = an_opened_file(data, file=file, kind=kind)
    return understand(opened, names=names)


def kinds(reading: Reading) -> list[str]:
    return [problem.kind for problem in reading.problems]


def joined(reading: Reading) -> str:
    assert reading.source is not None
    return "".join(piece.text for piece in reading.source.pieces)


# --- bytes to text -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        "作业 = 'é'\n".encode(),
        "作业 = 'é'\n".encode("utf-8-sig"),
        b"\xff\xfe" + "作业 = 'é'\n".encode("utf-16-le"),
        b"\xfe\xff" + "作业 = 'é'\n".encode("utf-16-be"),
        "作业 = 'é'\n".encode("utf-32"),
    ],
)
def test_utf8_and_text_with_a_byte_order_mark_are_read(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "hw.py").write_bytes(content)

    reading = understand(read(tmp_path / "hw.py"))

    assert joined(reading) == "作业 = 'é'\n"
    assert list(reading.definitions) == ["作业"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("before", ["", "#!/usr/bin/env python\n"])
def test_a_cookie_in_the_first_two_lines_names_the_encoding(before: str, end: str) -> None:
    text = f"{before}# -*- coding: gbk -*-\n# 位置编码\nx = '旋转'\n"

    reading = reading_of(text.replace("\n", end).encode("gbk"))

    assert text == joined(reading)


def test_a_cookie_in_a_later_line_means_nothing() -> None:
    reading = reading_of("x = 1\ny = 2\n# coding: gbk\nz = '旋'\n")

    assert "旋" in joined(reading)


@pytest.mark.parametrize("name", ["klingon", "rot13", "hex", "zlib", "punycode", "undefined"])
def test_an_unusable_encoding_is_told_and_the_text_is_read_as_what_it_is(name: str) -> None:
    reading = reading_of(f"# coding: {name}\nx = '旋'\n")

    assert list(reading.definitions) == ["x"]
    assert kinds(reading) == ["encoding_assumed"]
    assert reading.problems[0].message.en == (
        f'The file begins by naming the encoding "{name}", but that does not fit. It was read as '
        "UTF-8, and no points depend on that. Save it as UTF-8 and delete that line."
    )


@pytest.mark.parametrize(
    ("comment", "encoding"),
    [
        ("作业二：屏蔽填充", "GB18030"),
        ("李", "GB18030"),
        ("計算位置編碼，傳回結果", "BIG5"),
        ("これは宿題です", "SHIFT_JIS"),
        ("位置エンコーディング", "EUC_JP"),
        ("résumé – “ça”", "CP1252"),
        ("größe", "CP1252"),
        ("вычислить позицию", "CP1251"),
    ],
)
@pytest.mark.parametrize("kind", ["module", "notebook"])
def test_an_undeclared_encoding_is_found_by_what_reads_like_writing(
    comment: str, encoding: str, kind: Kind
) -> None:
    text = f"# {comment}\ndef apply_rope(x):\n    return x\n"
    cells = {"cells": [{"cell_type": "code", "source": text}]}
    whole = text if kind == "module" else json.dumps(cells, ensure_ascii=False)

    reading = reading_of(whole.encode(encoding), kind=kind)

    assert text == joined(reading)
    assert kinds(reading) == ["encoding_assumed"]
    assert f"It was read as {encoding}," in reading.problems[0].message.en
    assert f"按 {encoding} 读取" in reading.problems[0].message.zh


@pytest.mark.parametrize("declared", ["utf-8", "ascii", "klingon"])
def test_a_declaration_that_does_not_fit_is_told(declared: str) -> None:
    reading = reading_of(f"# -*- coding: {declared} -*-\n# 旋转，填充位置\nx = 1\n".encode("gbk"))

    assert "旋转，填充位置" in joined(reading)
    assert f'naming the encoding "{declared}"' in reading.problems[0].message.en
    assert "read as GB18030" in reading.problems[0].message.en


def test_bytes_that_fit_no_encoding_are_placed_at_their_line() -> None:
    reading = reading_of(b"x = 1\r\ny = '\x81\x8d\x90\x9d\xff'\r\n")

    assert reading.unreadable
    assert (kinds(reading), reading.problems[0].place.line) == (["encoding"], 2)
    assert "line 2" in reading.problems[0].message.en


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_its_mark_is_read(encoding: str) -> None:
    reading = reading_of("x = 1\ny = '旋'\n".encode(encoding))

    assert joined(reading) == "x = 1\ny = '旋'\n"
    assert kinds(reading) == ["encoding_assumed"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_are_normalised_and_other_separators_shift_nothing(end: str) -> None:
    text = "x = 'a\u2028b\u0085c'\n\f\ny = '''\v\n\x1c'''\ndef f():\n    return 1\n"

    reading = reading_of(text.replace("\n", end))

    assert text == joined(reading)
    assert reading.definitions["f"].place.line == 5
    assert reading.definitions["f"].place.quote == "def f():"


# --- files that are something else -------------------------------------------------------

DAMAGED = json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


@pytest.mark.parametrize(
    ("content", "kind", "code"),
    [
        (b"", "empty", "empty"),
        (b" \r\n\t\n", "empty", "empty"),
        (b"\xef\xbb\xbf", "empty", "empty"),
        (b"\xff\xfe", "empty", "empty"),
        (b"%PDF-1.7\n...", "not_python", "is_pdf"),
        (b"PK\x03\x04\x14\x00", "not_python", "is_archive"),
        (b"PK\x03\x04\x14\x00[Content_Types].xml", "not_python", "is_document"),
        (b"\x1f\x8b\x08\x00", "not_python", "is_archive"),
        (b"\x89PNG\r\n\x1a\n\x00", "not_python", "is_image"),
        (b"{\\rtf1 ...}", "not_python", "is_document"),
        (b"\xa7\r\r\n\x00\x00\x00\x00\x10", "not_python", "is_binary"),
        (b"\x80\x02}q\x01(X\x05", "not_python", "is_binary"),
        (b"\n<!-- saved -->\n<!DOCTYPE html><html></html>", "not_python", "is_html"),
        (b"\xef\xbb\xbf<html lang='en'>", "not_python", "is_html"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "not_python", "is_lfs"),
        (DAMAGED.encode(), "not_python", "is_notebook"),
        (b'{"cells": [null], "nbformat": 4, ', "not_python", "is_notebook"),
        (b"a;" * 300_000, "too_large", "too_much_code"),
    ],
)
def test_a_file_that_is_no_script_is_unreadable_and_named(
    content: bytes, kind: str, code: str
) -> None:
    reading = reading_of(content)

    assert reading.unreadable
    assert reading.source is None
    assert [kind] == kinds(reading)
    assert f"reading.{code}" == reading.problems[0].message.code


def test_an_unfinished_merge_is_unreadable_at_its_first_mark() -> None:
    text = "x = 1\n<<<<<<< HEAD\ny = 1\n=======\ny = 2\n>>>>>>> other\n"

    reading = reading_of(text)

    assert reading.unreadable
    assert (kinds(reading), reading.problems[0].place.line) == (["merge_conflict"], 2)


def test_merge_marks_inside_a_docstring_are_harmless() -> None:
    reading = reading_of('"""\n<<<<<<< a\n=======\n>>>>>>> b\n"""\nx = 1\n')

    assert (reading.unreadable, kinds(reading)) == (False, [])


def test_a_long_string_of_pasted_data_is_no_obstacle() -> None:
    reading = reading_of("data = '" + "A" * 3_000_000 + "'\n" + ROPE)

    assert {"data", "apply_rope"} == set(reading.definitions)


# --- code that Python refuses ------------------------------------------------------------


def test_a_syntax_error_is_graded_with_its_line_and_message() -> None:
    reading = reading_of("import torch\n\n" + ROPE + "x = (1\n")
    problem = reading.problems[0]

    assert not reading.unreadable
    assert reading.source is None
    assert reading.definitions == {}
    assert reading.unread == ("apply_rope", "x")
    assert (problem.kind, problem.place.line, problem.place.quote) == ("syntax_error", 5, "x = (1")
    assert problem.message.en.startswith("x = (1\nSyntaxError: '(' was never closed\nPython could")
    assert "Python 从这里起读不懂脚本" in problem.message.zh


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("(" * 5000, "syntax_error"),
        ("-" * 100_000 + "1", "too_complex"),
        ("1+" * 50_000 + "1", "too_complex"),
        ("a" + "()" * 50_000, "too_complex"),
        ("lambda: " * 3000 + "1", "too_complex"),
        ("x = " + "1" * 5000, "syntax_error"),
        ("if x:\npass\n", "refused_empty_block"),
        ("if x:\n\tpass\n        pass\n", "refused_tabs"),
        ("return 1\n", "syntax_error"),
        ("def f():\n    nonlocal x\n", "syntax_error"),
        ("from __future__ import braces\n", "syntax_error"),
        ("await f()\n", "await_script"),
        ("import torch\n!pip install torch\n", "magic_in_script"),
        ("%matplotlib inline\n", "magic_in_script"),
    ],
)
def test_whatever_python_refuses_is_a_problem_and_never_a_crash(text: str, code: str) -> None:
    reading = reading_of(text)

    assert not reading.unreadable
    assert kinds(reading) == ["syntax_error"]
    assert f"reading.{code}" == reading.problems[0].message.code
    assert reading.problems[0].place.line is not None


def test_a_long_chain_of_branches_that_python_takes_is_taken() -> None:
    reading = reading_of("if a: pass\n" + "elif a: f = 1\n" * 700)

    assert list(reading.definitions) == ["f"]


def test_a_longer_chain_is_read_or_refused_as_this_python_does() -> None:
    reading = reading_of("if a: pass\n" + "elif a: f = 1\n" * 5000)

    assert list(reading.definitions) == ["f"] or kinds(reading) == ["syntax_error"]


def test_code_that_python_warns_about_is_read_silently() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reading = reading_of("x = '\\d'\nif x is 'a': pass\nassert (1, 'a')\n1if x else 2\n")

    assert kinds(reading) == []


# --- units -------------------------------------------------------------------------------


def unit_lines(text: str) -> list[tuple[int, int]]:
    """First line and number of statements of each unit."""
    source = reading_of(text).source
    assert source is not None
    return [(unit.line, (unit.stop or 0) - unit.first) for unit in source.units]


def test_each_active_statement_is_a_unit_of_its_own() -> None:
    text = (
        '"""Week 4."""\n'
        "import torch\n"
        "D = 6\n"
        "@torch.no_grad()\n"
        "def f(x):\n"
        "    return x\n"
        "# train for ever\n"
        "while True:\n"
        "    pass\n"
        "\n"
        "@torch.no_grad()\n"
        "def g(x):\n"
        "    return x\n"
    )

    assert unit_lines(text) == [(1, 4), (8, 1), (11, 1)]


def test_statements_that_share_a_line_are_units_of_their_own() -> None:
    assert unit_lines("x = 1; print(x); y = 2\n") == [(1, 1), (1, 1), (1, 1)]


def test_what_a_single_statement_would_bind_is_noted() -> None:
    source = reading_of("def f(): ...\ndata, rest = load()\nfor i in data: total = i\n").source

    assert source is not None
    assert [unit.names for unit in source.units] == [("f",), ("data", "rest"), ("i", "total")]


def test_a_library_that_may_take_long_is_imported_by_a_unit_of_its_own() -> None:
    text = "import torch, math\nimport seaborn as sns\nfrom torch import nn\nimport numpy as np\n"

    assert unit_lines(text) == [(1, 1), (2, 1), (3, 2)]


def test_a_thousand_calls_are_one_unit() -> None:
    source = reading_of("print(1)\n" * 1000).source

    assert source is not None
    assert source.units == (Unit(piece=0),)


STATEMENTS = st.sampled_from(
    [
        "import os\n",
        "x = 1\n",
        "print('a')\n",
        "# remark\n",
        "\n",
        "\f\n",
        "@staticmethod\n@property\ndef f():\n\n    return '''\n'''\n",
        "class C:\n    x = 1\n",
        "for i in (1,\n 2): pass\n",
        "a = b = (\n 1 +\n 2)\n",
        "x = 1; print(2)\n",
        "print(1); \\\nx = 2\n",
        "'a\u2028b'\n",
        "async def g(): await g()\n",
        "try:\n  h()\nexcept* E: pass\n",
    ]
)


@given(st.lists(STATEMENTS, min_size=1))
def test_units_cover_every_statement_once_in_order(parts: list[str]) -> None:
    text = "".join(parts)
    reading = reading_of(text)
    if reading.unreadable:
        assert not text.strip()
        return
    assert reading.source is not None
    body = ast.parse(text).body
    covered = [
        index
        for unit in reading.source.units
        for index in range(unit.first, unit.stop or len(body))
    ]

    assert covered == list(range(len(body)))
    assert text == joined(reading)


@settings(deadline=None)  # the first magic imports jupytext
@given(st.binary() | st.text().map(str.encode), st.sampled_from(["module", "notebook"]))
@example(b"\xff\xfe\x00", "module")
@example(b"# coding: utf-7\n+AAA-", "module")
@example(b"# coding: utf-16\nx", "module")
@example(b"# torchgrade: hw1\n\x00", "module")
@example("x = '\ufeff'".encode(), "module")
@example(b'{"cells": [{"cell_type": "code", "source": "\\ud800"}]}', "notebook")
def test_any_bytes_give_a_reading_that_can_be_reported(content: bytes, kind: Kind) -> None:
    reading = reading_of(content, kind=kind)

    assert reading.source is not None or reading.problems
    for problem in reading.problems:
        json.dumps(problem.message.en + problem.message.zh).encode()
        (problem.message.en + problem.message.zh + (problem.place.quote or "")).encode()
    for piece in reading.source.pieces if reading.source else ():
        compile(piece.text.encode(), "piece", "exec")


# --- definitions -------------------------------------------------------------------------


def test_every_way_to_bind_a_name_at_top_level_defines_it() -> None:
    text = (
        "import torch.nn as nn, os.path\n"
        "from helper import apply_rope, other as renamed\n"
        "from everything import *\n"
        "def f(): inner = 1\n"
        "async def g(): pass\n"
        "class C:\n    attribute = 1\n"
        "h = lambda x: x\n"
        "a = b = 1\n"
        "c, (d, *e) = 1, (2, 3)\n"
        "typed: int = 3\n"
        "only_typed: int\n"
        "a.attribute = a[0] = 1\n"
        "(walrus := 1)\n"
        "if a:\n    in_if = 1\nelse:\n    in_else = 1\n"
        "try:\n    in_try = 1\nexcept E as error:\n    in_except = 1\nfinally:\n    in_end = 1\n"
        "with open(a) as file:\n    in_with = 1\n"
        "for i in a:\n    in_for = 1\n"
        "while a:\n    in_while = 1\n"
        "match a:\n    case 1:\n        in_match = 1\n"
        "gone = 1\ndel gone\n"
        "if __name__ == '__main__':\n    in_main = 1\n"
    )
    found = reading_of(text).definitions

    functions = {"f", "g", "h"}
    imports = {"nn", "os", "apply_rope", "renamed"}
    nested = {"in_if", "in_else", "in_try", "in_except", "in_end", "in_with", "in_for", "in_while"}
    variables = {"a", "b", "c", "d", "e", "typed", "walrus", "file", "i", "in_match"} | nested
    expected = {
        **dict.fromkeys(functions, "function"),
        **dict.fromkeys(imports, "import"),
        **dict.fromkeys(variables, "variable"),
        "C": "class",
    }
    assert expected == {name: each.kind for name, each in found.items()}


def test_the_last_definition_wins_and_both_places_are_told() -> None:
    text = "def f():\n    return 1\n\n\ndef f():\n    return 2\nx = 1\nx = 2\n"

    reading = reading_of(text, names=("f",))

    assert reading.definitions["f"].place.line == 5
    assert [place.line for place in reading.definitions["f"].earlier] == [1]
    assert kinds(reading) == ["defined_twice"]
    assert reading.problems[0].message.en == (
        "f is defined more than once: at line 1 and again at line 5. "
        "Python keeps the last one, so line 5 was graded."
    )


def test_a_function_that_is_dressed_up_is_not_defined_twice() -> None:
    reading = reading_of(ROPE + "apply_rope = no_grad()(apply_rope)\n", names=("apply_rope",))

    assert kinds(reading) == []
    assert reading.definitions["apply_rope"].kind == "function"


def test_the_marker_counts_in_the_first_ten_lines() -> None:
    assert reading_of("#!python\n#  torchgrade:hw4\nx = 1\n").marker == "hw4"
    assert reading_of("\n" * 9 + "# TorchGrade: hw4 (mine)\n").marker == "hw4"
    assert None is reading_of("\n" * 10 + "# torchgrade: hw4\n").marker
    assert None is reading_of("x = '# torchgrade: hw4'\n").marker
    assert reading_of("# torchgrade: hw4\nx = (\n").marker == "hw4"
    assert reading_of(b"# torchgrade: hw4\n\xff").marker == "hw4"


def test_a_line_that_raised_later_can_be_placed() -> None:
    reading = reading_of("x = 1\n    # deep\ny = x / 0\n")

    place = locate(reading, line=3)

    assert (place.line, place.quote) == (3, "y = x / 0")


def test_a_place_that_does_not_exist_has_no_quote_and_no_code() -> None:
    reading = reading_of("x = 1\n")

    assert locate(reading, line=None) == Place()
    assert locate(reading, line=9) == Place(line=9)
    assert locate(reading, line=1, cell=3) == Place(line=1, cell=3)
    assert code_at(reading, Place()) == code_at(reading, Place(line=1, cell=3)) == ""
