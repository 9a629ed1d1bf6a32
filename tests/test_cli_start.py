"""`grade start`: what it makes, and that nothing is ever lost by it."""

import json
import os
from pathlib import Path

import nbformat
import pytest
from builders import ASSIGNMENT_TOML, an_assignment_folder
from test_cli import err, grade, out

TEMPLATE = """\
# torchgrade: hw4
# %%
import torch


# %%
def apply_rope(x):
    rotated = \"\"\"your code here\"\"\"
    return rotated
"""


@pytest.fixture
def course(tmp_path: Path) -> str:
    files = {
        "template.py": TEMPLATE,
        "handout.md": "# Rotary\n\nTurn pairs.\n",
        "handout.zh.md": "# 旋转\n\n旋转每一对。\n",
    }
    an_assignment_folder(tmp_path / "course", assignment_toml=ASSIGNMENT_TOML, **files)
    return str(tmp_path / "course")


def test_a_notebook_begins_with_the_statement_and_holds_the_template(
    course: str, tmp_path: Path
) -> None:
    result = grade("start", "hw4", "--assignments", course, cwd=tmp_path)

    book = nbformat.read(tmp_path / "hw4.ipynb", as_version=4)
    nbformat.validate(book)
    assert [(cell.cell_type, cell.source) for cell in book.cells] == [
        ("markdown", "# Rotary\n\nTurn pairs."),
        ("code", "# torchgrade: hw4\nimport torch"),
        ("code", 'def apply_rope(x):\n    rotated = """your code here"""\n    return rotated'),
    ]
    assert book.metadata.kernelspec.name == "python3"
    expected = """\
Made hw4.ipynb.

Next: fill it in, save it, then check it with
  grade check hw4.ipynb
"""
    assert out(result) == expected


def test_the_same_notebook_is_made_every_time(course: str, tmp_path: Path) -> None:
    for name in ("a.ipynb", "b.ipynb"):
        grade("start", "hw4", "-o", name, "--assignments", course, cwd=tmp_path)

    assert (tmp_path / "a.ipynb").read_bytes() == (tmp_path / "b.ipynb").read_bytes()
    assert b"\r" not in (tmp_path / "a.ipynb").read_bytes()


def test_the_statement_is_chinese_for_those_who_speak_it(course: str, tmp_path: Path) -> None:
    arguments = ("start", "HW4", "--lang", "zh", "--assignments", course)

    result = grade(*arguments, cwd=tmp_path)

    book = json.loads((tmp_path / "hw4.ipynb").read_text("utf-8"))
    assert book["cells"][0]["source"][0] == "# 旋转\n"
    expected = """\
已生成 hw4.ipynb。

下一步：填写并保存，然后用下面的命令检查
  grade check hw4.ipynb
"""
    assert out(result) == expected


def test_the_template_is_chinese_for_those_who_speak_it(course: str, tmp_path: Path) -> None:
    chinese = TEMPLATE.replace("    rotated", "    # 旋转每一对。\n    rotated", 1)
    next(Path(course).glob("*/template.py")).with_name("template.zh.py").write_text(
        chinese, encoding="utf-8"
    )

    for name in ("hw4.py", "hw4.ipynb"):
        grade("start", "hw4", "-o", name, "--lang", "zh", "--assignments", course, cwd=tmp_path)

    book = json.loads((tmp_path / "hw4.ipynb").read_text("utf-8"))
    assert chinese == (tmp_path / "hw4.py").read_text("utf-8")
    assert "    # 旋转每一对。\n" in book["cells"][2]["source"]


def test_a_script_is_the_template_with_its_statement_beside_it(course: str, tmp_path: Path) -> None:
    result = grade("start", "hw4", "--format", "py", "--assignments", course, cwd=tmp_path)

    assert (tmp_path / "hw4.py").read_text("utf-8") == TEMPLATE
    assert (tmp_path / "hw4.md").read_text("utf-8") == "# Rotary\n\nTurn pairs.\n"
    assert out(result).startswith("Made hw4.py, hw4.md.\n")


def test_a_name_that_ends_in_py_gives_a_script_and_is_quoted_where_shells_need_it(
    course: str, tmp_path: Path
) -> None:
    (tmp_path / "my work").mkdir()

    result = grade("start", "hw4", "-o", "my work/lee.py", "--assignments", course, cwd=tmp_path)

    path = f"my work{os.sep}lee.py"
    assert (tmp_path / "my work" / "lee.py").read_text("utf-8") == TEMPLATE
    assert out(result).endswith(f'  grade check "{path}"\n')


@pytest.mark.parametrize("name", ["hw4.ipynb", "hw4.py"])
def test_a_file_that_is_there_is_never_overwritten(name: str, course: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("three hours of work", encoding="utf-8")
    (tmp_path / name.replace("hw4", "hw4-2")).write_text("more work", encoding="utf-8")

    result = grade("start", "hw4", "-o", name, "--assignments", course, cwd=tmp_path)

    other = name.replace("hw4", "hw4-3")
    expected = (
        f"{name} exists already and is left as it is."
        f" To get a fresh copy under another name, add: -o {other}\n"
    )
    assert err(result) == expected
    assert (tmp_path / name).read_text("utf-8") == "three hours of work"
    assert (result.returncode, result.stdout) == (2, b"")


def test_notes_in_the_statement_beside_a_script_are_kept(course: str, tmp_path: Path) -> None:
    (tmp_path / "hw4.md").write_text("my notes", encoding="utf-8")

    result = grade("start", "hw4", "-o", "hw4.py", "--assignments", course, cwd=tmp_path)

    assert (tmp_path / "hw4.md").read_text("utf-8") == "my notes"
    assert "hw4.md was there already and is left as it is." in out(result)


def test_a_folder_as_output_gets_the_file_with_its_usual_name(course: str, tmp_path: Path) -> None:
    (tmp_path / "week4").mkdir()

    grade("start", "hw4", "-o", "week4", "--assignments", course, cwd=tmp_path)

    assert (tmp_path / "week4" / "hw4.ipynb").is_file()
