"""Files that are large, damaged, or named as what they are not."""

import base64
import json
import tracemalloc
from pathlib import Path

import pytest
from builders import an_opened_file
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.model import Kind, Reading
from grader.reading.script import looks_converted
from grader.reading.slimming import slim
from grader.submission import MAX_FILE_BYTES, read, understand, without_outputs

ROPE = "def apply_rope(x):\n    return x + 1\n"


def reading_of(content: bytes | str, kind: Kind = "notebook", **options: int) -> Reading:
    data = content.encode() if isinstance(content, str) else content
    file = "a.ipynb" if kind == "notebook" else "a.py"
    opened = an_opened_file(data, file=file, kind=kind)
    return understand(opened, names=("apply_rope",), **options)


def kinds(reading: Reading) -> list[str]:
    return [problem.kind for problem in reading.problems]


def book(*cells: dict[str, object], **more: object) -> dict[str, object]:
    return {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **more}


def code(source: object, **more: object) -> dict[str, object]:
    return {"cell_type": "code", "source": source, "metadata": {}, **more}


def plots(mib: int) -> list[dict[str, object]]:
    png = base64.b64encode(bytes(range(256)) * 3072).decode()  # 1 MiB
    return [{"output_type": "display_data", "data": {"image/png": png}} for _ in range(mib)]


# --- size ----------------------------------------------------------------------------------


def test_fifteen_megabytes_of_plots_are_nothing(tmp_path: Path) -> None:
    path = tmp_path / "hw.ipynb"
    cell = code([*ROPE.splitlines(keepends=True)], outputs=plots(15), id="rope")
    path.write_text(json.dumps(book(cell), indent=1), encoding="utf-8")
    opened = read(path)

    tracemalloc.start()
    reading = understand(opened)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert (reading.unreadable, list(reading.definitions)) == (False, ["apply_rope"])
    assert reading.definitions["apply_rope"].place.cell_id == "rope"
    assert most < 4 * 1024 * 1024
    assert reading.submission.sha256 == opened.submission.sha256


def test_the_limit_is_on_the_source() -> None:
    small = json.dumps(book(code(ROPE, outputs=plots(1))))
    large = json.dumps(book(code(ROPE), {"cell_type": "markdown", "source": "a" * 200_000}))

    assert not reading_of(small, max_bytes=100_000).unreadable
    told = reading_of(large, max_bytes=100_000)
    assert (told.unreadable, kinds(told)) == (True, ["too_large"])
    assert told.problems[0].message.code == "reading.too_large"


def test_a_file_beyond_all_plots_is_not_looked_into() -> None:
    reading = reading_of(b" " * (MAX_FILE_BYTES + 1))

    assert (kinds(reading), reading.problems[0].message.code) == (
        ["too_large"],
        "reading.file_too_large",
    )
    assert "larger than 200 MiB" in reading.problems[0].message.en


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["outputs", "attachments", "source", 'a"b', "\\", "]"]), inner
        )
    ),
    max_leaves=12,
)


@given(JSON, st.sampled_from([None, 1]), st.booleans())
@settings(max_examples=200, deadline=None)
def test_slimming_empties_outputs_and_changes_nothing_else(
    value: object, indent: int | None, ascii_only: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode()

    assert _emptied(value) == json.loads(slim(text))


def _emptied(value: object) -> object:
    if isinstance(value, list):
        return [_emptied(each) for each in value]
    if not isinstance(value, dict):
        return value
    held = {key: value for key, value in value.items() if isinstance(value, list | dict)}
    return {
        key: type(each)()
        if key in held and key in ("outputs", "attachments", "widgets")
        else _emptied(each)
        for key, each in value.items()
    }


@pytest.mark.parametrize("text", [b"", b"[", b"]", b'{"outputs": [', b'"', b'"\\', b"plain"])
def test_what_is_not_balanced_is_left_alone(text: bytes) -> None:
    assert text == slim(text)


# --- damage --------------------------------------------------------------------------------

WHOLE = json.dumps(book(code(ROPE)), indent=1)


@pytest.mark.parametrize("cut", range(20, len(WHOLE) - 2, 7))
def test_a_notebook_that_was_cut_off_is_told_what_helps(cut: int) -> None:
    reading = reading_of(WHOLE[:cut])
    problem = reading.problems[0]

    assert (reading.unreadable, kinds(reading)) == (True, ["not_a_notebook"])
    assert problem.message.code == "reading.cut_off_json"
    assert "save it again from there" in problem.message.en
    assert ".ipynb_checkpoints" in problem.message.zh
    assert f"(line {WHOLE[:cut].count(chr(10)) + 1})" in problem.message.en


def test_damage_in_the_middle_is_told_with_its_line() -> None:
    problem = reading_of(WHOLE.replace('"metadata": {},\n', '"metadata": {,\n', 1)).problems[0]

    assert problem.message.code == "reading.broken_json"
    assert problem.kind == "not_a_notebook"


@pytest.mark.parametrize("rest", ["\n}", "garbage", WHOLE[-40:], "\n" + WHOLE])
def test_text_behind_the_end_costs_nothing_and_is_told(rest: str) -> None:
    reading = reading_of(WHOLE + rest)

    assert "apply_rope" in reading.definitions
    assert (kinds(reading), reading.problems[0].place.line) == (
        ["damaged_notebook"],
        WHOLE.count("\n") + 1,
    )


def test_a_merge_that_is_unfinished_in_outputs_alone_costs_nothing() -> None:
    text = json.dumps(book(code(ROPE, outputs=["MINE"])))
    text = text.replace('"MINE"', '\n<<<<<<< HEAD\n"a"\n=======\n"b"\n>>>>>>> other\n')

    reading = reading_of(text)

    assert (kinds(reading), "apply_rope" in reading.definitions) == ([], True)


def test_a_merge_that_is_unfinished_in_the_code_is_told() -> None:
    text = WHOLE.replace(
        '"source"', '\n<<<<<<< HEAD\n"source": "",\n=======\n"source": "x",\n>>>>>>> b\n"source"'
    )

    assert kinds(reading_of(text)) == ["merge_conflict"]


@pytest.mark.parametrize(
    "more",
    [{"cells": None}, {"cells": {}}, {"cells": "x"}],
)
def test_a_notebook_without_a_list_of_cells_is_told_so(more: dict[str, object]) -> None:
    reading = reading_of(json.dumps(book(**more)))

    assert reading.unreadable
    assert reading.problems[0].message.code == "reading.is_other_json"


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + WHOLE.encode(),
        WHOLE.encode("utf-16"),
        json.dumps({"cells": [{"cell_type": "code", "source": ROPE}]}).encode(),
        json.dumps({"cells": [{"source": ROPE, "outputs": []}, 3, None]}).encode(),
        json.dumps({"worksheets": [{"cells": [{"cell_type": "code", "input": ROPE}]}]}).encode(),
        json.dumps(book(code(ROPE.split("\n")))).encode(),
    ],
)
def test_an_odd_notebook_is_read(content: bytes) -> None:
    assert "apply_rope" in reading_of(content).definitions


@pytest.mark.parametrize("kind", ["module", "notebook"])
def test_zeros_behind_the_end_cost_nothing(kind: Kind) -> None:
    content = (ROPE if kind == "module" else WHOLE).encode() + bytes(700)

    assert "apply_rope" in reading_of(content, kind).definitions


# --- the wrong ending ----------------------------------------------------------------------


def test_a_notebook_saved_as_a_script_is_read_as_what_it_is() -> None:
    reading = reading_of(WHOLE, "module")

    assert (reading.submission.kind, kinds(reading)) == ("notebook", ["wrong_ending"])
    assert reading.definitions["apply_rope"].place.cell == 1
    assert "Rename it so that it ends in .ipynb" in reading.problems[0].message.en


@pytest.mark.parametrize("text", [ROPE, "import torch\n" + ROPE, "# %%\nfrom a import b\n# %%\n"])
def test_a_script_saved_as_a_notebook_is_read_as_what_it_is(text: str) -> None:
    reading = reading_of(text)

    assert (reading.submission.kind, kinds(reading)) == ("module", ["wrong_ending"])
    assert reading.source is not None
    assert "扩展名改成 .py" in reading.problems[0].message.zh


@pytest.mark.parametrize("text", ["404", "Not Found", "hello", "x", "null", '"text"', "a, b, c"])
def test_a_word_is_no_script(text: str) -> None:
    reading = reading_of(text)

    assert (reading.unreadable, kinds(reading)) == (True, ["not_a_notebook"])


def test_a_script_that_holds_a_dictionary_stays_one() -> None:
    reading = reading_of('{"cells": 1}\n' + ROPE, "module")

    assert (reading.submission.kind, kinds(reading)) == ("module", [])


# --- scripts that were notebooks -----------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "converted"),
    [
        ("# In[3]:\n\nimport torch\n", True),
        ("#!/usr/bin/env python\n# coding: utf-8\n\n# In[ ]:\n", True),
        ("# %%\nimport torch\n", True),
        ("# %% [markdown]\n# Title\n", True),
        ("get_ipython().system('ls')\n", True),
        ("x = get_ipython().getoutput('ls')\n", True),
        ("try:\n    shell = get_ipython()\nexcept NameError:\n    shell = None\n", False),
        ('"""hw.ipynb\n\nAutomatically generated by Colab.\n"""\n', True),
        ("# +\nimport torch\n# -\n", True),
        ("# Databricks notebook source\n", True),
        ("# 100 %% sure\nx = 7 % 3\n", False),
        ("# get_ipython() is not here\n", False),
        ("x = 1  # + 2\n", False),
        (ROPE, False),
    ],
)
def test_a_script_that_was_a_notebook_is_known(text: str, converted: bool) -> None:
    assert looks_converted(text) is converted


def test_a_submission_travels_without_its_plots() -> None:
    content = json.dumps(book(code(ROPE, outputs=plots(2)))).encode()
    handed_in = an_opened_file(content, file="a.ipynb")
    script = an_opened_file(content)

    sent = without_outputs(handed_in)

    assert len(sent.content) < 1000
    assert understand(sent).definitions == understand(handed_in).definitions
    assert without_outputs(script) == script
