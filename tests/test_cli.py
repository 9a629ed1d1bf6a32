"""The command itself: help, languages, encodings, exit codes, and what lies about it."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from builders import ASSIGNMENT_TOML, a_report, an_assignment, an_assignment_folder

from grader import report as reports
from grader.cli.root import FIRST, STAFF

ROOT = Path(__file__).resolve().parent.parent
# Nothing of the machine that runs the tests decides which language is spoken.
LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG", "GRADE_LANG", "GRADE_ASSIGNMENTS", "NO_COLOR")


COMMANDS = ", ".join([*FIRST, *STAFF])


def grade(
    *arguments: str, cwd: Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """What `grade` prints and its exit code, run in a process of its own."""
    clean = {key: value for key, value in os.environ.items() if key not in LOCALE}
    path = os.pathsep.join(
        [str(ROOT), *([env["PYTHONPATH"]] if env and "PYTHONPATH" in env else [])]
    )
    return subprocess.run(
        [sys.executable, "-m", "grader", *arguments],
        cwd=cwd,
        env={**clean, "PYTHONIOENCODING": "utf-8", **(env or {}), "PYTHONPATH": path},
        capture_output=True,
        check=False,
    )


def out(result: subprocess.CompletedProcess[bytes]) -> str:
    return result.stdout.decode("utf-8").replace("\r\n", "\n")


def err(result: subprocess.CompletedProcess[bytes]) -> str:
    return result.stderr.decode("utf-8").replace("\r\n", "\n")


@pytest.fixture
def two_assignments(tmp_path: Path) -> Path:
    parent = tmp_path / "course"
    for id_ in ("two", "one"):
        toml = ASSIGNMENT_TOML.replace('id = "hw4"', f'id = "{id_}"')
        an_assignment_folder(parent, name=id_, assignment_toml=toml)
    return parent


# --- help ---------------------------------------------------------------------------------------


def test_help_lists_what_students_use_first_and_the_rest_for_staff(tmp_path: Path) -> None:
    result = grade("--help", cwd=tmp_path)

    commands = out(result).partition("Commands:")[2]
    expected = """
  list   Show the assignments.
  start  Take an assignment: a notebook or script to fill in.
  check  Check your work and see what is missing.

For course staff:
  batch     Grade a whole class.
  merge     Join the parts of a sharded batch.
  diff      Whose scores moved between two batches.
  verify    Prove an assignment: right answers pass, wrong ones fail.
  new       Make a new assignment, or a copy of another.
  validate  Check JSON reports against their schema.
  schema    Print the JSON Schema of a format.
  doctor    Try out what this machine's sandbox enforces.

  Begin with: grade list. Every command explains itself: grade check --help.
"""
    assert commands == expected
    assert result.returncode == 0


def test_without_a_command_help_is_shown(tmp_path: Path) -> None:
    assert out(grade(cwd=tmp_path)).startswith("Usage: grade [OPTIONS] COMMAND [ARGS]...\n")


@pytest.mark.parametrize("command", [*FIRST, *STAFF])
def test_help_explains_every_option_in_both_languages(command: str, tmp_path: Path) -> None:
    english = out(grade(command, "--help", cwd=tmp_path))
    chinese = out(grade("--lang", "zh", command, "--help", cwd=tmp_path))

    assert "Look for assignments in this folder" in english
    assert "在这个文件夹里查找作业" in chinese
    assert english.count("--") <= chinese.count("--") + 1


def test_help_survives_python_without_docstrings(tmp_path: Path) -> None:
    seen = grade("check", "--help", cwd=tmp_path, env={"PYTHONOPTIMIZE": "2"})

    assert out(seen) == out(grade("check", "--help", cwd=tmp_path))


def test_help_and_list_import_nothing_heavy(tmp_path: Path) -> None:
    script = (
        "import sys; from grader.cli.entry import run; run(['--help']); run(['list']);"
        "heavy = {'torch', 'numpy', 'pytest', 'rich', 'jsonschema', 'nbformat', 'jupytext'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, check=True, text=True
    )

    assert result.stdout.splitlines()[-1] == "[]"


# --- languages ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("env", "spoken"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}, "en"),
        ({"LC_MESSAGES": "zh_TW.UTF-8", "LANG": "en_US.UTF-8"}, "zh"),
        ({"GRADE_LANG": "en", "LANG": "zh_CN.UTF-8"}, "en"),
        ({"GRADE_LANG": "zh"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "PYTHONIOENCODING": "cp1252"}, "en"),
        ({"LANG": "zh_CN.GBK", "PYTHONIOENCODING": "cp936"}, "zh"),
    ],
)
def test_the_language_is_that_of_the_computer_where_it_can_be_shown(
    env: dict[str, str], spoken: str, tmp_path: Path
) -> None:
    result = grade("list", "--help", cwd=tmp_path, env=env)

    shown = result.stdout.decode(env.get("PYTHONIOENCODING", "utf-8"))
    assert ("用法" in shown) == (spoken == "zh")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--lang", "zh", "--assignments", "course", "list"),
        ("list", "--assignments", "course", "--lang=zh"),
        ("--lang", "en", "--assignments", "..", "list", "--lang", "zh", "--assignments", "course"),
    ],
)
def test_shared_options_stand_before_or_after_the_command_and_the_last_wins(
    arguments: tuple[str, ...], two_assignments: Path, tmp_path: Path
) -> None:
    result = grade(*arguments, cwd=tmp_path)

    expected = "one  7 分  旋转位置编码\ntwo  7 分  旋转位置编码\n\n作业来自"
    assert out(result).startswith(expected)
    assert "（学生版）" in out(result)


def test_list_shows_id_points_and_title(two_assignments: Path, tmp_path: Path) -> None:
    result = grade("list", cwd=tmp_path, env={"GRADE_ASSIGNMENTS": "course"})

    expected = (
        "one  7 points  Rotary position embedding\ntwo  7 points  Rotary position embedding\n"
    )
    assert out(result).startswith(expected)


@pytest.mark.parametrize("encoding", ["cp936", "cp1252", "cp437", "ascii"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_console_can_show_the_help(encoding: str, language: str, tmp_path: Path) -> None:
    env = {"PYTHONIOENCODING": encoding}

    result = grade("--lang", language, "check", "--help", cwd=tmp_path, env=env)

    shown = result.stdout.decode(encoding)
    assert "grade check" in shown
    assert (result.returncode, result.stderr) == (0, b"")


@pytest.mark.parametrize("encoding", ["cp936", "cp1252", "cp437", "ascii", "utf-8"])
def test_what_was_typed_is_shown_without_its_control_characters(
    encoding: str, tmp_path: Path
) -> None:
    env = {"PYTHONIOENCODING": encoding}

    result = grade("check", "作业\x1b[31m’.py", cwd=tmp_path, env=env)

    assert result.returncode == 2
    assert b"\x1b" not in result.stderr
    assert "%1B[31m" in result.stderr.decode(encoding)


# --- usage ------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("chekc", "hw1.py"),
            f"There is no command 'chekc'. The commands are: {COMMANDS}.",
        ),
        (("hw1.py",), "To check a file, type: grade check hw1.py"),
        (("check",), "Missing argument 'FILE...'.\nFor help: grade check --help"),
        (("check", "hw1.py", "hw1.py"), "hw1.py is named twice."),
        (("check", "hw1.py", "./hw1.py"), "./hw1.py is named twice."),
        (
            ("check", "hw1.py", "--fail-under", "nan"),
            "--fail-under takes a percentage from 0 to 100, not 'nan'.",
        ),
        (
            ("check", "hw1.py", "--fail-under", "101"),
            "--fail-under takes a percentage from 0 to 100, not '101'.",
        ),
        (
            ("check", "hw1.py", "--time-factor", "0"),
            "--time-factor takes a number above 0, not '0'.",
        ),
        (
            ("check", "hw1.py", "--time-factor", "inf"),
            "--time-factor takes a number above 0, not 'inf'.",
        ),
        (
            ("check", "hw1.py", "--seed", "-1"),
            "--seed takes a whole number, 0 or more, not '-1'.",
        ),
        (
            ("check", "hw1.py", "--json", "hw1.py"),
            "--json hw1.py would overwrite a submission."
            " Name a file that ends in .json, or - for the screen.",
        ),
        (
            ("start", "hw99"),
            "There is no assignment 'hw99'. There are: one, two.",
        ),
        (
            ("start", "one", "-o", "one.txt"),
            "-o needs a name that ends in .ipynb or .py, not one.txt.",
        ),
        (
            ("start", "one", "-o", "one.py", "--format", "ipynb"),
            "-o one.py does not fit --format ipynb. Leave one of them out.",
        ),
        (
            ("start", "one", "-o", "nowhere/one.py"),
            f"nowhere{os.sep}one.py cannot be made: the folder nowhere does not exist.",
        ),
    ],
)
def test_a_wrong_command_line_exits_with_2_and_says_what_to_type(
    arguments: tuple[str, ...], message: str, two_assignments: Path, tmp_path: Path
) -> None:
    (tmp_path / "hw1.py").write_text("x = 1\n", encoding="utf-8")

    result = grade("--assignments", str(two_assignments), *arguments, cwd=tmp_path)

    assert err(result) == f"{message}\n"
    assert (result.returncode, result.stdout) == (2, b"")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("check",), "缺少 FILE。\n查看说明：grade check --help"),
        (("list", "--fast"), "没有 --fast 这个选项。\n查看说明：grade list --help"),
        (
            ("chekc",),
            f"没有“chekc”这个命令。可用的命令：{COMMANDS.replace(', ', '、')}。",
        ),
        (("--debug",), "缺少命令。可用的命令见 grade --help。\n查看说明：grade --help"),
        (
            ("check", "--jsn", "x"),
            "没有 --jsn 这个选项。是不是想写 --json？\n查看说明：grade check --help",
        ),
        (("check", "--json"), "--json 后面要写一个值。\n查看说明：grade check --help"),
        (("list", "--debug=1"), "--debug 后面不能写值。\n查看说明：grade list --help"),
        (("list", "a", "b"), "多写了 a、b，这里用不到。\n查看说明：grade list --help"),
        (("batch", "."), "缺少 --out。\n查看说明：grade batch --help"),
        (("batch", "x.zip", "--out", "o"), "x.zip 不存在。\n查看说明：grade batch --help"),
        (("diff", "x", "y"), "文件夹 x 不存在。\n查看说明：grade diff --help"),
        (
            ("batch", ".", "--out", "o", "--roster", "."),
            "--roster：. 是文件夹，这里要写文件。\n查看说明：grade batch --help",
        ),
        (
            ("batch", ".", "--out", "o", "--jobs", "0"),
            "--jobs：要写 1 或更大的整数，而不是“0”。\n查看说明：grade batch --help",
        ),
        (
            ("batch", ".", "--out", "o", "--jobs", "two"),
            "--jobs：要写 1 或更大的整数，而不是“two”。\n查看说明：grade batch --help",
        ),
        (
            ("start", "one", "--format", "docx"),
            "--format：没有“docx”这个值，可以写 ipynb、py。\n查看说明：grade start --help",
        ),
        (
            ("schema", "scores"),
            "没有“scores”这个值，可以写 report、rubric、assignment、run。"
            "\n查看说明：grade schema --help",
        ),
        (("validate", "x.json"), "无法读取 x.json：文件或文件夹不存在。"),
    ],
)
def test_a_wrong_command_line_is_explained_in_chinese(
    arguments: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    result = grade("--lang", "zh", *arguments, cwd=tmp_path)

    assert err(result) == f"{message}\n"
    assert result.returncode == 2


def test_a_broken_assignment_is_a_usage_problem_that_names_the_file(tmp_path: Path) -> None:
    folder = tmp_path / "mine" / "one"
    folder.mkdir(parents=True)
    (folder / "assignment.toml").write_text("id = 3\n", encoding="utf-8")

    result = grade("list", "--assignments", "mine", cwd=tmp_path)

    assert "assignment.toml" in err(result)
    assert result.returncode == 2


# --- what lies about ------------------------------------------------------------


@pytest.mark.parametrize("name", ["json", "torch", "click", "tomllib", "string", "datetime"])
def test_a_module_in_the_current_folder_changes_nothing(name: str, tmp_path: Path) -> None:
    (tmp_path / f"{name}.py").write_text("raise SystemExit('mine!')\n", encoding="utf-8")

    result = grade("list", cwd=tmp_path)

    assert (result.returncode, result.stderr) == (0, b"")


@pytest.mark.parametrize("name", ["json", "click", "jsonschema"])
def test_a_module_on_pythonpath_changes_nothing(name: str, tmp_path: Path) -> None:
    evil = tmp_path / "evil"
    evil.mkdir()
    (evil / f"{name}.py").write_text("raise SystemExit('mine!')\n", encoding="utf-8")

    result = grade("schema", "report", cwd=tmp_path, env={"PYTHONPATH": str(evil)})

    assert (result.returncode, result.stderr) == (0, b"")


def test_assignments_in_the_current_folder_are_not_found(tmp_path: Path) -> None:
    folder = tmp_path / "assignments" / "one"
    folder.mkdir(parents=True)
    (folder / "assignment.toml").write_text("broken", encoding="utf-8")

    result = grade("list", cwd=tmp_path)

    assert result.returncode == 0


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "grader", "schema", "report"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    complaint = process.stderr.read()
    process.stderr.close()

    assert (process.wait(), complaint) == (0, b"")


# --- validate and schema ------------------------------------------------------------


@pytest.mark.parametrize("kind", ["report", "rubric", "assignment", "run"])
@pytest.mark.parametrize("options", [(), ("--consumer",)])
def test_schema_prints_ascii_json_with_plain_line_ends(
    kind: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    result = grade("schema", kind, *options, cwd=tmp_path)

    assert json.loads(result.stdout.decode("ascii"))["$schema"].endswith("2020-12/schema")
    assert b"\r" not in result.stdout


def test_validate_names_place_expectation_and_finding(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"schema_version": "1.0"}', encoding="utf-8")

    result = grade("validate", "a.json", cwd=tmp_path)

    assert out(result).startswith(
        'a.json: not a valid report\n  $: the key "report_id" is missing\n'
    )
    assert result.returncode == 1


def test_validate_shows_200_problems_and_counts_the_others(tmp_path: Path) -> None:
    broken = a_report(an_assignment(tmp_path)) | {"criteria": [1] * 1000}
    (tmp_path / "a.json").write_text(reports.dumps(broken), encoding="utf-8")

    result = grade("validate", "a.json", cwd=tmp_path)

    lines = out(result).splitlines()
    assert lines[1] == "  $.criteria[0]: expected object, got 1"
    assert lines[200] == "  $.criteria[199]: expected object, got 1"
    assert lines[201:] == ["  ... and 800 more"]
    assert result.returncode == 1


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe\x00", b"hello"])
def test_what_is_no_json_exits_with_2_and_the_other_files_are_still_looked_at(
    content: bytes, tmp_path: Path
) -> None:
    (tmp_path / "a.json").write_bytes(content)
    (tmp_path / "b.json").write_text("[]", encoding="utf-8")

    result = grade("validate", "a.json", "missing.json", "b.json", cwd=tmp_path)

    assert "a.json" in err(result)
    assert "missing.json" in err(result)
    assert out(result).startswith("b.json: not a valid report\n")
    assert result.returncode == 2


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_valid_report_is_ok_in_every_encoding_that_shells_write(
    encoding: str, tmp_path: Path
) -> None:
    text = reports.dumps(a_report(an_assignment(tmp_path)))
    (tmp_path / "a.json").write_text(text, encoding=encoding)

    result = grade("validate", "a.json", cwd=tmp_path)

    assert (out(result), result.returncode) == ("a.json: ok\n", 0)


def test_a_report_of_a_later_version_may_have_keys_that_we_do_not_know(tmp_path: Path) -> None:
    later = a_report(an_assignment(tmp_path)) | {"schema_version": "1.7", "mood": "sunny"}
    (tmp_path / "a.json").write_text(json.dumps(later), encoding="utf-8")

    assert grade("validate", "a.json", cwd=tmp_path).returncode == 0
