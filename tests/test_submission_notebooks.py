"""Notebooks: versions, damage, magics, broken cells."""

import json
import warnings
from collections.abc import Mapping
from pathlib import Path

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbformat import v3, v4

from grader.model import Reading
from grader.reading.magics import to_python
from grader.submission import code_at, locate, missing, read, understand

ROPE = "def apply_rope(x):\n    return x + 1"
NAMES = ("apply_rope", "mask_padding")


def code(source: object, **more: object) -> dict[str, object]:
    return {"cell_type": "code", "source": source, **more}


@pytest.fixture
def reading_of(tmp_path: Path):
    """Writes a notebook as given and reads it."""

    def made(*cells: object, **more: object) -> Reading:
        whole = {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **more}
        return of_text(json.dumps(whole))

    def of_text(text: str | bytes) -> Reading:
        path = tmp_path / "week 3 作业.ipynb"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return understand(read(path), names=NAMES)

    made.of_text = of_text  # type: ignore[attr-defined]
    return made


def texts(reading: Reading) -> list[str]:
    return [piece.text for piece in reading.source.pieces] if reading.source else []


def kinds(reading: Reading) -> list[str]:
    return [problem.kind for problem in reading.problems]


# --- versions and damage -----------------------------------------------------------------


@pytest.mark.parametrize("minor", [0, 1, 2, 3, 4, 5])
def test_every_minor_of_version_4_is_read(reading_of, tmp_path: Path, minor: int) -> None:
    book = v4.new_notebook(cells=[v4.new_markdown_cell("# hi"), v4.new_code_cell(ROPE)])
    book.nbformat_minor = minor
    if minor < 5:
        for cell in book.cells:
            del cell["id"]

    reading = reading_of.of_text(nbformat.writes(book))

    assert texts(reading) == [ROPE]
    place = reading.definitions["apply_rope"].place
    assert (place.cell, place.line, place.quote) == (2, 1, "def apply_rope(x):")
    assert (minor == 5) == (place.cell_id is not None)


def test_version_3_is_read_across_its_worksheets(reading_of) -> None:
    sheets = [
        v3.new_worksheet(cells=[v3.new_text_cell("markdown", "hi"), v3.new_code_cell(ROPE)]),
        v3.new_worksheet(cells=[v3.new_heading_cell("Mask"), v3.new_code_cell("mask_padding = 1")]),
    ]
    book = v3.new_notebook(metadata=v3.new_metadata(name="n"), worksheets=sheets)

    reading = reading_of.of_text(v3.writes_json(book))

    assert [(piece.cell, piece.text) for piece in reading.source.pieces] == [
        (2, ROPE),
        (4, "mask_padding = 1"),
    ]
    assert kinds(reading) == []


def test_missing_duplicate_and_damaged_ids_are_tolerated(reading_of) -> None:
    ids: list[dict[str, object]] = [{}, {"id": "a"}, {"id": "a"}, {"id": 7}, {"id": "\ud800 !"}]

    reading = reading_of(*(code(f"x{n} = 1", **each) for n, each in enumerate(ids)))

    assert [reading.definitions[f"x{n}"].place.cell_id for n in range(4)] == [None, "a", "a", None]
    assert kinds(reading) == []


def test_a_source_is_a_text_or_lines_with_or_without_their_ends(reading_of) -> None:
    reading = reading_of(
        code("a = 1\r\nb = 2"), code(["a = 1\n", "b = 2"]), code(["a = 1", "b = 2"]), code(["a"])
    )

    assert texts(reading) == ["a = 1\nb = 2"] * 3 + ["a"]


@pytest.mark.parametrize("cell", [None, 7, [], {}, {"cell_type": "code"}, code(3), code([1])])
def test_a_damaged_cell_is_named_and_the_others_count(reading_of, cell: object) -> None:
    reading = reading_of(code("x = 1"), cell, code("y = 1"))

    assert texts(reading) == ["x = 1", "y = 1"]
    assert [(each.kind, each.place.cell) for each in reading.problems] == [("damaged_cell", 2)]


def test_outputs_metadata_and_versions_may_be_anything(reading_of) -> None:
    reading = reading_of(
        code("x = 1", outputs={"a": [10**4000]}, metadata="no", execution_count="first"),
        {"source": "y = 1", "outputs": []},
        metadata=[],
        nbformat="four",
        nbformat_minor=None,
    )

    assert texts(reading) == ["x = 1", "y = 1"]


def test_a_number_of_ten_thousand_digits_breaks_nothing(reading_of) -> None:
    text = '{"cells": [{"cell_type": "code", "source": "x = 1", "execution_count": %s}]}'

    assert texts(reading_of.of_text(text % ("9" * 10_000))) == ["x = 1"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_byte_order_mark_is_tolerated(reading_of, encoding: str) -> None:
    text = json.dumps({"cells": [code("作业 = 1")]}, ensure_ascii=False)

    assert texts(reading_of.of_text(text.encode(encoding))) == ["作业 = 1"]


@pytest.mark.parametrize(
    ("metadata", "kind"),
    [
        ({"kernelspec": {"name": "ir", "language": "R"}}, ["not_python"]),
        ({"language_info": {"name": "julia"}}, ["not_python"]),
        ({"kernelspec": {"name": "julia-1.9"}}, ["not_python"]),
        ({"kernelspec": {"name": "my-torch", "display_name": "Mine"}}, []),
        ({"kernelspec": {"name": "python3"}, "language_info": {"name": "Python"}}, []),
        ({"language_info": {"name": "ipython"}}, []),
        ({"kernelspec": None, "language_info": {"name": 3}}, []),
    ],
)
def test_only_a_kernel_that_is_certainly_not_python_is_refused(
    reading_of, metadata: Mapping[str, object], kind: list[str]
) -> None:
    reading = reading_of(code("x = 1"), metadata=metadata)

    assert (kind, bool(kind)) == (kinds(reading), reading.unreadable)


@pytest.mark.parametrize(
    ("text", "kind", "what"),
    [
        ("", "empty", "empty"),
        ("[1, 2]", "not_a_notebook", "is_other_json"),
        ('{"a": 1}', "not_a_notebook", "is_other_json"),
        ("[" * 100_000, "not_a_notebook", "is_other_json"),
        ('{"cells": [\n{"cell_type":', "not_a_notebook", "cut_off_json"),
        ('{"cells": [,]}', "not_a_notebook", "broken_json"),
        ("import torch\n" + ROPE + "(", "not_a_notebook", "is_script"),
        ("<html></html>", "not_a_notebook", "is_html"),
        ("PK\x03\x04", "not_a_notebook", "is_archive"),
        (
            '{\n<<<<<<< HEAD\n"a": 1\n=======\n"a": 2\n>>>>>>> b\n}',
            "merge_conflict",
            "merge_conflict",
        ),
        ('{"cells": []}', "no_code_cell", "no_code_cell"),
        ('{"worksheets": []}', "no_code_cell", "no_code_cell"),
        (json.dumps({"cells": [code(" \n")]}), "no_code_cell", "no_code_cell"),
        (json.dumps({"cells": [code("a\n" * 150_000)] * 2}), "too_large", "too_much_code"),
    ],
    ids=range(14),
)
def test_a_file_without_code_to_run_is_unreadable_and_named(
    reading_of, text: str, kind: str, what: str
) -> None:
    reading = reading_of.of_text(text)

    assert reading.unreadable
    assert ([kind], f"reading.{what}") == (kinds(reading), reading.problems[0].message.code)


def test_the_marker_of_a_damaged_notebook_is_still_found(reading_of) -> None:
    reading = reading_of.of_text('{"cells": [{"source": ["# torchgrade: hw4\\n", "x')

    assert (reading.marker, reading.unreadable) == ("hw4", True)


def test_the_marker_stands_in_the_first_code_cell(reading_of) -> None:
    text = {"cell_type": "markdown", "source": "# torchgrade: hw9"}

    assert reading_of(text, code(""), code("\n# torchgrade: hw4\n"), code("x = 1")).marker == "hw4"
    assert None is reading_of(code("x = 1"), code("# torchgrade: hw4")).marker


# --- broken cells ------------------------------------------------------------------------


def test_a_cell_with_a_syntax_error_contributes_nothing(reading_of) -> None:
    broken = "def apply_rope(x):\n    return stack(x\n"

    reading = reading_of(code("# one\nx = 1"), code(broken, id="b2"), code("y = 1"))
    problem = reading.problems[0]

    assert texts(reading) == ["# one\nx = 1", "y = 1"]
    assert (
        problem.kind,
        problem.place.cell,
        problem.place.cell_id,
        problem.place.line,
        problem.place.quote,
    ) == ("syntax_error", 2, "b2", 2, "return stack(x")
    assert problem.message.en == (
        "return stack(x\n"
        "SyntaxError: '(' was never closed\n"
        "Python could not read this cell, and no other cell defines apply_rope."
    )
    assert reading.unread == ("apply_rope",)
    assert missing("apply_rope", reading).message.code == "reading.missing_function_unread"


def test_a_broken_cell_whose_function_stands_elsewhere_loses_nothing(reading_of) -> None:
    reading = reading_of(code("def apply_rope(x:\n  pass"), code(ROPE))

    assert reading.problems[0].message.code == "reading.cell_syntax_error"
    assert reading.unread == ()


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("def f():\n    await g()", "cell_syntax_error"),
        ("await f()\nyield 1", "cell_syntax_error"),
        ("return 1", "cell_syntax_error"),
        ("-" * 100_000 + "1", "cell_too_complex"),
        ("x = '\0'", "cell_syntax_error"),
        ("x = 1\ny = '\ud800'", "cell_syntax_error"),
        ("x = " + "1" * 5000, "cell_syntax_error"),
    ],
    ids=range(7),
)
def test_what_python_refuses_in_a_cell_is_a_problem(reading_of, source: str, what: str) -> None:
    reading = reading_of(code(source), code("y = 1"))

    assert texts(reading) == ["y = 1"]
    assert kinds(reading) == ["syntax_error"]
    assert f"reading.{what}" == reading.problems[0].message.code


def test_a_notebook_of_broken_cells_is_graded_and_not_unreadable(reading_of) -> None:
    reading = reading_of(code("x = ("))

    assert (reading.source, reading.unreadable) == (None, False)


def test_a_function_in_a_text_cell_or_under_a_foreign_magic_is_told(reading_of) -> None:
    reading = reading_of(
        {"cell_type": "markdown", "source": ROPE},
        code("%%writefile mask.py\ndef mask_padding(e, m): pass"),
        code("x = 1"),
    )

    assert [(each.message.code, each.place.cell) for each in reading.problems] == [
        ("reading.text_cell_not_run", 1),
        ("reading.cell_magic_not_run", 2),
    ]
    assert "%%writefile" in reading.problems[1].message.en


def test_copied_cells_are_told_with_both_numbers(reading_of) -> None:
    reading = reading_of(code(ROPE), code("x = 1"), code(ROPE))

    assert reading.definitions["apply_rope"].place.cell == 3
    assert reading.problems[0].message.en == (
        "apply_rope is defined more than once: in cell 1 and again in cell 3. "
        "Python keeps the last one, so cell 3 was graded."
    )


def test_a_placeholder_is_quoted_by_its_own_line(reading_of) -> None:
    reading = reading_of(
        code("%time x = 1\ndef apply_rope(x):\n    final = '''your code'''\n    return final")
    )
    blank = reading.definitions["apply_rope"].blank

    assert (blank.cell, blank.line, blank.quote) == (1, 3, "final = '''your code'''")
    assert reading.definitions["apply_rope"].place.quote == "def apply_rope(x):"


def test_a_line_that_raised_later_can_be_placed(reading_of) -> None:
    reading = reading_of(code("a = 1"), code("\nb = 1\nc = b / 0", id="z"))
    place = locate(reading, cell=2, line=3)

    assert (place.cell_id, place.quote, code_at(reading, place)) == ("z", "c = b / 0", "c = b / 0")


# --- magics ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("%matplotlib inline\nx = 1", "pass  # %matplotlib inline\nx = 1"),
        ("!pip install torch\nx = 1", "pass  # !pip install torch\nx = 1"),
        ("!!ls", "pass  # !!ls"),
        ('!"C:\\my tools\\x.exe"', 'pass  # !"C:\\my tools\\x.exe"'),
        ("!echo \"it's (\"\nx = 1", "pass  # !echo \"it's (\"\nx = 1"),
        ("!echo ''' (\nx = 1", "pass  # !echo ''' (\nx = 1"),
        ("!pip install \\\n  torch\nx = 1", "pass  # !pip install \\\n#   torch\nx = 1"),
        ("?print\nprint?", "pass  # ?print\npass  # print?"),
        ("print??\n??print", "pass  # print??\npass  # ??print"),
        ("torch.*?\nx[0].y?", "pass  # torch.*?\npass  # x[0].y?"),
        ("files = !ls\nx = 1", "files = []  # !ls\nx = 1"),
        ("a, b.c = !ls | wc", "a, b.c = []  # !ls | wc"),
        ("here = %pwd", "here = None  # %pwd"),
        ("%time y = f(1)", "y = f(1)"),
        ("y = %time f(1)", "y = f(1)"),
        ("%timeit f(1)", "pass  # %timeit f(1)"),
        ("if x:\n  !ls\nelse:#ok?\n  %cd ..", "if x:\n  pass  # !ls\nelse:#ok?\n  pass  # %cd .."),
        ("pip install torch\nx = 1", "pass  # pip install torch\nx = 1"),
        ("cd data\nls ..\nx = 1", "pass  # cd data\npass  # ls ..\nx = 1"),
        ("%pwd\nls = [1]\nls += [\n2]\ncd.x = 1", "pass  # %pwd\nls = [1]\nls += [\n2]\ncd.x = 1"),
        ("%pwd\nx = (a\n% b\n)", "pass  # %pwd\nx = (a\n% b\n)"),
        ("%pwd\nx = a \\\n% b", "pass  # %pwd\nx = a \\\n% b"),
        ("s = '''\n%x\n!y (\nz?\n'''\n!ls", "s = '''\n%x\n!y (\nz?\n'''\npass  # !ls"),
        ("%pwd\n'''What?\n%x'''", "pass  # %pwd\n'''What?\n%x'''"),
        ("%pwd\ns = 'a\\'?' # '''\n!ls", "pass  # %pwd\ns = 'a\\'?' # '''\npass  # !ls"),
        ("%pwd\ns = 'a\\\n%b'", "pass  # %pwd\ns = 'a\\\n%b'"),
        ("# %pwd\n# !ls\n%pwd", "# %pwd\n# !ls\npass  # %pwd"),
        ("%%time\nx = 1", "# %%time\nx = 1"),
        ("\n# why\n%%timeit -n 3\n!ls\nx = 1", "\n# why\n# %%timeit -n 3\npass  # !ls\nx = 1"),
        ("%%capture out\n%%time\nx = 1", "# %%capture out\n# %%time\nx = 1"),
        ("%%prun -l 3\nx = 1", "# %%prun -l 3\nx = 1"),
        ("%%wandb\nx = 1", "# %%wandb\nx = 1"),
        ("  x = 1\n  y = 2", "x = 1\ny = 2"),
    ],
    ids=range(33),
)  # fmt: skip
def test_magics_are_taken_out_and_no_line_moves(cell: str, python: str) -> None:
    made = to_python(cell)

    assert (python, None) == (made.text, made.skipped_by)
    assert cell.count("\n") == made.text.count("\n")
    compile(made.text, "cell", "exec")


@pytest.mark.parametrize(
    "first",
    ["%%bash", "%%writefile {a}.py", "%%file", "%%html", "%%HTML", "%%latex", "%%javascript",
     "%%sh", "%%writefile -x a.py", "%%script python", "%%R -i x", "%%sql", "%%!",
     "%%capture\n%%bash"],
)  # fmt: skip
def test_a_cell_in_another_language_is_dropped(first: str) -> None:
    made = to_python(f"{first}\ndef apply_rope(x): return x")

    assert made.text == ""
    assert made.skipped_by is not None


@pytest.mark.parametrize(
    ("first", "written"),
    [
        ("%%writefile h.py", "x = 1\n"),
        ("%%file 'h.py'", "x = 1\n"),
        ("%%writefile -a h.py", "first\nx = 1\n"),
    ],
)
def test_a_cell_that_writes_a_file_does_so(
    first: str, written: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("h.py").write_text("first\n", encoding="utf-8")

    made = to_python(f"{first}\nx = 1")
    exec(made.text, {})

    assert first.partition(" ")[0] == made.skipped_by
    assert written == Path("h.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("typed", ["%run h.py", "%run h", "run -i h.py", "%run 'h.py'"])
def test_a_file_that_is_run_gives_its_names(
    typed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("h.py").write_text("x = 'é'\n", encoding="utf-8")
    names: dict[str, object] = {}

    made = to_python(f"{typed}\ny = x * 2")
    exec(made.text, names)

    assert names["y"] == "éé"
    assert made.text.count("\n") == 1


@pytest.mark.parametrize("typed", ["%run a.py --lr 1", "%run other.ipynb", "%run {name}", "%run"])
def test_a_file_that_cannot_be_run_as_it_was_is_passed_over(typed: str) -> None:
    assert to_python(f"{typed}\ny = 1").text == f"pass  # {typed}\ny = 1"


def test_environment_variables_are_set() -> None:
    made = to_python("%env TOKENS=a b\n%set_env N 1\n%env")

    assert made.text == (
        "__import__(\"os\").environ['TOKENS'] = 'a b'\n"
        "__import__(\"os\").environ['N'] = '1'\npass  # %env"
    )


@pytest.mark.parametrize("word", ["ls", "ls -la", "pwd", "ll", "whos"])
def test_a_shell_word_that_is_python_by_accident_does_nothing(word: str) -> None:
    made = to_python(f"{word}\ndef f():\n    return 1\nif f():\n    {word}")

    assert made.text == f"pass  # {word}\ndef f():\n    return 1\nif f():\n    pass  # {word}"


@pytest.mark.parametrize(
    "pasted",
    [
        ">>> x = 1\n>>> def f():\n...     return x\n...\n",
        "In [3]: x = 1\nIn [4]: def f():\n   ...:     return x\n   ...: \n",
    ],
)
def test_prompts_are_taken_off_as_notebooks_do(pasted: str) -> None:
    assert to_python(pasted).text == "x = 1\ndef f():\n    return x\n\n"


def test_an_unknown_cell_magic_over_something_else_is_dropped() -> None:
    assert to_python("%%ai chatgpt\nWrite my homework, please").skipped_by == "%%ai"


@pytest.mark.parametrize(
    "cell",
    [
        "x = 7 \\\n % 3",
        "x = (7\n%\n3)",
        "s = '''\n%matplotlib inline\n!ls\n'''",
        "f'''\n!ls {x}\n'''",
        "get_ipython().run_line_magic('pwd', '')",
        "ls = 1\nls",
        "    # only a remark\nx = 1",
    ],
)
def test_valid_python_is_never_changed(cell: str) -> None:
    assert cell == to_python(cell).text


LINES = st.sampled_from(
    ["%pwd", "!ls (", "x = !ls", "?x", "x?", "%%time", "x = 1", "if x:", "    %cd ..", "    pass",
     "'''", '"""a?', "f(", "% 3)", "\\", "# it's", "ls x", "%time y = (", "!a \\", "\u2028", ""]
)  # fmt: skip


@settings(deadline=None)
@given(st.lists(LINES | st.text(max_size=8)))
def test_whatever_a_cell_holds_its_lines_keep_their_numbers(lines: list[str]) -> None:
    cell = "\n".join(lines)

    made = to_python(cell)

    assert made.skipped_by is not None or cell.count("\n") == made.text.count("\n")
